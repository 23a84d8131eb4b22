// SPDX-License-Identifier: Apache-2.0
// Makes names chosen by others (of cgroups, processes, VMs) safe for JSON, labels and terminals.
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

// Decodes the character at the front of `text`, in UTF-8 (RFC 3629: shortest form, no surrogates, at most
// U+10FFFF); returns nothing if it is invalid. `text` must not be empty.
std::optional<Character> first_character(std::string_view text);

// False for control characters (C0, DEL, C1), the line and paragraph separators, and the bidirectional
// controls, which reorder a terminal's text.
bool is_printable(std::uint32_t code_point);

// `name` with every byte that is not part of printable, valid UTF-8 written as \xHH. Reversible: a backslash
// is itself written \x5c if what follows would otherwise read as such an escape. Ordinary names, including
// systemd's own escapes (`\x2d`), are returned unchanged.
std::string escape_name(std::string_view name);

// True if escape_name would change nothing.
bool is_plain_name(std::string_view name);

}  // namespace keplerd
