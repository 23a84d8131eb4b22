// SPDX-License-Identifier: Apache-2.0
// The names of org.keplerd1 on D-Bus, as documented in dbus/*.xml. They never change.
#pragma once

#include <cstdint>

namespace keplerd::dbus {

inline constexpr char kService[] = "org.keplerd1";

inline constexpr char kManagerInterface[] = "org.keplerd1.Manager";
inline constexpr char kVmInterface[] = "org.keplerd1.VirtualMachine";
inline constexpr char kZoneInterface[] = "org.keplerd1.Zone";

inline constexpr char kManagerPath[] = "/org/keplerd1";
inline constexpr char kVmPrefix[] = "/org/keplerd1/vm";
inline constexpr char kZonePrefix[] = "/org/keplerd1/zone";

inline constexpr char kErrorPrefix[] = "org.keplerd1.Error.";  // and RowKindNames::no_such
inline constexpr char kAmbiguousName[] = "org.keplerd1.Error.AmbiguousName";
inline constexpr char kNoSuchSubscription[] = "org.keplerd1.Error.NoSuchSubscription";
inline constexpr char kTooManySubscriptions[] = "org.keplerd1.Error.TooManySubscriptions";

// Suitable errors of the D-Bus specification, which clients know.
inline constexpr char kAccessDenied[] = "org.freedesktop.DBus.Error.AccessDenied";
inline constexpr char kInvalidArguments[] = "org.freedesktop.DBus.Error.InvalidArgs";
inline constexpr char kLimitsExceeded[] = "org.freedesktop.DBus.Error.LimitsExceeded";
inline constexpr char kNotSupported[] = "org.freedesktop.DBus.Error.NotSupported";
inline constexpr char kTimeout[] = "org.freedesktop.DBus.Error.Timeout";
inline constexpr char kUnknownObject[] = "org.freedesktop.DBus.Error.UnknownObject";
inline constexpr char kNameHasNoOwner[] = "org.freedesktop.DBus.Error.NameHasNoOwner";
inline constexpr char kFailed[] = "org.freedesktop.DBus.Error.Failed";

// An unknown number.
inline constexpr std::uint64_t kUnknown = UINT64_MAX;

}  // namespace keplerd::dbus
