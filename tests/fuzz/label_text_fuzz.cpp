// SPDX-License-Identifier: Apache-2.0
// A label's value is one line of UTF-8 within quotes, whatever it is made of, and two values stay two.
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
  // Of printable UTF-8 alone: escape_name() finds nothing but backslashes to escape.
  std::string plain(inner);
  std::erase(plain, '\\');
  if (!is_plain_name(plain)) std::abort();
  // What is printable and short is all there.
  if (is_plain_name(value) && size <= exporter::kLongestLabel && inner.size() < size) std::abort();
  return 0;
}
