// SPDX-License-Identifier: Apache-2.0
#include "attribution/make_model.h"

#include "attribution/learned_model.h"
#include "attribution/usage_ratio_model.h"

namespace keplerd {

std::unique_ptr<Model> make_model(const ModelRules& rules) {
  if (!rules.learns()) return std::make_unique<UsageRatioModel>();
  return std::make_unique<LearnedModel>(rules);
}

}  // namespace keplerd
