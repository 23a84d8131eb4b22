// SPDX-License-Identifier: Apache-2.0
#include "exporter/snapshot.h"

#include <gtest/gtest.h>

#include "exporter/sample_replies.h"

namespace keplerd::exporter {
namespace {

TEST(Snapshot, HasTheHostOfTheZonesStream) {
  Snapshot snapshot;
  EXPECT_FALSE(snapshot.host());
  snapshot.apply(Kind::kUnits, reply_of(Json::array()));
  EXPECT_FALSE(snapshot.host()) << "of another stream, and perhaps of another tick";
  snapshot.apply(Kind::kZones, reply_of({zone_row("package")}));
  ASSERT_TRUE(snapshot.host());
  EXPECT_EQ(snapshot.host()->all.energy.value, 20'000'000);
  EXPECT_EQ(snapshot.host()->idle.power->value, 30'000'000);
  EXPECT_EQ(snapshot.host()->accounts.at("workloads").value, 4'999'998);
  EXPECT_EQ(snapshot.host()->discarded_windows, 2);
  EXPECT_EQ(snapshot.zones().at("powercap:package:0").quality, "measured");
}

TEST(Snapshot, KeepsUnchangedRowsAndDropsRemovedOnes) {
  Snapshot snapshot;
  snapshot.apply(Kind::kUnits,
                 reply_of({workload_row("unit", "/a.service", 5), workload_row("unit", "/b", 6)}));
  snapshot.apply(Kind::kUnits,
                 reply_of({workload_row("unit", "/a.service", 7)}, {{"removed", {"/b", "/none"}}}));
  ASSERT_EQ(snapshot.units().size(), 1u);
  EXPECT_EQ(snapshot.units().at("/a.service").all.energy.value, 7);
}

TEST(Snapshot, IsWholeWhenNothingMoreOfTheInstantFollows) {
  Snapshot snapshot;
  snapshot.apply(Kind::kPods, reply_of({workload_row("pod", "p", 5)}, {{"partial", true}}));
  EXPECT_FALSE(snapshot.has(Kind::kPods));
  EXPECT_EQ(snapshot.revision(), 0u);
  snapshot.apply(Kind::kPods, reply_of({workload_row("pod", "q", 5)}));
  EXPECT_TRUE(snapshot.has(Kind::kPods));
  EXPECT_EQ(snapshot.pods().size(), 2u);
  EXPECT_EQ(snapshot.revision(), 1u);
}

TEST(Snapshot, ForgetsAKindWhoseStreamEnded) {
  Snapshot snapshot;
  snapshot.apply(Kind::kZones, reply_of({zone_row("package")}));
  snapshot.apply(Kind::kUnits, reply_of({workload_row("unit", "/a.service", 5)}));
  snapshot.forget(Kind::kZones);
  EXPECT_FALSE(snapshot.host());
  EXPECT_TRUE(snapshot.zones().empty());
  EXPECT_FALSE(snapshot.has(Kind::kZones));
  EXPECT_EQ(snapshot.units().size(), 1u);
}

TEST(Snapshot, LacksWhatWasCountedUnderEarlierInstanceIds) {
  Snapshot snapshot;
  Json zone = zone_row("package");
  const auto total = zone["energyMicrojoules"].get<std::int64_t>();
  const auto idle = zone["idleMicrojoules"].get<std::int64_t>();
  zone["earlierMicrojoules"] = 1000;
  zone["earlierIdleMicrojoules"] = 300;
  snapshot.apply(Kind::kZones, reply_of({zone}, {{"earlier",
                                                  {{"energyMicrojoules", 1000},
                                                   {"idleMicrojoules", 300},
                                                   {"discardedWindows", 2},
                                                   {"accounts", {{"workloads", 600}}}}}}));
  const ZoneRow& shown = snapshot.zones().at("powercap:package:0");
  EXPECT_EQ(shown.all.energy.value, total - 1000);
  EXPECT_EQ(shown.idle.energy.value, idle - 300);
  EXPECT_EQ(shown.active.energy.value, total - idle - 700);
  EXPECT_EQ(snapshot.host()->all.energy.value, 20'000'000 - 1000);
  EXPECT_EQ(snapshot.host()->accounts.at("workloads").value, 4'999'998 - 600);
  EXPECT_EQ(snapshot.host()->discarded_windows, 0);

  Json row = workload_row("virtual-machine", "v", 50);
  row["cpuUsec"] = 70;
  row["earlierMicrojoules"] = 20;
  row["earlierCpuUsec"] = 30;
  row["zones"] = Json::parse(
      R"([{"name": "package", "index": 0, "energyMicrojoules": 50, "powerMicrowatts": 1,
           "earlierMicrojoules": 20}])");
  row["breakdown"] = Json::parse(R"([{"name": "vcpu0", "energyMicrojoules": 30, "earlierMicrojoules": 20},
                                     {"name": "other", "energyMicrojoules": 20}])");
  snapshot.apply(Kind::kVms, reply_of({row}));
  const VmRow& vm = snapshot.vms().at("v");
  EXPECT_EQ(vm.all.energy.value, 30);
  EXPECT_EQ(vm.cpu.count(), 40);
  EXPECT_EQ(vm.zones.at("package").energy.value, 30);
  EXPECT_EQ(vm.parts[0].energy.value, 10);
  EXPECT_EQ(vm.parts[1].energy.value, 20);
}

