// SPDX-License-Identifier: Apache-2.0
// Names that others chose (cgroups, processes, VMs), made safe for JSON, labels and terminals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

struct Character {
  std::uint32_t code_point = 0;
  std::size_t length = 0;  // in bytes
};

// The character at the front of `text`, in UTF-8 (RFC 3629: shortest form, no surrogates, at most U+10FFFF);
// nothing where there is none. `text` is not empty.
std::optional<Character> first_character(std::string_view text);

// False for control characters (C0, DEL, C1), the line and paragraph separators, and the bidirectional
// controls, which reorder a terminal's text.
bool is_printable(std::uint32_t code_point);

// `name` with every byte that is not part of printable, valid UTF-8 written as \xHH. Reversible: a backslash
// is itself written \x5c where what follows it would otherwise read as such an escape. Ordinary names,
// systemd's own escapes (`\x2d`) included, come out unchanged.
std::string escape_name(std::string_view name);

// True where escape_name would change nothing.
bool is_plain_name(std::string_view name);

}  // namespace keplerd
