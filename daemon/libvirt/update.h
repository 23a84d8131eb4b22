// SPDX-License-Identifier: Apache-2.0
// The protocol between keplerd-libvirt and keplerd: one JSON object per line. No I/O.
//
//   {"alive":true}                        libvirt has answered just now
//   {"domain":{"driver","id","uuid","name","title","state"}}   a running domain, whenever it changes
//   {"ended":{"driver","uuid","reason"}}  a domain has ended
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

struct LibvirtUpdate {
  enum class Kind { kAlive, kDomain, kEnded };

  Kind kind = Kind::kAlive;
  std::string driver;             // "qemu", "xen"
  int id = -1;                    // of a running domain: libvirt's, which is Xen's too
  std::string uuid, name, title;  // `title` may be empty
  std::string state;              // of a running domain: a word as in libvirt's status files
  std::string reason;             // of an end
};

inline constexpr std::size_t kLongestUpdate = 64 << 10;  // bytes of a line

std::string format_update(const LibvirtUpdate& update);  // without the newline

// Texts are escaped and cut for display. Unset if the line is not one of the above.
std::optional<LibvirtUpdate> parse_update(std::string_view line);

}  // namespace keplerd
