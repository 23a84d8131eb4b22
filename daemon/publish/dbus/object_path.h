// SPDX-License-Identifier: Apache-2.0
// Paths of objects, from ids that others chose.
#pragma once

#include <optional>
#include <string>

namespace keplerd::dbus {

// PREFIX/ID with every byte of the id but letters and digits, and a digit at its begin, written as _hh
// (sd_bus_path_encode(3)); of an empty id, PREFIX/_. Different ids have different paths.
std::string object_path(const char* prefix, const std::string& id);

// The id whose path this is; nothing where it is none.
std::optional<std::string> id_of_path(const char* prefix, const std::string& path);

}  // namespace keplerd::dbus
