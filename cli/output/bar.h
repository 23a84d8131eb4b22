// SPDX-License-Identifier: Apache-2.0
// One line for a status bar. Pure.
#pragma once

#include <string>
#include <string_view>

#include "varlink/json_fwd.h"

namespace keplerd::cli {

// kWaybar: JSON with text, tooltip and class, for a custom module of Waybar. kI3blocks: plain text, for
// i3blocks, Polybar and others that read lines.
enum class BarFormat { kNone, kWaybar, kI3blocks };

struct BarItem {
  std::string text;     // "42.3 W"
  std::string tooltip;  // more of it
  std::string quality;  // "measured", "simulated", ...; "unavailable" if there is no number
};

// `tick`: a reply of Monitor.
BarItem bar_item_of_host(const varlink::Json& tick);
// `row`: null if there is no such workload now.
BarItem bar_item_of_row(const varlink::Json& tick, const varlink::Json& row);
BarItem bar_item_of_outage(std::string_view reason);

// Ends with a newline.
std::string bar_line(BarFormat format, const BarItem& item);

}  // namespace keplerd::cli
