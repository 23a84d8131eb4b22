// SPDX-License-Identifier: Apache-2.0
// In accepted ranges, each id belongs to one login, or to itself; tests root's and the first ids beyond
// them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workloads/logins.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view passwd = "root:x:0:0::/:/bin/sh\njoe:x:1000:1000::/:/bin/sh\n";
  for (const auto& ranges :
       {keplerd::parse_subuid(text, passwd), keplerd::parse_subuid("joe:100000:65536\n", text)}) {
    const keplerd::Logins logins(ranges);
    for (const auto& range : ranges) {
      if (range.count == 0) std::abort();
      for (const std::uint64_t id : {range.first, range.first + range.count - 1, range.first + range.count}) {
        const auto user = static_cast<keplerd::Uid>(id);
        const keplerd::Uid login = logins.login_of(user);
        const bool named = std::ranges::any_of(
            ranges, [&](const auto& one) { return one.login == login && user - one.first < one.count; });
        if (login != user && !named) std::abort();
      }
    }
  }
  return 0;
}
