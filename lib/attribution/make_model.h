// SPDX-License-Identifier: Apache-2.0
// Creates the model that divides energy: what [Attribution] of keplerd.conf(5) sets, as library parameters.
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

// Returns a new model that follows `rules`, never null. It has no memory of earlier windows.
std::unique_ptr<Model> make_model(const ModelRules& rules = {});

}  // namespace keplerd
