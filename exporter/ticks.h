// SPDX-License-Identifier: Apache-2.0
// Groups the replies of keplerd's streams by sample: those of one sample are held until all kinds have
// theirs, so that the exposed data never mixes samples. Pure.
//
// If keplerd samples faster than the streams' pace, a stream opened one sample later than the others
// permanently gets other samples than they do: it is out of step.
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

  // `take` receives all replies in order, none later than with the first reply of the next sample.
  explicit Ticks(Take take) : take_(std::move(take)) {}

  void add(client::Kind kind, varlink::Json reply);

  // The stream of `kind` has ended: it is no longer waited for.
  void forget(client::Kind kind);

  // All streams are closed: what is held is dropped.
  void forget_all();

  // The kinds whose last reply was of a sample that the zones did not get.
  client::Kinds out_of_step() const { return out_of_step_; }

 private:
  void flush();
  void end_sample();

  Take take_;
  client::Kinds followed_;  // those with at least one reply
  client::Kinds whole_;     // of these, those whose replies of this sample are complete
  client::Kinds out_of_step_;
  std::optional<std::int64_t> sequence_;
  std::vector<std::pair<client::Kind, varlink::Json>> held_;
};

}  // namespace keplerd::exporter
