// SPDX-License-Identifier: Apache-2.0
// Formats JSON for other programs. Integers are written exactly, whatever their size.
#pragma once

#include <string>

#include "cli/options.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli {

// One line, or indented by four; ends with a newline. `mode` is not kOff. Characters that a terminal would
// interpret (controls, including C1; line separators, bidirectional controls) are escaped.
std::string json_text(const varlink::Json& value, JsonMode mode);

// The same; with `sequence`, as an element of a JSON text sequence (RFC 7464), preceded by a record
// separator.
std::string framed_json_text(const varlink::Json& value, JsonMode mode, bool sequence);

// GetStatus's reply as keplerctl prints it: a source without quality or reason has null there.
varlink::Json status_json(varlink::Json status);

}  // namespace keplerd::cli
