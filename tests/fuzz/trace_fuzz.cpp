// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "attribution/attributor.h"
#include "attribution/make_model.h"
#include "base/parse.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace {

using namespace keplerd;

// Whatever a trace says, it is refused, or its division adds up.
void divide(std::string_view text, const ModelRules& rules) {
  TraceReader reader;
  TraceWriter writer;
  Attributor attributor(make_model(rules));
  while (!text.empty()) {
    const auto taken = reader.take(take_until(text, '\n'));
    if (!taken) return;
    if (*taken == TraceReader::Line::kHeader) continue;
    follow_zones(reader, attributor);
    const Attribution& attribution = attributor.attribute(reader.sample());
    for (const ZoneAttribution& zone : attribution.zones) {
      Microjoules sum = zone.idle + zone.kernel + zone.unattributed;
      for (const Microjoules own : zone.own) sum += own;
      for (std::size_t i = 0; i < zone.process.size(); ++i)
        if (reader.sample().usage.processes[i].group == kNoGroup) sum += zone.process[i];
      if (sum != zone.energy) std::abort();
    }
    // What was read can be written again.
    if (writer.write(reader.sample(), reader.zones()).empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  divide(text, keplerd::kKeplerRules);
  divide(text, {});
  return 0;
}
