// SPDX-License-Identifier: Apache-2.0
#include "support/vectors.h"

#include <fstream>

namespace keplerd {

const nlohmann::json& kepler_vectors() {
  static const auto vectors = nlohmann::json::parse(std::ifstream(KEPLERD_VECTORS "/kepler.json"));
  return vectors;
}

}  // namespace keplerd
