// SPDX-License-Identifier: Apache-2.0
#include "meters/meter_writer.h"

#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

namespace keplerd::meters {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000, kNanosecondsPerMicrosecond = 1000;
constexpr std::size_t kLongestProblem = 500;  // with its newline, what keplerd reads

void write_file(const fs::path& path, const std::string& text) {
  const fs::path draft = path.string() + "~";
  std::ofstream(draft, std::ios::trunc) << text << "\n";
  fs::rename(draft, path);
}

// `covers` comes last of what describes the meter, and the time last of what was read: keplerd waits for
// them.
void write_meter(const fs::path& directory, const Meter& meter) {
  const char* const value = meter.counts_energy ? "energy_uj" : "power_uw";
  const bool is_new = !fs::exists(directory / "covers") || !fs::exists(directory / value);
  if (is_new) {
    fs::remove_all(directory);
    fs::create_directories(directory);
    write_file(directory / "name", meter.zone);
    write_file(directory / "quality", meter.quality);
    if (!meter.device.empty()) write_file(directory / "device", meter.device);
  }
  write_file(directory / value, std::to_string(meter.value));
  write_file(directory / "boottime_us", std::to_string(meter.boottime));
  if (is_new) write_file(directory / "covers", meter.covers);
}

}  // namespace

std::int64_t boot_microseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * kMicrosecondsPerSecond + now.tv_nsec / kNanosecondsPerMicrosecond;
}

void pause(Nanoseconds span) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(span);
  timespec rest{.tv_sec = seconds.count(), .tv_nsec = (span - seconds).count()};
  while (::clock_nanosleep(CLOCK_BOOTTIME, 0, &rest, &rest) == EINTR) continue;
}

Result<Done> write_meters(const std::string& directory, const std::vector<Meter>& meters) {
  try {
    std::set<std::string> present;
    for (const Meter& meter : meters) {
      present.insert(meter.name);
      write_meter(fs::path(directory) / meter.name, meter);
    }
    std::vector<fs::path> gone;
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (entry.is_directory() && !present.contains(entry.path().filename())) gone.push_back(entry.path());
    }
    for (const fs::path& path : gone) fs::remove_all(path);
    return Done{};
  } catch (const fs::filesystem_error& error) {
    return Error{.message = error.what(), .code = error.code().value()};
  }
}

Result<Done> write_problem(const std::string& directory, const std::string& problem) {
  try {
    const fs::path path = fs::path(directory) / "problem";
    if (problem.empty()) {
      fs::remove(path);
    } else {
      write_file(path, problem.substr(0, kLongestProblem));
    }
    return Done{};
  } catch (const fs::filesystem_error& error) {
    return Error{.message = error.what(), .code = error.code().value()};
  }
}

}  // namespace keplerd::meters
