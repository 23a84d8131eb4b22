// SPDX-License-Identifier: Apache-2.0
// Traces of what the attributor gets, for those clients that record them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/sample.h"
#include "energy/zone.h"
#include "trace/writer.h"

namespace keplerd {

struct Report;

// One client's. Samples that find too much text waiting are left out, and the next window is longer.
class Recording {
 public:
  explicit Recording(TraceSettings settings) : writer_(std::move(settings)) {}

  void take(const Sample& sample, std::span<const Zone> zones, std::span<const TracedVm> vms);

  // Removes at most `most` bytes from the front of the text, which is ASCII.
  std::string take_text(std::size_t most);

 private:
  TraceWriter writer_;
  std::string text_;  // not taken yet
  std::size_t taken_ = 0;
};

class Recorder {
 public:
  // Records until the result is dropped; null if there are too many already.
  std::shared_ptr<Recording> start(TraceSettings settings);

  // Whether anything is recorded: then samples must have all of UsageSample.
  bool is_active() const;

  // After each sample. `report`: the one made of it.
  void take(const Sample& sample, std::span<const Zone> zones, const Report& report);

 private:
  std::vector<std::weak_ptr<Recording>> recordings_;
};

}  // namespace keplerd
