// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cstring>

namespace keplerd {

Error system_error(std::string_view subject, int code) {
  return {std::string(subject) + ": " + std::strerror(code), code};
}

}  // namespace keplerd
