// SPDX-License-Identifier: Apache-2.0
// The power reading of DCMI (Data Center Manageability Interface 1.5, 6.6.1, "Get Power Reading"), as bytes.
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/units.h"

namespace keplerd::ipmi {

inline constexpr std::uint8_t kDcmiFunction = 0x2c;  // the network function "Group Extension"

// The command and its data: the power of the system now.
inline constexpr std::array<std::uint8_t, 5> kDcmiPowerRequest = {0x02, 0xdc, 0x01, 0x00, 0x00};

// `reply`: the command, the completion code and the data. Errors have code ENOTSUP if the controller does not
// know the command, and EAGAIN if it is not measuring at this moment.
Result<Microwatts> parse_dcmi_power(std::span<const std::uint8_t> reply);

}  // namespace keplerd::ipmi
