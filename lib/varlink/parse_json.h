// SPDX-License-Identifier: Apache-2.0
// Parses the JSON of a message within the bounds of a message (varlink/message.h: kMaxDepth, kMaxFields).
// Unlike nlohmann's own parser, which has each object grow field by field, it builds an object when all its
// fields are known: rows have some thirty, and a tick thousands of rows. Of fields with the same name the
// last one counts.
#pragma once

#include <string_view>

#include "base/result.h"
#include "varlink/json.h"

namespace keplerd::varlink {

Result<Json> parse_json(std::string_view text);

}  // namespace keplerd::varlink
