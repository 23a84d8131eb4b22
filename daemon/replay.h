// SPDX-License-Identifier: Apache-2.0
// keplerd --replay: divides a trace again, as fast as it can, with what divides the energy of this host, and
// without reading anything from it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "attribution/attributor.h"
#include "base/result.h"
#include "config/settings.h"
#include "ledger/ledger.h"
#include "trace/reader.h"

namespace keplerd {

class Replay {
 public:
  explicit Replay(const Settings& settings);

  // Takes a line of a trace, without its newline; returns whether it was a sample. After an error nothing
  // more may be taken.
  Result<bool> take(std::string_view line);

  // What has been taken, complete as for a caller with full access; null before the first sample.
  std::shared_ptr<const Report> report() const;
  std::int64_t left_out() const { return left_out_; }

  // Writes what `keplerctl --json=short` prints for `status`, `zones` and `units`, each in a line.
  void write(std::ostream& out) const;

 private:
  Settings settings_;
  TraceReader reader_;
  Attributor attributor_;
  std::optional<Ledger> ledger_;
  Microjoules energy_;
  std::int64_t left_out_ = 0;
};

// Replays the file, and writes after every `every` samples (unset: never) and after the last one. Errors are
// "FILE:LINE: what is wrong". A last line without a newline was not written completely: it is left out, as
// `warn` says.
struct ReplayRequest {
  std::string path;
  std::optional<std::uint64_t> every = {};
};
Result<Done> replay_file(const ReplayRequest& request, const Settings& settings, std::ostream& out,
                         std::ostream& warnings);

}  // namespace keplerd
