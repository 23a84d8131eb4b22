// SPDX-License-Identifier: Apache-2.0
// Chooses the representation that a client prefers: Accept and Accept-Encoding (RFC 9110, 12.5). Pure.
// Unintelligible parts of a header are ignored.
#pragma once

#include <string_view>

#include "exporter/metrics/exposition.h"

namespace keplerd::exporter::http {

// OpenMetrics only if the client names it, and prefers it at least as much as the older text format.
Format choose_format(std::string_view accept);

bool accepts_gzip(std::string_view accept_encoding);

}  // namespace keplerd::exporter::http
