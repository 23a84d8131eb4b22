// SPDX-License-Identifier: Apache-2.0
// The a{sv} options of methods: unknown ones are ignored, invalid ones are InvalidArgs. At most 16; the value
// of an unknown one may be a number, a boolean or a string of up to 256 bytes.
#pragma once

#include <map>
#include <string>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/changes.h"

namespace keplerd::dbus {

using VariantMap = std::map<std::string, sdbus::Variant>;

struct ListOptions {
  std::size_t limit = kDefaultLimit;
  RowOrder order = RowOrder::kEnergy;
  bool details = false;
};

// Both throw InvalidArgs, naming the option. Their result is small, whatever was sent.
ListOptions parse_list_options(const VariantMap& options);
SubscribeOptions parse_subscribe_options(const VariantMap& options);

}  // namespace keplerd::dbus
