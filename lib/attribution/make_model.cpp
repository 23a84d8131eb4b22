// SPDX-License-Identifier: Apache-2.0
#include "attribution/make_model.h"

#include "attribution/usage_ratio_model.h"

namespace keplerd {

std::unique_ptr<Model> make_model(const ModelRules& rules) {
  // There is one rule of each kind today; the compiler points here when another is added.
  switch (rules.split) {
    case ModelRules::Split::kUsageRatio:
      break;
  }
  switch (rules.share) {
    case ModelRules::Share::kCpuTime:
      break;
  }
  return std::make_unique<UsageRatioModel>();
}

}  // namespace keplerd
