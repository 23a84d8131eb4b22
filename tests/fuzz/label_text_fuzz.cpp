// SPDX-License-Identifier: Apache-2.0
// Any label value becomes one line of UTF-8 within quotes, and distinct values stay distinct.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "exporter/metrics/exposition.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keplerd;
  const std::string_view value(reinterpret_cast<const char*>(data), size);
  const std::string text = exporter::label_text({{"a", value}});
  if (!text.starts_with("a=\"") || !text.ends_with('"')) std::abort();
  const std::string_view inner = std::string_view(text).substr(3, text.size() - 4);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] == '\\') {
      if (++i == inner.size() || (inner[i] != '\\' && inner[i] != '"' && inner[i] != 'n')) std::abort();
    } else if (inner[i] == '"' || inner[i] == '\n') {
      std::abort();
    }
  }
  // Printable UTF-8 only: escape_name() finds nothing but backslashes to escape.
  std::string plain(inner);
  std::erase(plain, '\\');
  if (!is_plain_name(plain)) std::abort();
  // Short printable text is kept completely.
  if (is_plain_name(value) && size <= exporter::kLongestLabel && inner.size() < size) std::abort();
  return 0;
}
