// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace keplerd {

// All that can be read from `fd`, of a file of at most `most` bytes; of a larger one EFBIG. Errors name
// `path`.
Result<std::string> read_all(int fd, std::size_t most, std::string_view path);

}  // namespace keplerd
