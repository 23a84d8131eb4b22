// SPDX-License-Identifier: Apache-2.0
#include "meters/usage_writer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>
#include <vector>

#include "usage/usage_file.h"

namespace keplerd::meters {
namespace {

namespace fs = std::filesystem;

constexpr Nanoseconds kKept = std::chrono::minutes(1);
constexpr Nanoseconds kMost{std::int64_t{1} << 61};

}  // namespace

void DeviceUses::begin(Nanoseconds now, const std::set<ProcessId>& running) {
  now_ = now;
  for (auto& [device, uses] : devices_) {
    std::erase_if(uses, [&](const auto& entry) {
      return now - entry.second.last > kKept && !running.contains(entry.first);
    });
    if (uses.size() <= kMostUsers) continue;
    std::vector<Nanoseconds> times;
    for (const auto& [process, use] : uses) times.push_back(use.last);
    std::ranges::sort(times, std::greater<>{});
    const Nanoseconds oldest = times[kMostUsers];
    std::erase_if(uses, [&](const auto& entry) { return entry.second.last <= oldest; });
  }
}

void DeviceUses::add(const std::string& device, ProcessId process, Nanoseconds time) {
  Uses& uses = devices_[device];
  if (uses.size() >= 2 * kMostUsers && !uses.contains(process)) return;
  Use& use = uses[process];
  use.busy = std::min(use.busy + time, kMost);
  if (time > Nanoseconds{0} || use.last == Nanoseconds{0}) use.last = now_;
}

std::string DeviceUses::text(const std::string& device) const {
  std::string text = std::to_string(to_usec(now_)) + "\n";
  const auto uses = devices_.find(device);
  if (uses == devices_.end()) return text;
  std::vector<const Uses::value_type*> shown;
  for (const auto& one : uses->second) shown.push_back(&one);
  if (shown.size() > kMostUsers) {
    std::ranges::stable_sort(shown, std::greater<>{}, [](const auto* one) { return one->second.last; });
    shown.resize(kMostUsers);
  }
  for (const auto* const one : shown)
    text += std::to_string(one->first.pid) + " " + std::to_string(one->first.start) + " " +
            std::to_string(one->second.busy.count()) + "\n";
  return text;
}

Result<Done> write_usage(const std::string& directory, const std::map<std::string, std::string>& texts) {
  try {
    fs::create_directories(directory);
    for (const auto& [device, text] : texts) {
      const fs::path path = fs::path(directory) / device;
      const fs::path draft = path.string() + "~";
      std::ofstream file(draft, std::ios::trunc);
      file << text;
      file.close();
      if (!file)
        throw fs::filesystem_error("cannot be written", draft, std::make_error_code(std::errc::io_error));
      fs::rename(draft, path);
    }
    std::vector<fs::path> gone;
    for (const auto& entry : fs::directory_iterator(directory))
      if (!texts.contains(entry.path().filename())) gone.push_back(entry.path());
    for (const fs::path& path : gone) fs::remove(path);
    return Done{};
  } catch (const fs::filesystem_error& error) {
    return Error{.message = error.what(), .code = error.code().value()};
  }
}

}  // namespace keplerd::meters
