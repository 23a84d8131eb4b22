// SPDX-License-Identifier: Apache-2.0
// The JSON value of varlink messages, to use it. A header that only names it includes json_fwd.h.
#pragma once

#include <nlohmann/json.hpp>

#include "varlink/json_fwd.h"
