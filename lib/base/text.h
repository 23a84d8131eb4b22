// SPDX-License-Identifier: Apache-2.0
// Names that others chose (cgroups, processes, machines), made safe for JSON, labels and terminals.
#pragma once

#include <string>
#include <string_view>

namespace keplerd {

// `name` with every byte that is not part of printable, valid UTF-8 written as \xHH: control characters (C0,
// DEL, C1), invalid UTF-8, and the bidirectional and line-separator characters that reorder a terminal's
// text. Reversible: a backslash is itself written \x5c where what follows it would otherwise read as such an
// escape. Ordinary names, systemd's own escapes (`\x2d`) included, come out unchanged.
std::string escape_name(std::string_view name);

// True where escape_name would change nothing.
bool is_plain_name(std::string_view name);

}  // namespace keplerd
