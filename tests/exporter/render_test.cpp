// SPDX-License-Identifier: Apache-2.0
#include "exporter/metrics/render.h"

#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/sample_replies.h"

namespace keplerd::exporter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Render : public testing::Test {
 protected:
  // Lines of samples whose name equals or begins with `name`.
  std::vector<std::string> lines(const std::string& name) {
    std::istringstream text(rendered().text);
    std::vector<std::string> found;
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with(name)) found.push_back(line);
    }
    return found;
  }
  Rendered rendered(Format format = Format::kText) {
    return render_metrics({.snapshot = snapshot,
                           .processes = processes,
                           .processors = processors,
                           .node_name = "n",
                           .version = "1.2.3",
                           .architecture = "x86_64",
                           .up = true,
                           .rates = rates,
                           .budgets = budgets,
                           .own = {CpuTime(1), 4096, CpuTime(2)},
                           .most_series_of_kind = most},
                          format);
  }

  Snapshot snapshot;
  TopProcesses processes{2};
  std::vector<Processor> processors;
  Rates rates;
  std::vector<BudgetRow> budgets;
  std::size_t most = kMostSeriesOfKind;
};

TEST_F(Render, BudgetsHaveTheirLimitAndWhatIsUsed) {
  EXPECT_THAT(lines("keplerd_budget"), IsEmpty());
  budgets = {{"2kWh/day vm \"a\"", "vm \"a\"", {1}, {7'200'000'000'000}}};
  EXPECT_THAT(
      lines("keplerd_budget"),
      ElementsAre(R"(keplerd_budget_limit_joules{budget="2kWh/day vm \"a\"",subject="vm \"a\""} 7200000)",
                  R"(keplerd_budget_used_joules{budget="2kWh/day vm \"a\"",subject="vm \"a\""} 0.000001)"));
}

TEST_F(Render, HostAndAccountsAreExact) {
  snapshot.apply(Kind::kZones, reply_of({zone_row("package")}));
  EXPECT_THAT(lines("keplerd_host_"),
              ElementsAre("keplerd_host_joules_total 20", "keplerd_host_active_joules_total 5",
                          "keplerd_host_idle_joules_total 15", "keplerd_host_watts 40",
                          "keplerd_host_active_watts 10", "keplerd_host_idle_watts 30"));
  EXPECT_THAT(lines("keplerd_account_"),
              ElementsAre("keplerd_account_joules_total{account=\"idle\"} 15",
                          "keplerd_account_joules_total{account=\"kernel\"} 0.000001",
                          "keplerd_account_joules_total{account=\"unattributed\"} 0.000001",
                          "keplerd_account_joules_total{account=\"workloads\"} 4.999998"));
  EXPECT_THAT(lines("keplerd_source"),
              ElementsAre("keplerd_source_info{source=\"powercap\",quality=\"measured\"} 1"));
  EXPECT_THAT(lines("keplerd_discarded"), ElementsAre("keplerd_discarded_windows_total 2"));
  EXPECT_THAT(lines("keplerd_missed"), ElementsAre("keplerd_missed_ends_total 4"));
  EXPECT_THAT(lines("keplerd_cpu"), ElementsAre("keplerd_cpu_seconds_total 1.5"));
  EXPECT_THAT(lines("keplerd_sample"), ElementsAre("keplerd_sample_timestamp_seconds 1700000000.000001"));
}

