// SPDX-License-Identifier: Apache-2.0
#include "history/reading.h"

#include <algorithm>
#include <utility>

namespace keplerd::history {
namespace {

// What one counter has counted since `before`.
class Difference {
 public:
  explicit Difference(bool same_instance) : same_instance_(same_instance) {}

  Microjoules of(Microjoules before, Microjoules now, Microjoules earlier) const {
    const Microjoules drawn =
        same_instance_ ? now - before : now - earlier + std::max(earlier - before, Microjoules{0});
    return std::max(drawn, Microjoules{0});
  }
  Amounts of(const Amounts& before, const Amounts& now, const Amounts& earlier) const {
    return {of(before.active, now.active, earlier.active), of(before.idle, now.idle, earlier.idle)};
  }
  Accounts of(const Accounts& before, const Accounts& now, const Accounts& earlier) const {
    return {of(before.idle, now.idle, earlier.idle), of(before.kernel, now.kernel, earlier.kernel),
            of(before.workloads, now.workloads, earlier.workloads),
            of(before.unattributed, now.unattributed, earlier.unattributed)};
  }

 private:
  bool same_instance_;
};

}  // namespace

Baseline baseline_of(const Reading& reading) {
  Baseline baseline{reading.time, reading.instance, reading.now, {}};
  for (const WorkloadReading& workload : reading.workloads)
    baseline.counters.emplace(workload.key, Baseline::Counter{workload.since, workload.now});
  return baseline;
}

Drawn drawn_since(const Baseline& before, const Reading& now) {
  const Difference difference(before.instance == now.instance);
  Drawn drawn{
      {std::min(before.time, now.time), now.time}, difference.of(before.accounts, now.now, now.earlier), {}};
  for (const WorkloadReading& workload : now.workloads) {
    const auto known = before.counters.find(workload.key);
    const bool continues = known != before.counters.end() && known->second.since == workload.since;
    Amounts amounts;
    if (continues) {
      amounts = difference.of(known->second.amounts, workload.now, workload.earlier);
    } else if (workload.since >= before.time) {
      amounts = {std::max(workload.now.active, Microjoules{0}), std::max(workload.now.idle, Microjoules{0})};
    }
    if (amounts != Amounts{}) drawn.workloads.emplace_back(&workload, amounts);
  }
  return drawn;
}

}  // namespace keplerd::history
