// SPDX-License-Identifier: Apache-2.0
// The forms that identifiers of VMs and containers have in names that others chose.
#pragma once

#include <string>
#include <string_view>

namespace keplerd {

bool is_digits(std::string_view text);  // at least one, ASCII

bool is_hexadecimal(std::string_view text);  // at least one digit, lower case

// The full id of a container or pod of docker, podman, containerd and cri-o: 64 lower-case hexadecimal
// digits.
bool is_runtime_id(std::string_view text);

// An id as runtimes shorten it, 12 digits; any other text as it is.
std::string short_runtime_id(const std::string& id);

// Of an id with owners in front, "user-1000/NAME": "NAME".
std::string_view last_part(std::string_view id);

// `text` in lower case where it is a UUID in its usual form (8-4-4-4-12 hexadecimal digits), else empty.
// Empty too for the nil UUID, which hypervisors take for "none": two VMs with it would be one.
std::string canonical_uuid(std::string_view text);

// `name` (escaped by escape_name), with systemd's own escapes (`\x2d`, systemd-escape(1)) decoded: what was
// escaped to make a unit's name of it. "-" stays "-": the names of VMs have no "/". Comes out escaped.
std::string decode_unit_escapes(std::string_view name);

// What someone else called something, fit to be shown: cut to 255 bytes (at a character's end), then escaped
// by escape_name.
std::string limited_name(std::string_view raw);

}  // namespace keplerd
