// SPDX-License-Identifier: Apache-2.0
// Whatever line comes from keplerd-libvirt, what is told of it is printable and not long.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "daemon/libvirt/news.h"
#include "fuzz/shown_text.h"
#include "workloads/identifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto news = keplerd::parse_news({reinterpret_cast<const char*>(data), size});
  if (!news || news->kind == keplerd::LibvirtNews::Kind::kAlive) return 0;
  if (news->uuid.empty() || keplerd::canonical_uuid(news->uuid) != news->uuid) std::abort();
  for (const std::string& text : {news->driver, news->name, news->title, news->state, news->reason})
    keplerd::check_shown(text);
  return 0;
}
