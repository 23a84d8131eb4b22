// SPDX-License-Identifier: Apache-2.0
#include "history/request/rates.h"

#include <cstdlib>

#include <fmt/format.h>
#include <sys/stat.h>

namespace keplerd::history {
namespace {

// Another one when the time zone is another one.
std::string zone_stamp() {
  const char* const zone = std::getenv("TZ");
  struct stat file {};
  if (::stat("/etc/localtime", &file) != 0) file = {};
  return fmt::format("{} {} {} {}.{}", zone == nullptr ? "" : zone, file.st_dev, file.st_ino,
                     file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

}  // namespace

Rates::Applied Rates::from(Time from) {
  const auto& [tariff, problem] = tariff_.load();
  if (!tariff->has_price() && !tariff->has_carbon()) return {tariff, problem, nullptr};
  const Time start = span_of(Step::kFiveMinutes, from).start;
  std::string zone = zone_stamp();
  if (series_tariff_ != tariff || zone != zone_ || series_->start() > start) {
    series_ = std::make_shared<RateSeries>(tariff, start);
    series_tariff_ = tariff;
    zone_ = std::move(zone);
  }
  return {tariff, problem, series_};
}

}  // namespace keplerd::history
