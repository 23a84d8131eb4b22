// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace keplerd::exporter::http {

// `text` in the format gzip (RFC 1952); nothing where there is no memory for it.
std::optional<std::string> gzip(std::string_view text);

}  // namespace keplerd::exporter::http
