// SPDX-License-Identifier: Apache-2.0
// What was counted under earlier instance ids, in the rows of a later one and on the wire.
#include <gtest/gtest.h>

#include "daemon/access/public_view.h"
#include "daemon/publish/report_json.h"
#include "daemon/row_json.h"
#include "daemon/vm_host.h"
#include "varlink/json.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using varlink::Json;

class Earlier : public VmTest {
 protected:
  Earlier() {
    add_vm_with_threads(host.files);
    host.begin();
    work(20'000'000, 100'000);
    restart();
  }

  // Half of the energy is idle; the VM gets the other half.
  void work(std::int64_t microjoules, std::int64_t usec) {
    host.draw(microjoules);
    for (const std::string& group : {std::string(kScope), kLibvirtGroup, kLibvirtGroup + "/vcpu0"})
      host.files.set_cgroup_usage(group, usec);
    host.step();
  }
  // As after a power failure: another instance continues from the saved state.
  void restart() {
    LedgerState state = host.meter().state();
    state.clean = false;
    Ledger ledger(state, "second", &state);
    host.begin({}, std::move(ledger), state.readings);
  }
  Json vm_json(const ReportView& view) const { return row_json(view, RowKind::kVms, 0); }
};

TEST_F(Earlier, EnergyAndCpuTimeOfARowAreKeptApartFromItsTotals) {
  work(40'000'000, 300'000);
  const Json row = vm_json(host.view());
  EXPECT_EQ(row["energyMicrojoules"], 30'000'000);
  EXPECT_EQ(row["earlierMicrojoules"], 10'000'000);
  EXPECT_EQ(row["cpuUsec"], 300'000);
  EXPECT_EQ(row["earlierCpuUsec"], 100'000);
  EXPECT_EQ(row["zones"][0]["energyMicrojoules"], 30'000'000);
  EXPECT_EQ(row["zones"][0]["earlierMicrojoules"], 10'000'000);
  EXPECT_FALSE(row["zones"][1].contains("earlierMicrojoules"));
}

TEST_F(Earlier, PartsOfARowAddUpToItsEarlierEnergy) {
  work(40'000'000, 300'000);
  std::int64_t sum = 0;
  const Json row = vm_json(host.view());
  for (const Json& part : row["breakdown"]) sum += part.value("earlierMicrojoules", 0);
  EXPECT_EQ(sum, 10'000'000);
}

TEST_F(Earlier, AccountsAddUpToTheEarlierEnergyOfTheHost) {
  work(40'000'000, 300'000);
  const Json beginning = beginning_json(*host.view().report);
  const Json& earlier = beginning["earlier"];
  EXPECT_EQ(earlier["energyMicrojoules"], 20'000'000);
  EXPECT_EQ(earlier["idleMicrojoules"], 10'000'000);
  EXPECT_EQ(earlier["discardedWindows"], 0);
  std::int64_t sum = 0;
  for (const auto& [name, energy] : earlier["accounts"].items()) sum += energy.get<std::int64_t>();
  EXPECT_EQ(sum, 20'000'000);
}

TEST_F(Earlier, EnergyIsFlooredForCallersWithoutFullAccess) {
  work(1'234'567, 400'000);  // 617283 uJ of it are the VM's
  restart();
  const PublicTick tick{.now = host.view(), .before = {}, .energies = {}, .energies_before = {}};
  const ReportView view{public_report(tick, PublicAccess::kAll, 1000), nullptr};
  const Json row = vm_json(view);
  EXPECT_EQ(row["energyMicrojoules"], 10'600'000);
  EXPECT_EQ(row["earlierMicrojoules"], 10'600'000);
  EXPECT_FALSE(row.contains("zones"));
  EXPECT_FALSE(row.contains("breakdown"));
  const Json beginning = beginning_json(*view.report);
  EXPECT_EQ(beginning["earlier"]["energyMicrojoules"], beginning["host"]["energyMicrojoules"]);
  EXPECT_EQ(beginning["earlier"]["idleMicrojoules"], beginning["host"]["idleMicrojoules"]);
  EXPECT_FALSE(beginning["earlier"].contains("accounts"));
  const Json zone = row_json(view, RowKind::kZones, 0);
  EXPECT_EQ(zone["earlierMicrojoules"], zone["energyMicrojoules"]);
  EXPECT_EQ(zone["earlierIdleMicrojoules"], zone["idleMicrojoules"]);
}

}  // namespace
}  // namespace keplerd
