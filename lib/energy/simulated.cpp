// SPDX-License-Identifier: Apache-2.0
#include "energy/simulated.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "host/stat_file.h"

namespace keplerd {
namespace {

// 11,000 years of one core: more is garbage, and would overflow the counter.
constexpr std::int64_t kMostTicks = std::int64_t{1} << 45;

class SimulatedSource final : public EnergySource {
 public:
  SimulatedSource(std::string procfs_path, UniqueFd procfs)
      : procfs_path_(std::move(procfs_path)), procfs_(std::move(procfs)) {}

  static Zone zone() {
    return {.id = zone_id("simulated", "package", 0),
            .name = "package",
            .index = 0,
            .quality = Quality::kSimulated,
            .in_total = true,
            .begins_anew = true};
  }

  std::string_view name() const override { return "simulated"; }
  const std::vector<Zone>& zones() const override { return zones_; }

  void read(Nanoseconds now, ZoneReadings& readings) override {
    readings.clear();
    const auto busy = read_busy_ticks();
    if (busy) readings.emplace_back(counter_.advance(now, *busy));
    if (!busy) readings.emplace_back(Error{procfs_path_ + "/" + busy.error().message, busy.error().code});
  }

 private:
  Result<std::int64_t> read_busy_ticks() {
    std::array<char, StatFile::kFirstLine> buffer{};
    const auto stat = stat_.read_beginning(buffer);
    if (!stat) return stat.error();
    return parse_busy_ticks(*stat);
  }

  std::string procfs_path_;
  UniqueFd procfs_;
  StatFile stat_{procfs_.get()};
  std::vector<Zone> zones_{zone()};
  SimulatedCounter counter_{::sysconf(_SC_CLK_TCK)};
};

}  // namespace

Result<std::int64_t> parse_busy_ticks(std::string_view stat) {
  constexpr std::array kCounts = {true, true, true, false, false, true, true};  // idle and iowait do not
  const Error garbage{.message = "stat: the first line is not that of all CPUs"};
  auto line = take_until(stat, '\n');
  if (take_word(line) != "cpu") return garbage;
  std::int64_t busy = 0;
  for (const bool counts : kCounts) {
    const auto word = take_word(line);
    const auto ticks = parse_number<std::int64_t>(word);
    if (!ticks || *ticks < 0 || *ticks > kMostTicks) return garbage;
    if (counts) busy += *ticks;
  }
  if (busy > kMostTicks) return garbage;
  return busy;
}

Microjoules SimulatedCounter::advance(Nanoseconds now, std::int64_t busy_ticks) {
  if (!last_) last_ = Seen{now, busy_ticks};
  const auto passed = std::max(now - last_->now, Nanoseconds{0});
  const auto busy = std::max(busy_ticks - last_->busy_ticks, std::int64_t{0});
  constexpr __int128 kNanosecondsPerSecond = 1'000'000'000;
  const __int128 one_microjoule = kNanosecondsPerSecond * ticks_per_second_;
  remainder_ += __int128{kSimulatedIdlePower.value} * passed.count() * ticks_per_second_ +
                __int128{kSimulatedPowerPerBusyCore.value} * busy * kNanosecondsPerSecond;
  energy_.value += static_cast<std::int64_t>(remainder_ / one_microjoule);
  remainder_ %= one_microjoule;
  last_ = Seen{last_->now + passed, last_->busy_ticks + busy};
  return energy_;
}

Result<std::unique_ptr<EnergySource>> open_simulated(const HostRoot& host,
                                                     const std::vector<std::string>& names) {
  const auto choice = check_choice({SimulatedSource::zone()}, names);
  if (!choice) return choice.error();
  auto procfs = open_directory(host.procfs(), ".");
  if (!procfs) return procfs.error();
  return std::unique_ptr<EnergySource>(
      std::make_unique<SimulatedSource>(host.paths().procfs, *std::move(procfs)));
}

}  // namespace keplerd
