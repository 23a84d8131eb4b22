// SPDX-License-Identifier: Apache-2.0
#include "energy/estimated.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/parse.h"
#include "energy/simulated.h"
#include "host/host_root.h"
#include "host/stat_file.h"

namespace keplerd {
namespace {

constexpr std::int64_t kMostTicks = std::int64_t{1} << 45;  // as parse_busy_ticks() has it

// Reports refer to the reason for longer than the source exists. There are as many as curves were configured.
std::string_view keep(std::string reason) {
  static std::set<std::string> kept;
  return *kept.insert(std::move(reason)).first;
}

class EstimatedSource final : public EnergySource {
 public:
  EstimatedSource(std::string procfs_path, UniqueFd procfs, PowerCurve curve, std::string reason)
      : procfs_path_(std::move(procfs_path)), procfs_(std::move(procfs)), counter_(curve) {
    zones_.front().quality_reason = keep(std::move(reason));
  }

  static Zone zone() {
    return {.id = zone_id("estimated", "package", 0),
            .name = "package",
            .quality = Quality::kEstimated,
            .in_total = true,
            .begins_anew = true};
  }

  std::string_view name() const override { return "estimated"; }
  const std::vector<Zone>& zones() const override { return zones_; }

  void read(Nanoseconds now, ZoneReadings& readings) override {
    readings.clear();
    std::array<char, StatFile::kFirstLine> buffer{};
    const auto stat = stat_.read_beginning(buffer);
    const auto utilisation = stat ? parse_utilisation(*stat) : stat.error();
    if (utilisation) {
      readings.emplace_back(counter_.advance(now, *utilisation));
    } else {
      readings.emplace_back(
          Error{procfs_path_ + "/" + utilisation.error().message, utilisation.error().code});
    }
  }

 private:
  std::string procfs_path_;
  UniqueFd procfs_;
  StatFile stat_{procfs_.get()};
  std::vector<Zone> zones_{zone()};
  EstimatedCounter counter_;
};

}  // namespace

Result<Utilisation> parse_utilisation(std::string_view stat) {
  const auto busy = parse_busy_ticks(stat);
  if (!busy) return busy.error();
  auto line = take_until(stat, '\n');
  take_word(line);  // "cpu"
  constexpr std::array kIsIdle = {false, false, false, true, true, false, false, true};
  std::int64_t all = *busy;
  for (const bool is_idle : kIsIdle) {
    const auto word = take_word(line);
    const auto ticks = parse_number<std::int64_t>(word);
    if (!is_idle || (word.empty() && all > 0)) continue;  // old kernels have no steal field
    if (!ticks || *ticks < 0 || *ticks > kMostTicks) {
      return Error{.message = "stat: the first line is not that of all CPUs"};
    }
    all += *ticks;
  }
  return Utilisation{*busy, all};
}

Microjoules EstimatedCounter::advance(Nanoseconds now, Utilisation utilisation) {
  if (!last_) last_ = Seen{now, utilisation};
  const std::int64_t span = std::max(now - last_->now, Nanoseconds{0}).count();
  const std::int64_t busy = std::max(utilisation.busy - last_->utilisation.busy, std::int64_t{0});
  // iowait may decrease, and the sum with it.
  const std::int64_t all = std::max(utilisation.all - last_->utilisation.all, busy);
  if (span == 0 || all == 0) return energy_;
  constexpr std::int64_t kOneMicrojoule = 1'000'000'000;  // microwatts x nanoseconds
  const __int128 idle = __int128{curve_.idle.value} * span;
  const __int128 active = __int128{(curve_.max - curve_.idle).value} * span * busy / all;
  const __int128 sum = idle + active + remainder_;
  energy_.value += static_cast<std::int64_t>(sum / kOneMicrojoule);
  remainder_ = static_cast<std::int64_t>(sum % kOneMicrojoule);
  last_ = Seen{now, utilisation};
  return energy_;
}

Result<std::unique_ptr<EnergySource>> open_estimated(const HostRoot& host,
                                                     const std::vector<std::string>& names, PowerCurve curve,
                                                     std::string reason) {
  const auto choice = check_choice({EstimatedSource::zone()}, names);
  if (!choice) return choice.error();
  auto procfs = open_directory(host.procfs(), ".");
  if (!procfs) return procfs.error();
  return std::unique_ptr<EnergySource>(
      std::make_unique<EstimatedSource>(host.paths().procfs, *std::move(procfs), curve, std::move(reason)));
}

}  // namespace keplerd
