// SPDX-License-Identifier: Apache-2.0
// The numbers in tests/vectors, for data-driven tests.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace keplerd {

// kepler.json: inputs and Kepler's results, and where keplerd differs on purpose.
const nlohmann::json& kepler_vectors();

// The text of a file in tests/fixtures.
std::string fixture(const std::string& path);

}  // namespace keplerd
