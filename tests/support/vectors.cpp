// SPDX-License-Identifier: Apache-2.0
#include "support/vectors.h"

#include <fstream>
#include <iterator>

namespace keplerd {

const nlohmann::json& kepler_vectors() {
  static const auto vectors = nlohmann::json::parse(std::ifstream(KEPLERD_VECTORS "/kepler.json"));
  return vectors;
}

std::string fixture(const std::string& path) {
  std::ifstream file(KEPLERD_FIXTURES "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace keplerd
