// SPDX-License-Identifier: Apache-2.0
// Validates a request's target before it is processed: a path and arguments, though no page here takes
// any.
#pragma once

#include <cstddef>
#include <string_view>

namespace keplerd::exporter::http {

inline constexpr std::size_t kLongestTarget = 2048;
inline constexpr std::size_t kMostArguments = 64;

enum class Target { kFine, kTooLong, kTooManyArguments };

// `target` as it was sent: "/metrics?a=b&c".
Target check_target(std::string_view target);

}  // namespace keplerd::exporter::http
