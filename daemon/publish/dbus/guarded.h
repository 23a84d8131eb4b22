// SPDX-License-Identifier: Apache-2.0
// Exceptions at the edge: between sdbus-c++ and keplerd only sdbus::Error passes. Any other one would leave
// its caller without a reply, and what libsystemd holds unfreed.
#pragma once

#include <exception>
#include <utility>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/names.h"

namespace keplerd::dbus {

// What `f` returns; what it throws as an sdbus::Error.
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
