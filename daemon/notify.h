// SPDX-License-Identifier: Apache-2.0
// What the daemon tells systemd (sd_notify(3)). All of it does nothing where systemd did not start it.
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

// How often systemd wants to hear that the daemon works; unset: it does not.
std::optional<Nanoseconds> watchdog_period();
void notify_watchdog();

// The STATUS line of `systemctl status`: "42.3 W, powercap (measured), 132 units, 540 processes".
// `power`: what the host draws, as far as everybody may know.
std::string status_line(const Report& report, const std::optional<Microwatts>& power);
void notify_status(const Report& report, const std::optional<Microwatts>& power);

}  // namespace keplerd
