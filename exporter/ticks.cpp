// SPDX-License-Identifier: Apache-2.0
#include "exporter/ticks.h"

#include "client/fields.h"

namespace keplerd::exporter {

void Ticks::add(client::Kind kind, varlink::Json reply) {
  const auto sequence = client::integer_field(reply, "sequence");
  if (sequence != sequence_) {
    end_sample();
    flush();
    whole_.reset();
    sequence_ = sequence;
  }
  followed_.set(client::index_of(kind));
  if (!client::flag(reply, "partial")) whole_.set(client::index_of(kind));
  held_.emplace_back(kind, std::move(reply));
  if (whole_ == followed_) flush();
}

void Ticks::forget(client::Kind kind) {
  std::erase_if(held_, [kind](const auto& held) { return held.first == kind; });
  followed_.reset(client::index_of(kind));
  whole_.reset(client::index_of(kind));
  out_of_step_.reset(client::index_of(kind));
  if (whole_ == followed_) flush();
}

void Ticks::forget_all() {
  held_.clear();
  followed_.reset();
  whole_.reset();
  out_of_step_.reset();
  sequence_.reset();
}

void Ticks::end_sample() {
  if (whole_.test(client::index_of(client::Kind::kZones))) {
    out_of_step_ &= ~whole_;
  } else {
    out_of_step_ |= whole_;
  }
}

void Ticks::flush() {
  for (const auto& [kind, reply] : std::exchange(held_, {})) take_(kind, reply);
}

}  // namespace keplerd::exporter