TEST(Snapshot, HasTheActiveEnergyOfWorkloadsAlone) {
  Json row = workload_row("virtual-machine", "v", 50);
  row.merge_patch({{"activeMicrojoules", 30},
                   {"idleMicrojoules", 20},
                   {"powerMicrowatts", 7},
                   {"idleMicrowatts", 3},
                   {"earlierMicrojoules", 15},
                   {"earlierIdleMicrojoules", 5}});
  row["zones"] = Json::parse(
      R"([{"name": "package", "index": 0, "energyMicrojoules": 50, "idleMicrojoules": 20, "powerMicrowatts": 7,
           "idleMicrowatts": 3, "earlierMicrojoules": 15, "earlierIdleMicrojoules": 5}])");
  row["breakdown"] = Json::parse(R"([{"name": "vcpu0", "energyMicrojoules": 28, "earlierMicrojoules": 10},
                                     {"name": "other", "energyMicrojoules": 22, "earlierMicrojoules": 5}])");
  Snapshot snapshot;
  snapshot.apply(Kind::kVms, reply_of({row}));
  const VmRow& vm = snapshot.vms().at("v");
  EXPECT_EQ(vm.all.energy.value, 20);
  EXPECT_EQ(vm.all.power, Microwatts{4});
  EXPECT_EQ(vm.zones.at("package").energy.value, 20);
  EXPECT_EQ(vm.zones.at("package").power, Microwatts{4});
  EXPECT_EQ(vm.parts[0].energy.value, 18);
  EXPECT_EQ(vm.parts[1].energy.value, 2);
}

// Without full access energies are rounded down, each nested row for itself.
TEST(Snapshot, HasNoEnergyBelowZero) {
  Snapshot snapshot;
  Json row = workload_row("unit", "/a.service", 50);
  row["earlierMicrojoules"] = 60;
  snapshot.apply(Kind::kUnits, reply_of({row}));
  EXPECT_EQ(snapshot.units().at("/a.service").all.energy.value, 0);
}

TEST(Snapshot, AddsUpTheZonesOfSeveralSockets) {
  Json row = workload_row("virtual-machine", "v", 5);
  row["zones"] =
      Json::parse(R"([{"name": "package", "index": 0, "energyMicrojoules": 5, "powerMicrowatts": 1},
      {"name": "package", "index": 1, "energyMicrojoules": 6}, {"name": "dram", "index": 0, "energyMicrojoules": 9}])");
  Snapshot snapshot;
  snapshot.apply(Kind::kVms, reply_of({row}));
  const auto& zones = snapshot.vms().at("v").zones;
  EXPECT_EQ(zones.at("package").energy.value, 11);
  EXPECT_EQ(zones.at("package").power->value, 1);
  EXPECT_EQ(zones.at("dram").energy.value, 9);
  EXPECT_FALSE(zones.at("dram").power);
}

TEST(Snapshot, LeavesOutCgroupsThatAreNotUnits) {
  Snapshot snapshot;
  snapshot.apply(Kind::kUnits,
                 reply_of({workload_row("group", "/a.service/x", 5), workload_row("unit", "/a.service", 6)}));
  EXPECT_EQ(snapshot.units().size(), 1u);
}

TEST(Snapshot, TreatsMalformedFieldsAsUnknown) {
  Snapshot snapshot;
  for (
      const char* text :
      {"null", "7", "[]", R"({"rows": 5, "removed": "x", "host": [], "accounts": 3, "source": null})",
       R"({"rows": [null, 7, {"id": 5}, {"id": "v", "name": 7, "zones": [3, {}], "breakdown": [null], "metadata": [1]}],
            "removed": [null, 3], "host": {"energyMicrojoules": "many"}, "accounts": {"idle": 1.5}})"}) {
    for (const client::KindInfo& kind : client::kKinds) snapshot.apply(kind.kind, Json::parse(text));
  }
  EXPECT_EQ(snapshot.host()->all.energy.value, 0);
  EXPECT_TRUE(snapshot.host()->accounts.empty());
  EXPECT_EQ(snapshot.vms().size(), 1u);
}

}  // namespace
}  // namespace keplerd::exporter
