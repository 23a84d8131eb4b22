// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify.h"

#include <algorithm>

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include "daemon/clock.h"

namespace keplerd {

void notify_ready() { sd_notify(0, "READY=1"); }

void notify_reloading() {
  const auto usec = std::chrono::duration_cast<std::chrono::microseconds>(read_system_clocks().monotonic);
  sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}", usec.count()).c_str());
}

void notify_stopping() { sd_notify(0, "STOPPING=1"); }

std::optional<Nanoseconds> watchdog_period() {
  std::uint64_t usec = 0;
  if (sd_watchdog_enabled(0, &usec) <= 0) return std::nullopt;
  return std::chrono::microseconds(usec);
}

void notify_watchdog() { sd_notify(0, "WATCHDOG=1"); }

std::string status_line(const Report& report, const std::optional<Microwatts>& power) {
  if (report.source.reason) return "No energy source: " + *report.source.reason;
  const std::string source =
      report.source.name +
      (report.source.quality ? fmt::format(" ({})", quality_name(*report.source.quality)) : "");
  const std::string watts =
      power ? fmt::format("{:.1f} W, ", static_cast<double>(power->value) / 1e6) : std::string();
  const auto units = std::ranges::count(report.units, true, &UnitRow::running);
  return fmt::format("{}{}, {} units, {} processes", watts, source, units, report.running_processes);
}

void notify_status(const Report& report, const std::optional<Microwatts>& power) {
  sd_notify(0, ("STATUS=" + status_line(report, power)).c_str());
}

}  // namespace keplerd
