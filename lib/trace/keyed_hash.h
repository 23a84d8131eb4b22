// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 (Aumasson and Bernstein, 2012): without the key, a hash says nothing about the text, and
// guesses cannot be tried.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace keplerd {

using HashKey = std::array<std::uint64_t, 2>;

std::uint64_t keyed_hash(const HashKey& key, std::string_view text);

}  // namespace keplerd
