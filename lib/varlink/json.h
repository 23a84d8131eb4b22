// SPDX-License-Identifier: Apache-2.0
// The complete JSON type of varlink messages. Headers that only name it include json_fwd.h.
#pragma once

#include <nlohmann/json.hpp>

#include "varlink/json_fwd.h"
