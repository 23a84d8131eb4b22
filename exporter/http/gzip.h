// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace keplerd::exporter::http {

// Compresses `text` in the gzip format (RFC 1952); nothing if out of memory.
std::optional<std::string> gzip(std::string_view text);

}  // namespace keplerd::exporter::http
