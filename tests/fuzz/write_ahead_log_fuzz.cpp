// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ledger/ledger.h"
#include "ledger/log/redo.h"
#include "ledger/state.h"

namespace {

void append_frame(std::uint32_t value, std::string& log) {
  for (unsigned shift = 0; shift < 32; shift += 8) log.push_back(static_cast<char>(value >> shift));
}

// Builds records with valid checksums from length-prefixed data, so that more than the checksums is tested.
std::string to_log(std::string_view data) {
  std::string log;
  while (data.size() >= 2) {
    const std::size_t length =
        static_cast<std::uint8_t>(data[0]) + std::size_t{256} * static_cast<std::uint8_t>(data[1]);
    const std::string_view payload = data.substr(2, length);
    data.remove_prefix(2 + payload.size());
    std::uint32_t sum = 2166136261U;
    for (const char c : payload) sum = (sum ^ static_cast<std::uint8_t>(c)) * 16777619U;
    append_frame(static_cast<std::uint32_t>(payload.size()), log);
    log += payload;
    append_frame(sum, log);
  }
  return log;
}

void redo(std::string_view log) {
  keplerd::LedgerState state;
  state.instance_id = "i";
  state.saved = keplerd::Realtime(1);
  const auto redone = keplerd::redo(log, state);
  if (!redone) return;
  if (redone->length > log.size()) std::abort();
  // Any accepted state can be continued from, and saved.
  const auto again = keplerd::parse_state(keplerd::format_state(state));
  if (redone->matches && !again) std::abort();
  const keplerd::Ledger ledger(state, "instance");
  const auto report = ledger.report();
  if (report->host.energy != report->host.active + report->host.idle) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  redo(text);
  redo(to_log(text));
  return 0;
}
