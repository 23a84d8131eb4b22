// SPDX-License-Identifier: Apache-2.0
// Formats the daemon's replies as text for people. Every screen states the source of its numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "cli/output/table.h"
#include "client/kinds.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli {

class Wall;

// Explains the asterisk in front of a virtual machine's name.
inline constexpr std::string_view kDeviceModelOnly =
    "* Device model only: CPU time of the guest itself is not included.";

// "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle". `status` is the reply of GetStatus or
// Monitor. Numbers that are not measured are preceded by a label in upper case.
std::string source_line(const varlink::Json& status, bool colour);

// The warning to show with all numbers of this source: that they are simulated, estimated, or why there are
// none. Empty if they are measured.
std::optional<std::string> source_warning(const varlink::Json& status);

// keplerd sends the accounts only to callers with full access.
bool sees_everything(const varlink::Json& status);
inline constexpr std::string_view kPublicView =
    "Only public values are shown: the host's total and your own workloads. Root and the group keplerd see "
    "everything.";

// "powercap, measured".
std::string source_text(const varlink::Json& status);

// The source line without its label; empty if there is no source.
std::string host_line(const varlink::Json& status);

// "Platform 182 W (ipmi:psu:0, modelled): 129 W rest": the whole host and what it draws in addition to
// processors, memory and graphics cards. Empty if no meter covers it.
std::string platform_line(const varlink::Json& status);

// The source line, and what the caller does not see; a blank line.
std::string screen_head(const varlink::Json& status, const TableStyle& style);

// "12.30 Wh = 10.00 idle + 0.03 kernel + 2.27 workloads + 0.00 unattributed"; "12.30 Wh" without the
// accounts.
std::string accounts_line(const varlink::Json& status);

struct ListScreen {
  const client::KindInfo& kind;
  const varlink::Json& status;
  const Options& options;
  TableStyle style;
  const Wall* wall = nullptr;  // set: with what the rows draw at the plug, which they have as a field
  std::optional<std::int64_t> policy_host = {};  // as client::Listed has it
};
// The source line, the table of the requested rows, and a footer that mentions what is not shown. The rows
// are in the requested order; if no order was requested, the highest power comes first.
std::string list_screen(const ListScreen& screen, std::vector<varlink::Json> rows);

// No meter can be read, and none has been since the totals began: they are 0 because nothing is known.
bool was_never_measured(const varlink::Json& status);
// Then rows have no energy.
void remove_energies(std::vector<varlink::Json>& rows);

// The split of the host's energy, each part with its share.
std::string accounts_table(const varlink::Json& status, const TableStyle& style);

// The whole host.
std::string status_screen(const varlink::Json& status, const TableStyle& style);

// The host at a glance: power, accounts, the largest `consumers`. A style without header has no legend.
// `wall`: set if the power at the plug is shown, which the consumers have as a field.
std::string overview_screen(const varlink::Json& status, const std::vector<varlink::Json>& consumers,
                            const Wall* wall, const TableStyle& style);

// Everything known about one row.
std::string row_screen(const varlink::Json& row, const TableStyle& style);

}  // namespace keplerd::cli
