// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace keplerd {

// Writes the whole of `text` to `fd`. Errors name `path`.
Result<Done> write_all(int fd, std::string_view text, std::string_view path);

}  // namespace keplerd
