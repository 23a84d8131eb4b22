// SPDX-License-Identifier: Apache-2.0
// The forms of identifiers of VMs and containers within names chosen by others.
#pragma once

#include <string>
#include <string_view>

namespace keplerd {

bool is_digits(std::string_view text);  // at least one, ASCII

bool is_hexadecimal(std::string_view text);  // at least one digit, lower case

// The full id of a container or pod of docker, podman, containerd and cri-o: 64 lower-case hexadecimal
// digits.
bool is_runtime_id(std::string_view text);

// An id as runtimes abbreviate it, 12 digits; other text is returned unchanged.
std::string short_runtime_id(const std::string& id);

// Strips owners from an id: "NAME" for "user-1000/NAME".
std::string_view last_part(std::string_view id);

// `text` in lower case if it is a UUID in its usual form (8-4-4-4-12 hexadecimal digits), else empty. Also
// empty for the nil UUID, which hypervisors use for "none": two VMs with it would be taken for one.
std::string canonical_uuid(std::string_view text);

// Decodes systemd's own escapes (`\x2d`, systemd-escape(1)) in `name` (escaped by escape_name): those applied
// to turn it into a unit's name. "-" stays "-": VM names contain no "/". The result is escaped.
std::string decode_unit_escapes(std::string_view name);

// Makes a name chosen by someone else fit for display: cut to 255 bytes (at a character boundary), then
// escaped by escape_name.
std::string limited_name(std::string_view raw);

}  // namespace keplerd
