// SPDX-License-Identifier: Apache-2.0
// Creates the model that divides energy.
#pragma once

#include <memory>

#include "attribution/model.h"
#include "attribution/model_rules.h"

namespace keplerd {

// Returns a new model that follows `rules`, never null. It has no memory of earlier windows.
std::unique_ptr<Model> make_model(const ModelRules& rules = {});

}  // namespace keplerd
