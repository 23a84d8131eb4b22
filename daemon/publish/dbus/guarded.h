// SPDX-License-Identifier: Apache-2.0
// Exceptions at the edge: only sdbus::Error may pass between sdbus-c++ and keplerd. Any other one would leave
// the caller without a reply, and leak what libsystemd holds.
#pragma once

#include <exception>
#include <utility>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/names.h"

namespace keplerd::dbus {

// Returns what `f` returns; whatever it throws becomes an sdbus::Error.
template <class F>
auto guarded(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const sdbus::Error&) {
    throw;
  } catch (const std::exception& exception) {
    throw make_error(kFailed, exception.what());
  }
}

}  // namespace keplerd::dbus
