// SPDX-License-Identifier: Apache-2.0
// What /proc/PID/fdinfo/FD shows of a client of a graphics card (the kernel's
// Documentation/gpu/drm-usage-stats.rst). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace keplerd::drm {

// What an engine ("gfx", "rcs") has done for a client since that was opened.
struct EngineTime {
  std::optional<std::uint64_t> nanoseconds;  // "drm-engine-NAME"
  std::optional<std::uint64_t> cycles;       // "drm-cycles-NAME"
  std::optional<std::uint64_t> all_cycles;   // "drm-total-cycles-NAME": those of the engine itself

  bool is_known() const { return nanoseconds || (cycles && all_cycles); }
};

struct ClientInfo {
  std::string driver;    // "amdgpu"
  std::string device;    // its PCI address
  std::uint64_t id = 0;  // unique on this device while the client exists
  std::map<std::string, EngineTime> engines;
};

inline constexpr std::size_t kMostEngines = 32;

// Nothing if it is not a client of a PCI device, or malformed. The files of other drivers may contain lines
// that a user has chosen (names of files and buffers): those of a client begin with that of its driver.
std::optional<ClientInfo> parse_fdinfo(std::string_view text);

// The PCI address of a device that is passed through to a VM, from a VFIO device's file
// ("vfio-device-syspath", since Linux 6.17: Documentation/filesystems/proc.rst). Nothing if it is no such
// file.
std::optional<std::string> parse_vfio_fdinfo(std::string_view text);

}  // namespace keplerd::drm
