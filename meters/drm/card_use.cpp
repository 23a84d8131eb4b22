// SPDX-License-Identifier: Apache-2.0
#include "meters/drm/card_use.h"

#include <algorithm>

#include "meters/drm/devices.h"

namespace keplerd::drm {
namespace {

constexpr Nanoseconds kLongestStep = std::chrono::seconds(60);

// It shows engines only once a client has used them.
bool omits_unused_engines(const std::string& driver) { return driver == "amdgpu"; }
bool is_known_to_report(const std::string& driver) {
  return driver == "amdgpu" || driver == "i915" || driver == "xe";
}

bool shows_engines(const ClientInfo& info) {
  return std::ranges::any_of(info.engines, [](const auto& engine) { return engine.second.is_known(); });
}

}  // namespace

// Why the use of a card is not known; empty if it is.
std::string CardUse::unknown(const std::string& address, const std::string& driver) const {
  if (driver == "amdgpu" && is_kfd_used(host_))
    return "a program has opened /dev/kfd, and the kernel does not report how long it computes";
  if (reporting_.contains(address)) return {};
  if (silent_.contains(address) || !is_known_to_report(driver))
    return "the driver " + driver + " does not report how long processes use the card";
  return {};
}

std::map<std::string, std::string> CardUse::read(Nanoseconds now) {
  files_.scan();
  uses_.begin(now, files_.running());
  times_.take(now, files_.clients(), uses_);
  for (const SeenClient& client : files_.clients()) {
    const ClientInfo& info = client.info;
    if (shows_engines(info)) {
      reporting_.insert(info.device);
    } else if (!omits_unused_engines(info.driver)) {
      silent_.insert(info.device);
    }
  }
  const Nanoseconds step = last_ ? std::clamp(now - *last_, Nanoseconds{0}, kLongestStep) : Nanoseconds{0};
  last_ = now;
  std::set<std::string> passed_through;
  for (const PassedThrough& one : files_.passed_through()) {
    if (!is_graphics(host_, one.device)) continue;
    if (passed_through.insert(one.device).second) uses_.add(one.device, one.process, step);
  }
  std::map<std::string, std::string> texts;
  for (const std::string& device : passed_through) texts[device] = uses_.text(device);
  for (const auto& [address, driver] : find_cards(host_)) {
    const std::string why = unknown(address, driver);
    texts.try_emplace(address, why.empty() ? uses_.text(address) : "unknown " + why + "\n");
  }
  return texts;
}

}  // namespace keplerd::drm
