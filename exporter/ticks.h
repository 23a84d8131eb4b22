// SPDX-License-Identifier: Apache-2.0
// Puts the replies of keplerd's streams together by sample: those of one are held until all kinds have
// theirs, so that nothing is shown of which a part is of another sample. Pure.
//
// Where keplerd samples faster than the streams' pace, one that was opened a sample later than the others
// gets other samples than they do, for good: it is out of step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "client/kinds.h"
#include "varlink/json.h"

namespace keplerd::exporter {

class Ticks {
 public:
  using Take = std::function<void(client::Kind kind, const varlink::Json& reply)>;

  // `take` gets all replies in their order, none later than with the first reply of the next sample.
  explicit Ticks(Take take) : take_(std::move(take)) {}

  void add(client::Kind kind, varlink::Json reply);

  // The stream of `kind` has ended: nobody waits for it.
  void forget(client::Kind kind);

  // Those that were last of a sample of which the zones were not.
  client::Kinds out_of_step() const { return out_of_step_; }

 private:
  void flush();
  void end_sample();

  Take take_;
  client::Kinds followed_;  // those of which there was a reply
  client::Kinds whole_;     // of these, those whose replies of this sample are all there
  client::Kinds out_of_step_;
  std::optional<std::int64_t> sequence_;
  std::vector<std::pair<client::Kind, varlink::Json>> held_;
};

}  // namespace keplerd::exporter
