// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace keplerd {

Error system_error(std::string_view subject, int code) {
  return {std::string(subject) + ": " + std::strerror(code), code};
}

bool is_shortage(const Error& error) {
  return error.code == EMFILE || error.code == ENFILE || error.code == ENOMEM;
}

}  // namespace keplerd
