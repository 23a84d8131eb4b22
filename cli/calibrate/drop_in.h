// SPDX-License-Identifier: Apache-2.0
// The configuration file that `keplerctl calibrate idle` writes, and what follows from it.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "cli/calibrate/idle_estimate.h"

namespace keplerd::cli::calibrate {

// `date`: when it was measured, for people.
std::string drop_in_text(const IdleEstimate& idle, const std::string& date);

// Atomically replaces the file, readable for all; creates its directory.
Result<Done> write_drop_in(const std::string& path, const std::string& text);

// An error: there is none.
Result<Done> remove_drop_in(const std::string& path);

// Has systemd reload keplerd.service. An error is safe for a terminal.
Result<Done> reload_daemon();

}  // namespace keplerd::cli::calibrate
