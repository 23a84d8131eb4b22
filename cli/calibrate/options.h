// SPDX-License-Identifier: Apache-2.0
// The options of `keplerctl calibrate`.
#pragma once

#include <chrono>
#include <string>

#include "base/units.h"

namespace keplerd::cli::calibrate {

// Below /etc, where only root can write. Its name sorts before those of files by hand, which decide.
inline constexpr char kDropIn[] = "/etc/keplerd/keplerd.conf.d/10-idle-power.conf";

struct CalibrateOptions {
  std::string what;  // "idle"
  Nanoseconds duration = std::chrono::minutes(1);
  std::string output;  // a file to be written instead of kDropIn
  bool dry_run = false;
  bool undo = false;
};

}  // namespace keplerd::cli::calibrate
