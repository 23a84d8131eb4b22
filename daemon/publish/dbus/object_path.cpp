// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/object_path.h"

#include <cstdlib>
#include <memory>
#include <new>

#include <systemd/sd-bus.h>

namespace keplerd::dbus {

std::string object_path(const char* prefix, const std::string& id) {
  char* path = nullptr;
  if (sd_bus_path_encode(prefix, id.c_str(), &path) < 0) throw std::bad_alloc();
  const std::unique_ptr<char, void (*)(void*)> owner(path, std::free);
  return path;
}

std::optional<std::string> id_of_path(const char* prefix, const std::string& path) {
  char* id = nullptr;
  if (sd_bus_path_decode(path.c_str(), prefix, &id) <= 0) return std::nullopt;
  const std::unique_ptr<char, void (*)(void*)> owner(id, std::free);
  // libsystemd accepts bytes that need no escape in either form.
  if (object_path(prefix, id) != path) return std::nullopt;
  return id;
}

}  // namespace keplerd::dbus
