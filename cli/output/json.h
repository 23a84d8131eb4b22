// SPDX-License-Identifier: Apache-2.0
// JSON for other programs. Integers are written exactly, whatever their size.
#pragma once

#include <string>

#include "cli/options.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli {

// One line, or indented by four; ended by a newline. `mode` is not kOff. What a terminal would act on
// (control characters, C1 too; line separators, bidirectional controls) is escaped.
std::string json_text(const varlink::Json& value, JsonMode mode);

// The same as an element of a JSON text sequence (RFC 7464): a record separator in front.
std::string json_sequence_text(const varlink::Json& value, JsonMode mode);

// GetStatus's reply as keplerctl writes it: a source without quality or reason has them as null.
varlink::Json status_json(varlink::Json status);

}  // namespace keplerd::cli
