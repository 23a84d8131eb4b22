// SPDX-License-Identifier: Apache-2.0
// Which model divides: what [Attribution] of keplerd.conf(5) says, as parameters of this library.
#pragma once

#include <memory>

#include "attribution/model.h"

namespace keplerd {

struct ModelRules {
  enum class Split { kUsageRatio };  // how energy is split into idle and active
  enum class Share { kCpuTime };     // by what active energy is shared

  Split split = Split::kUsageRatio;
  Share share = Share::kCpuTime;

  bool operator==(const ModelRules&) const = default;
};

// A new model that follows `rules`; never null. It knows nothing yet of the windows before.
std::unique_ptr<Model> make_model(const ModelRules& rules = {});

}  // namespace keplerd
