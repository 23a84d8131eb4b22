// SPDX-License-Identifier: Apache-2.0
// The daemon's notifications to systemd (sd_notify(3)). All of it is a no-op if systemd did not start it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "base/units.h"
#include "report/report.h"

namespace keplerd {

void notify_ready();
void notify_reloading();
void notify_stopping();

// The watchdog interval that systemd expects; unset: no watchdog.
std::optional<Nanoseconds> watchdog_period();
void notify_watchdog();

// The STATUS line of `systemctl status`: "42.3 W, powercap (measured), 132 units, 540 processes".
// `power`: the host's power, as far as it is public.
std::string status_line(const Report& report, const std::optional<Microwatts>& power);
void notify_status(const Report& report, const std::optional<Microwatts>& power);

}  // namespace keplerd
