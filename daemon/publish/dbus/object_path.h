// SPDX-License-Identifier: Apache-2.0
// Object paths, encoded from ids chosen by others.
#pragma once

#include <optional>
#include <string>

namespace keplerd::dbus {

// PREFIX/ID, with every byte of the id except letters and digits, and a leading digit, written as _hh
// (sd_bus_path_encode(3)); PREFIX/_ for an empty id. Different ids have different paths.
std::string object_path(const char* prefix, const std::string& id);

// Decodes the id from its path; nothing if it is not such a path.
std::optional<std::string> id_of_path(const char* prefix, const std::string& path);

}  // namespace keplerd::dbus