TEST_F(Render, PriceAndCarbonIntensityAreThereIfTheyAreSet) {
  EXPECT_THAT(lines("keplerd_energy_price"), IsEmpty());
  EXPECT_THAT(lines("keplerd_carbon"), IsEmpty());
  rates = {MicroCurrency{320'001}, "EUR", Micrograms{380'500'000}};
  EXPECT_THAT(lines("keplerd_energy_price"),
              ElementsAre("keplerd_energy_price_per_kilowatt_hour{currency=\"EUR\"} 0.320001"));
  EXPECT_THAT(lines("keplerd_carbon"), ElementsAre("keplerd_carbon_intensity_grams_per_kilowatt_hour 380.5"));
}

TEST_F(Render, ZonesHaveKeplersNamesAndLabels) {
  snapshot.apply(Kind::kZones, reply_of({zone_row("package")}));
  const std::string labels = R"({node_name="n",zone="package",path="powercap:package:0"} )";
  EXPECT_THAT(lines("kepler_node_cpu_"), ElementsAre("kepler_node_cpu_usage_ratio{node_name=\"n\"} 0.6",
                                                     "kepler_node_cpu_joules_total" + labels + "20",
                                                     "kepler_node_cpu_watts" + labels + "40",
                                                     "kepler_node_cpu_active_joules_total" + labels + "5",
                                                     "kepler_node_cpu_active_watts" + labels + "10",
                                                     "kepler_node_cpu_idle_joules_total" + labels + "15",
                                                     "kepler_node_cpu_idle_watts" + labels + "30"));
}

TEST_F(Render, GraphicsCardsHaveMetricsOfTheirOwn) {
  Json card = zone_row("gpu");
  card["id"] = "amdgpu:gpu:1";
  snapshot.apply(Kind::kZones, reply_of({zone_row("package"), card}));
  Json user = workload_row("virtual-machine", "v", 6), other = workload_row("virtual-machine", "w", 6);
  for (Json* const row : {&user, &other})
    (*row)["zones"].push_back(
        {{"id", "amdgpu:gpu:1"}, {"name", "gpu"}, {"index", 1}, {"energyMicrojoules", 0}});
  user["zones"].back()["energyMicrojoules"] = 9'000'000;
  user["zones"].back()["powerMicrowatts"] = 3'000'000;
  snapshot.apply(Kind::kVms, reply_of({user, other}));
  const std::string labels = R"(gpu="1",vendor="amd",path="amdgpu:gpu:1"} )";
  const std::string vm = R"({node_name="n",vm_id="v",vm_name="v",hypervisor="",state="running",)";
  EXPECT_THAT(lines("kepler_node_gpu_"),
              ElementsAre("kepler_node_gpu_joules_total{node_name=\"n\"," + labels + "20",
                          "kepler_node_gpu_watts{node_name=\"n\"," + labels + "40",
                          "kepler_node_gpu_idle_watts{node_name=\"n\"," + labels + "30"));
  EXPECT_THAT(lines("kepler_vm_gpu_"), ElementsAre("kepler_vm_gpu_joules_total" + vm + labels + "9",
                                                   "kepler_vm_gpu_watts" + vm + labels + "3"));
}

TEST_F(Render, ThePlatformHasKeplersLabelsAndItsRestMayBeNegative) {
  Json reply = reply_of(Json::array());
  snapshot.apply(Kind::kZones, reply);
  EXPECT_THAT(lines("keplerd_platform"), IsEmpty());
  EXPECT_THAT(lines("kepler_platform"), IsEmpty());
  reply["platform"] = Json::parse(R"({"id": "ipmi:psu:1", "name": "psu", "quality": "modelled",
      "energyMicrojoules": 90000000, "earlierMicrojoules": 30000000, "powerMicrowatts": 120500000,
      "restMicrojoules": 40000000, "earlierRestMicrojoules": 10000000, "restMicrowatts": -2500000,
      "ageUsec": 1500000, "lagUsec": 4000000})");
  snapshot.apply(Kind::kZones, reply);
  EXPECT_THAT(lines("kepler_platform"),
              ElementsAre(R"(kepler_platform_watts{source="ipmi",node_name="n",bmc_id="",chassis_id="",)"
                          R"(power_control_id="1",power_control_name="psu"} 120.5)"));
  EXPECT_THAT(lines("keplerd_platform"), ElementsAre(R"(keplerd_platform_joules_total{path="ipmi:psu:1"} 60)",
                                                     R"(keplerd_platform_age_seconds{path="ipmi:psu:1"} 1.5)",
                                                     R"(keplerd_platform_lag_seconds{path="ipmi:psu:1"} 4)"));
  EXPECT_THAT(lines("keplerd_rest"), ElementsAre("keplerd_rest_joules_total 30", "keplerd_rest_watts -2.5"));
}

TEST_F(Render, WithoutZonesTheTotalStandsForThem) {
  Json reply = reply_of(Json::array());
  reply.erase("accounts");
  snapshot.apply(Kind::kZones, reply);
  snapshot.apply(Kind::kVms, reply_of({workload_row("virtual-machine", "v", 6, {{"zones", nullptr}})}));
  EXPECT_THAT(lines("kepler_node_cpu_joules"),
              ElementsAre(R"(kepler_node_cpu_joules_total{node_name="n",zone="total",path=""} 20)"));
  EXPECT_THAT(lines("kepler_vm_cpu_joules"),
              ElementsAre(R"(kepler_vm_cpu_joules_total{node_name="n",vm_id="v",vm_name="v",hypervisor="",)"
                          R"(state="running",zone="total"} 0.000006)"));
  EXPECT_THAT(lines("keplerd_account_"), IsEmpty());
}

TEST_F(Render, APowerThatIsNotKnownIsAbsentAndNotZero) {
  Json zone = zone_row("package"), unit = workload_row("unit", "/a.service", 8);
  zone.erase("powerMicrowatts");
  unit["zones"][0].erase("powerMicrowatts");
  Json reply = reply_of({zone});
  for (const char* power : {"powerMicrowatts", "activeMicrowatts", "idleMicrowatts"})
    reply["host"].erase(power);
  snapshot.apply(Kind::kZones, reply);
  snapshot.apply(Kind::kUnits, reply_of({unit}));
  EXPECT_THAT(lines("kepler_node_cpu_watts"), IsEmpty());
  EXPECT_THAT(lines("keplerd_host_watts"), IsEmpty());
  EXPECT_THAT(lines("keplerd_unit_cpu_watts"), IsEmpty());
  EXPECT_EQ(lines("keplerd_unit_cpu_joules").size(), 1u);
}

// With Split=baseline, the default of measured sources, energy does not show how busy the processors are.
TEST_F(Render, TheUsageIsTheBusyPartOfCpuTimeAndNotTheActivePartOfEnergy) {
  const auto usage_with = [&](Json cpu, Json busy) {
    Json reply = reply_of({zone_row("package")}, {{"split", "baseline"}});
    reply["host"]["windowCpuUsec"] = std::move(cpu);
    reply["host"]["windowBusyUsec"] = std::move(busy);
    snapshot.apply(Kind::kZones, reply);
    return lines("kepler_node_cpu_usage_ratio");
  };
  EXPECT_THAT(usage_with(8'000'000, 1'000'000),
              ElementsAre("kepler_node_cpu_usage_ratio{node_name=\"n\"} 0.125"));
  EXPECT_THAT(usage_with(8'000'000, 0), ElementsAre("kepler_node_cpu_usage_ratio{node_name=\"n\"} 0"));
  EXPECT_THAT(usage_with(nullptr, nullptr), IsEmpty()) << "the first sample, or an older keplerd";
  EXPECT_THAT(usage_with(0, 0), IsEmpty());
  EXPECT_THAT(usage_with(1, 2), IsEmpty());
}

TEST_F(Render, WorkloadsHaveKeplersNamesAndLabels) {
  snapshot.apply(Kind::kVms,
                 reply_of({workload_row("virtual-machine", "v", 6'000'000,
                                        {{"name", "web"}, {"hypervisor", "kvm"}, {"state", "terminated"}})}));
  snapshot.apply(
      Kind::kContainers,
      reply_of({workload_row("container", "c", 4'000'000, {{"runtime", "docker"}, {"podId", "p"}})}));
  snapshot.apply(Kind::kPods, reply_of({workload_row("pod", "p", 2'000'000, {{"namespace", "s"}})}));
  EXPECT_THAT(
      lines("kepler_"),
      ElementsAre(R"(kepler_build_info{arch="amd64",branch="",revision="",version="1.2.3",goversion=""} 1)",
                  R"(kepler_vm_cpu_joules_total{node_name="n",vm_id="v",vm_name="web",hypervisor="kvm",)"
                  R"(state="terminated",zone="package"} 6)",
                  R"(kepler_vm_cpu_watts{node_name="n",vm_id="v",vm_name="web",hypervisor="kvm",)"
                  R"(state="terminated",zone="package"} 3)",
                  R"(kepler_container_cpu_joules_total{node_name="n",container_id="c",container_name="c",)"
                  R"(runtime="docker",state="running",pod_id="p",zone="package"} 4)",
                  R"(kepler_container_cpu_watts{node_name="n",container_id="c",container_name="c",)"
                  R"(runtime="docker",state="running",pod_id="p",zone="package"} 2)",
                  R"(kepler_container_cpu_seconds_total{node_name="n",container_id="c",container_name="c",)"
                  R"(runtime="docker",pod_id="p"} 0.25)",
                  R"(kepler_pod_cpu_joules_total{node_name="n",pod_id="p",pod_name="p",pod_namespace="s",)"
                  R"(state="running",zone="package"} 2)",
                  R"(kepler_pod_cpu_watts{node_name="n",pod_id="p",pod_name="p",pod_namespace="s",)"
                  R"(state="running",zone="package"} 1)"));
}

// A sum of all leaves out those that are inside another, whose energy includes theirs.
TEST_F(Render, ContainersAndPodsNameTheOneAroundThem) {
  const auto row = [](const char* kind, const char* id, const char* parent) {
    Json made = workload_row(kind, id, 1);
    if (*parent != '\0') made["parent"] = parent;
    return made;
  };
  snapshot.apply(Kind::kContainers,
                 reply_of({row("container", "outer", ""), row("container", "inner", "outer"),
                           row("container", "node", ""), row("container", "main", "pod"),
                           row("container", "deep", "pod2"), row("container", "lost", "unknown"),
                           row("container", "loop", "loop")}));
  snapshot.apply(Kind::kPods,
                 reply_of({row("pod", "pod", "node"), row("pod", "pod2", "main"), row("pod", "pod3", "")}));
  const auto inside = [this](const std::string& family) {
    std::map<std::string, std::string> found;
    for (const std::string& line : lines(family)) {
      const auto id = line.find('"') + 1, around = line.find("inside=\"") + 8;
      found[line.substr(id, line.find('"', id) - id)] = line.substr(around, line.find('"', around) - around);
    }
    return found;
  };
  using Found = std::map<std::string, std::string>;
  EXPECT_EQ(inside("keplerd_container_info"), (Found{{"outer", ""},
                                                     {"inner", "outer"},
                                                     {"node", ""},
                                                     {"main", "node"},
                                                     {"deep", "main"},
                                                     {"lost", ""},
                                                     {"loop", "loop"}}));
  EXPECT_EQ(inside("keplerd_pod_info"), (Found{{"pod", ""}, {"pod2", "pod"}, {"pod3", ""}}));
}

TEST_F(Render, AMachineHasItsIdentityAndParts) {
  snapshot.apply(
      Kind::kVms,
      reply_of({workload_row("virtual-machine", "v", 6'000'000,
                             {{"name", "web"},
                              {"hypervisor", "kvm"},
                              {"vcpus", 4},
                              {"pid", 77},
                              {"unit", "/m.scope"},
                              {"guestState", "paused"},
                              {"metadata", {{"openstack.project", "p"}}},
                              {"breakdown", {{{"name", "vcpu0"}, {"energyMicrojoules", 6'000'000}}}}})}));
  EXPECT_THAT(
      lines("keplerd_vm_"),
      ElementsAre(R"(keplerd_vm_info{vm_id="v",vm_name="web",title="",hypervisor="kvm",state="running",)"
                  R"(guest_state="paused",vcpus="4",pid="77",unit="/m.scope",openstack_name="",)"
                  R"(openstack_project="p",openstack_user="",openstack_flavor=""} 1)",
                  R"(keplerd_vm_part_joules_total{vm_id="v",vm_name="web",part="vcpu0"} 6)"));
}

TEST_F(Render, AUnitIsLabelledWithItsSlice) {
  snapshot.apply(Kind::kUnits,
                 reply_of({workload_row("unit", "/a.slice/a-b.slice/c.service/d.service", 1),
                           workload_row("unit", "/init.scope", 1), workload_row("unit", "/a.slice", 1)}));
  EXPECT_THAT(lines("keplerd_unit_cpu_joules"), ElementsAre(testing::HasSubstr(R"(slice="-.slice")"),
                                                            testing::HasSubstr(R"(slice="a-b.slice")"),
                                                            testing::HasSubstr(R"(slice="-.slice")")));
}

TEST_F(Render, AnErrorIsARatioAndThereOnlyIfItIsKnown) {
  auto known = workload_row("unit", "/a.service", 50), unknown = workload_row("unit", "/b.service", 50);
  known.merge_patch({{"activeMicrojoules", 40}, {"errorMicrojoules", 9}});
  snapshot.apply(Kind::kUnits, reply_of({unknown}));
  EXPECT_THAT(lines("keplerd_unit_error_ratio"), IsEmpty());
  EXPECT_THAT(rendered().text, testing::Not(testing::HasSubstr("error_ratio")));
  snapshot.apply(Kind::kUnits, reply_of({known}));
  EXPECT_THAT(
      lines("keplerd_unit_error_ratio"),
      ElementsAre(R"(keplerd_unit_error_ratio{id="/a.service",name="/a.service",slice="-.slice"} 0.225)"));
  snapshot.apply(Kind::kVms, reply_of({[] {
                   auto vm = workload_row("virtual-machine", "v", 50);
                   vm.merge_patch({{"activeMicrojoules", 50}, {"errorMicrojoules", 5}});
                   return vm;
                 }()}));
  EXPECT_THAT(lines("keplerd_vm_error_ratio"), ElementsAre(testing::EndsWith("} 0.1")));
}

TEST_F(Render, ProcessesAreTheTopOnesAndAnotherRowWithoutACommandLine) {
  snapshot.apply(Kind::kProcesses,
                 reply_of({process_row(1, 1, {{"cmdline", "--password=x"}}),
                           process_row(2, 2'000'000, {{"virtualMachineId", "v"}}),
                           process_row(3, 4'000'000, {{"containerId", "c"}, {"exe", "/bin/task"}})}));
  processes.take(snapshot.processes());
  EXPECT_EQ(lines("kepler_process_cpu_joules").size(), 2u) << "of the others nothing is known yet";
  snapshot.apply(Kind::kZones, reply_of({zone_row("package")}));
  processes.balance(snapshot.active());
  EXPECT_THAT(lines("kepler_process_cpu_watts").back(), testing::EndsWith(R"(zone="package"} 7)"))
      << "of 10 W the two that are shown have 3";
  const auto joules = lines("kepler_process_cpu_joules");
  EXPECT_THAT(
      joules,
      ElementsAre(R"(kepler_process_cpu_joules_total{node_name="n",pid="3",comm="task",exe="/bin/task",)"
                  R"(type="container",state="running",container_id="c",vm_id="",zone="package"} 4)",
                  R"(kepler_process_cpu_joules_total{node_name="n",pid="2",comm="task",exe="",)"
                  R"(type="vm",state="running",container_id="",vm_id="v",zone="package"} 2)",
                  R"(kepler_process_cpu_joules_total{node_name="n",pid="",comm="other",exe="",)"
                  R"(type="other",state="running",container_id="",vm_id="",zone="package"} 0)"));
  EXPECT_THAT(
      lines("kepler_process_cpu_seconds_total{node_name=\"n\",pid=\"3\""),
      ElementsAre(R"(kepler_process_cpu_seconds_total{node_name="n",pid="3",comm="task",exe="/bin/task",)"
                  R"(type="container",container_id="c",vm_id=""} 0.25)"));
  EXPECT_EQ(rendered().text.find("password"), std::string::npos);
}

TEST_F(Render, TooManySeriesOfAKindLeaveOutThoseWithTheLeastEnergy) {
  most = 5;
  snapshot.apply(Kind::kUnits, reply_of({workload_row("unit", "/a", 3), workload_row("unit", "/b", 1),
                                         workload_row("unit", "/c", 2)}));
  EXPECT_EQ(lines("keplerd_unit_cpu_joules").size(), 2u);
  EXPECT_THAT(lines("keplerd_unit_cpu_joules_total{id=\"/b\""), IsEmpty());
  EXPECT_THAT(lines("keplerd_exporter_rows_left_out{kind=\"units\"}"),
              ElementsAre("keplerd_exporter_rows_left_out{kind=\"units\"} 1"));
  EXPECT_EQ(rendered().left_out[index_of(Kind::kUnits)], 1u);
  EXPECT_EQ(rendered().left_out[index_of(Kind::kVms)], 0u);
}

TEST_F(Render, NoSeriesIsThereTwice) {
  Json packages = {zone_row("package", 0), zone_row("package", 1)};
  snapshot.apply(Kind::kZones, reply_of(packages));
  Json vm = workload_row("virtual-machine", "v", 5);
  vm["zones"].push_back(
      {{"name", "package"}, {"index", 1}, {"energyMicrojoules", 1}, {"powerMicrowatts", 1}});
  snapshot.apply(Kind::kVms, reply_of({vm}));
  Json ended = process_row(7, 5, {{"state", "terminated"}});
  ended["id"] = "7.50";
  snapshot.apply(Kind::kProcesses, reply_of({process_row(7, 5), ended}));
  processes.take(snapshot.processes());
  for (const Format format : {Format::kText, Format::kOpenMetrics}) {
    std::istringstream text(rendered(format).text);
    std::set<std::string> seen;
    for (std::string line; std::getline(text, line);) {
      EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
}

TEST_F(Render, WhereNothingIsKnownItSaysWhetherKeplerdAnswers) {
  EXPECT_THAT(lines("keplerd_up"), ElementsAre("keplerd_up 1"));
  EXPECT_THAT(lines("keplerd_host"), IsEmpty());
  EXPECT_THAT(lines("kepler_node"), IsEmpty());
  EXPECT_THAT(lines("process_"),
              ElementsAre("process_cpu_seconds_total 0.000001", "process_resident_memory_bytes 4096",
                          "process_start_time_seconds 0.000002"));
}

TEST(Processors, AreThoseOfCpuinfo) {
  const auto x86 = parse_processors(
      "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R): x\nphysical id\t: 0\ncore "
      "id\t\t: 3\n\n"
      "processor\t: 1\nvendor_id\t: GenuineIntel\n");
  ASSERT_EQ(x86.size(), 2u);
  EXPECT_EQ(x86[0].model_name, "Intel(R) Xeon(R): x");
  EXPECT_EQ(x86[0].core_id, "3");
  EXPECT_EQ(x86[1].number, "1");
  EXPECT_EQ(x86[1].model_name, "");
  EXPECT_TRUE(parse_processors("Processor\t: ARMv7\nvendor_id\t: x\nnonsense\n:\n").empty());
}

}  // namespace
}  // namespace keplerd::exporter
