// SPDX-License-Identifier: Apache-2.0
#include "meters/ipmi/dcmi.h"

#include <cerrno>

#include <fmt/format.h>

namespace keplerd::ipmi {
namespace {

constexpr std::size_t kCompletion = 1, kGroup = 2, kPower = 3, kState = 19, kLength = 20;
constexpr std::uint8_t kDcmi = 0xdc, kMeasuring = 0x40;
constexpr std::int64_t kMicro = 1'000'000;

// IPMI 2.0, table 5-2: "Completion Codes".
Error completion_error(std::uint8_t code) {
  switch (code) {
    case 0xc1:  // invalid command
    case 0xc2:  // for this unit
    case 0xcc:  // invalid data
    case 0xd4:  // not with these privileges
    case 0xd6:  // switched off
      return {.message = "the management controller does not support DCMI power readings", .code = ENOTSUP};
    case 0xc0:  // busy
    case 0xd5:  // not in the present state
      return {.message = "the management controller has no power reading at present", .code = EAGAIN};
    default:
      return {.message = fmt::format("the management controller fails with completion code {:#04x}", code),
              .code = EIO};
  }
}

}  // namespace

Result<Microwatts> parse_dcmi_power(std::span<const std::uint8_t> reply) {
  if (reply.size() > kCompletion && reply[kCompletion] != 0) return completion_error(reply[kCompletion]);
  if (reply.size() < kLength || reply[0] != kDcmiPowerRequest[0] || reply[kGroup] != kDcmi)
    return Error{.message = "the management controller's reply is not a DCMI power reading", .code = EIO};
  if ((reply[kState] & kMeasuring) == 0)
    return Error{.message = "the management controller is not measuring at present", .code = EAGAIN};
  return Microwatts{(reply[kPower] | reply[kPower + 1] << 8) * kMicro};
}

}  // namespace keplerd::ipmi
