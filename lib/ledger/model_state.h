// SPDX-License-Identifier: Apache-2.0
// What power models have learned, in the state file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "attribution/zone_model.h"

namespace keplerd {

nlohmann::ordered_json models_json(const SavedModels& models);

// Nothing if they are malformed: totals do not depend on them.
SavedModels read_models(const nlohmann::ordered_json& json);

}  // namespace keplerd
