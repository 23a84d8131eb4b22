// SPDX-License-Identifier: Apache-2.0
// Which of what there is a client wants: Accept and Accept-Encoding (RFC 9110, 12.5). Pure. Whatever is not
// understood of a header is as if it were not there.
#pragma once

#include <string_view>

#include "exporter/metrics/exposition.h"

namespace keplerd::exporter::http {

// OpenMetrics only where the client names it, and wants it at least as much as the older text.
Format choose_format(std::string_view accept);

bool accepts_gzip(std::string_view accept_encoding);

}  // namespace keplerd::exporter::http
