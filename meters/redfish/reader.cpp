// SPDX-License-Identifier: Apache-2.0
#include "meters/redfish/reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace keplerd::redfish {
namespace {

meters::Meter meter_of(std::string name, const char* covers, const char* zone, Microwatts power,
                       std::int64_t time) {
  return {.name = std::move(name),
          .covers = covers,
          .quality = "measured",
          .zone = zone,
          .value = power.value,
          .boottime = time};
}

}  // namespace

Reader::Reader(Settings settings, Fetch fetch, meters::Clock clock)
    : settings_(std::move(settings)), fetch_(std::move(fetch)), clock_(std::move(clock)) {}

Result<Done> Reader::search() {
  auto found = find_chassis(fetch_, settings_.chassis);
  if (!found) return found.error();
  std::vector<Watched> watched;
  for (PoweredChassis& chassis : *found) {
    const auto same =
        std::ranges::find(watched_, chassis.id, [](const Watched& one) { return one.chassis.id; });
    meters::PowerCheck check;
    if (same != watched_.end()) check = same->check;
    watched.push_back({std::move(chassis), check});
  }
  watched_ = std::move(watched);
  searched_ = clock_();
  return Done{};
}

Result<std::vector<meters::Meter>> Reader::read() {
  std::vector<meters::Meter> meters;
  Microwatts sum;
  const std::int64_t begin = clock_();
  for (Watched& one : watched_) {
    const std::int64_t asked = clock_();
    const auto power = read_power(fetch_, one.chassis.source);
    if (!power) return power.error();
    const std::string shown = "chassis '" + one.chassis.id + "': ";
    if (!*power) return Error{.message = shown + "the service has no value at present", .code = EAGAIN};
    if (const auto checked = one.check.check(**power); !checked)
      return Error{.message = shown + checked.error().message, .code = checked.error().code};
    sum += **power;
    // The service has read it at some time while it was answering.
    meters.push_back(meter_of("chassis" + std::to_string(meters.size()), "other", "chassis", **power,
                              asked + (clock_() - asked) / 2));
  }
  if (meters.size() == 1) meters.clear();
  meters.push_back(meter_of("platform", "platform", "platform", sum, begin + (clock_() - begin) / 2));
  return meters;
}

meters::Poll Reader::failed(const Error& error) {
  if (error.code == EACCES) return {.problem = error.message, .pause = kAfterRefusal};
  if (error.code == EDOM || error.code == EAGAIN)
    return {.problem = error.message, .pause = settings_.interval};
  // What has moved is searched for again.
  if (error.code == ENOENT) watched_.clear();
  return {.problem = error.message, .pause = backoff_.next(settings_.interval)};
}

meters::Poll Reader::poll() {
  const Nanoseconds since_search = std::chrono::microseconds(clock_() - searched_);
  if (watched_.empty() || since_search >= kSearchPeriod) {
    if (const auto searched = search(); !searched) return failed(searched.error());
  }
  auto meters = read();
  if (!meters) return failed(meters.error());
  backoff_.reset();
  return {.meters = *std::move(meters), .problem = {}, .pause = settings_.interval};
}

}  // namespace keplerd::redfish
