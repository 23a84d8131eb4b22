// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace keplerd {

// Reads `fd` to its end; fails with EFBIG if there are more than `most` bytes. Errors name
// `path`.
Result<std::string> read_all(int fd, std::size_t most, std::string_view path);

}  // namespace keplerd
