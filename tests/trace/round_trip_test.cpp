// SPDX-License-Identifier: Apache-2.0
// What is read from a trace is what was written: the same samples, and so the same division, to the
// microjoule.
#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/make_model.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "usage/processors.h"

namespace keplerd {
namespace {

std::vector<Zone> two_zones() {
  return {{.id = "powercap:package:0", .name = "package", .in_total = true, .range = {262'143'328'850}},
          {.id = "powercap:dram:0", .name = "dram", .in_total = true, .resource = Resource::kDram}};
}

std::vector<Zone> with_card() {
  std::vector<Zone> zones = two_zones();
  zones.push_back(
      {.id = "amdgpu:gpu:0", .name = "gpu", .resource = Resource::kGpu, .device = "0000:03:00.0"});
  return zones;
}

// A host on which everything happens: groups come, move, end and are made anew; counters fail; CPUs go
// offline.
class RandomHost {
 public:
  explicit RandomHost(unsigned seed) : random_(seed) {}

  const Sample& step() {
    ++number_;
    const bool is_first = number_ == 1;
    now_ += std::chrono::microseconds(900'000 + below(200'000));
    sample_.at = {
        now_, now_,
        std::chrono::microseconds(1'700'000'000'000'000) + std::chrono::microseconds(to_usec(now_))};
    read_counters();
    read_cpus();
    change_groups(is_first);
    read_groups(is_first);
    read_processes(is_first);
    use_card();
    count();
    return sample_;
  }

 private:
  struct Group {
    std::uint64_t incarnation = 0;
    Nanoseconds usage{0};
    std::vector<int> cpus;
    bool is_new = true, has_ended = false;
  };
  struct Process {
    ProcessId id;
    Nanoseconds usage{0};
    bool kernel = false, is_new = true;
  };

  std::int64_t below(int most) { return std::uniform_int_distribution<std::int64_t>(0, most - 1)(random_); }
  bool chance(int percent) { return below(100) < percent; }
  Nanoseconds some_time() { return std::chrono::microseconds(below(500'000)); }

  void read_counters() {
    package_ += 20'000'000 + below(80'000'000);
    dram_ += 1'000'000 + below(2'000'000);
    card_ += below(200'000'000);
    sample_.readings.clear();
    sample_.readings.emplace_back(Microjoules{package_ % 262'143'328'851});
    if (chance(5)) {
      sample_.readings.emplace_back(Error{"failed"});
    } else {
      sample_.readings.emplace_back(Microjoules{dram_});
    }
    sample_.readings.emplace_back(Microjoules{card_});
  }

  void read_cpus() {
    UsageSample& usage = sample_.usage;
    usage.cpus.clear();
    usage.stat = {};
    if (chance(3)) offline_ = !offline_;
    for (int c = 0; c < 4; ++c) {
      if (c == 3 && offline_) {
        last_.erase(c);
        continue;
      }
      for (auto& field : fields_[c]) field += below(30);
      CpuUsage& cpu = usage.cpus.emplace_back(CpuUsage{
          .number = c, .package = 0, .die = 0, .core = static_cast<std::size_t>(c / 2), .stat = fields_[c]});
      const CpuTicks ticks = add_up(fields_[c]);
      if (last_.contains(c)) set_use(last_[c], ticks, cpu);
      last_[c] = ticks;
      if (chance(70)) cpu.khz = 800'000 + below(3'000'000);
      for (std::size_t i = 0; i < usage.stat.size(); ++i) usage.stat[i] += fields_[c][i];
    }
    ++usage.stat[0];  // the kernel rounds it by itself
    usage.ticks = add_up(usage.stat);
    usage.interrupts_apart = true;
  }

  void change_groups(bool is_first) {
    for (const char* path :
         {"/a.slice", "/a.slice/b.service", "/a.slice/c.service", "/docker", "/d.scope", "/d.scope/e"}) {
      const bool needs_parent = std::string_view(path).rfind('/') > 0;
      const std::string parent(path, std::string_view(path).rfind('/'));
      const auto known = groups_.find(path);
      const bool has_parent = !needs_parent || (groups_.contains(parent) && !groups_[parent].has_ended);
      if (known != groups_.end() && known->second.has_ended) groups_.erase(known);
      if (!has_parent) groups_.erase(path);
      if (groups_.contains(path) && chance(4)) groups_[path].has_ended = true;
      if (!groups_.contains(path) && has_parent && (is_first || chance(30)))
        groups_[path] = {.incarnation = ++incarnation_,
                         .cpus = chance(40) ? std::vector<int>{0, 1} : std::vector<int>{}};
      if (groups_.contains(path) && chance(5)) groups_[path].cpus = {2, 3};
    }
  }

  void read_groups(bool is_first) {
    UsageSample& usage = sample_.usage;
    usage.groups.clear();
    usage.cpu_classes.assign(1, CpuSet(usage.cpus.size(), 1));
    for (auto& [path, group] : groups_) {
      std::optional<Nanoseconds> before;
      if (!is_first) before = group.is_new ? -std::chrono::microseconds(chance(20) ? 700 : 0) : group.usage;
      if (chance(70)) group.usage += some_time();
      const auto parent = groups_.find(path.substr(0, path.rfind('/')));
      usage.groups.push_back({.incarnation = group.incarnation,
                              .parent = parent == groups_.end() ? kNoGroup : index_of(parent->first),
                              .path = path,
                              .parent_owner = path == "/d.scope/e" ? 1000U : 0U,
                              .usage = group.usage,
                              .before = before});
      group.is_new = false;
    }
    usage.host = {static_cast<int>(usage.cpus.size()), std::int64_t{16} << 30};
    usage.limits.clear();
    for (const GroupUsage& group : usage.groups) {
      GroupLimits& limits = limits_[group.incarnation];
      if (chance(10)) limits.cpu_time = chance(50) ? std::optional(some_time()) : std::nullopt;
      if (chance(10)) limits.memory = chance(50) ? std::optional(below(1'000'000)) : std::nullopt;
      if (chance(10)) limits.vcpus = chance(50) ? std::optional(static_cast<int>(below(64))) : std::nullopt;
      usage.limits.push_back(limits);
    }
    std::map<std::vector<int>, std::size_t> classes;
    for (const bool users : {false, true}) {
      for (GroupUsage& group : usage.groups) {
        const auto& cpus = groups_[std::string(group.path)].cpus;
        if (cpus.empty() || (group.parent_owner != 0) != users) continue;
        if (!group.before || group.usage <= *group.before) continue;
        const auto [entry, is_new] = classes.try_emplace(cpus, usage.cpu_classes.size());
        group.cpu_class = entry->second;
        if (!is_new) continue;
        CpuSet& set = usage.cpu_classes.emplace_back();
        for (const CpuUsage& cpu : usage.cpus)
          set.push_back(std::ranges::find(cpus, cpu.number) != cpus.end());
      }
    }
  }

  std::size_t index_of(const std::string& path) const {
    return static_cast<std::size_t>(std::ranges::find(sample_.usage.groups, path, &GroupUsage::path) -
                                    sample_.usage.groups.begin());
  }

  void read_processes(bool is_first) {
    UsageSample& usage = sample_.usage;
    usage.processes.clear();
    usage.ended.clear();
    for (auto process = processes_.begin(); process != processes_.end();) {
      const auto next = std::next(process);
      if (chance(5)) {
        usage.ended.push_back(process->id);
        processes_.erase(process);
      }
      process = next;
    }
    if (is_first || chance(30)) processes_.push_back({{static_cast<std::int32_t>(100 + number_), number_}});
    if (is_first) processes_.push_back({{7, 0}, {}, true});
    for (Process& process : processes_) {
      if (!process.is_new && chance(20)) continue;
      const Nanoseconds before = process.usage;
      process.usage += some_time();
      ProcessUsage& row = usage.processes.emplace_back();
      row.id = process.id;
      row.kernel_thread = process.kernel;
      row.usage = process.usage;
      if (!is_first && !process.is_new) row.before = ProcessUsage::Before{chance(3) ? 77U : 0U, before};
      if (process.is_new && chance(50) && !is_first) row.before = ProcessUsage::Before{};
      process.is_new = false;
    }
  }

  void use_card() {
    UsageSample& usage = sample_.usage;
    usage.devices.clear();
    if (chance(20)) return;
    DeviceUsage& card = usage.devices.emplace_back(DeviceUsage{"0000:03:00.0", {}});
    const auto add = [&](std::size_t group, std::size_t process) {
      card.uses.push_back({group, process, Nanoseconds(1 + below(900'000'000))});
    };
    for (std::size_t group = 0; group < usage.groups.size(); ++group)
      for (int i = 0; i < 2; ++i)
        if (chance(30)) add(group, kNoProcess);
    for (std::size_t process = 0; process < usage.processes.size(); ++process)
      if (chance(30)) add(kNoGroup, process);
    if (chance(20)) add(kNoGroup, kNoProcess);
  }

  void count() {
    UsageSample& usage = sample_.usage;
    usage.counts.clear();
    for (const CountKind kind : kCountKinds) {
      if (chance(20)) continue;
      GroupCounts& counts =
          usage.counts.emplace_back(GroupCounts{.source = {.kind = kind, .die = 0}, .all = {}, .groups = {}});
      for (std::size_t group = 0; group < usage.groups.size(); ++group) {
        if (!chance(3)) continue;
        counts.groups.push_back({group, {static_cast<std::int64_t>(below(900'000'000))}});
        counts.all += counts.groups.back().count;
      }
      counts.all += Count{static_cast<std::int64_t>(below(900'000'000))};
    }
  }

  std::mt19937 random_;
  std::uint64_t number_ = 0, incarnation_ = 0;
  Nanoseconds now_{std::chrono::hours(1)};
  std::int64_t package_ = 262'000'000'000, dram_ = 0, card_ = 0;
  bool offline_ = false;
  std::map<int, CpuFields> fields_;
  std::map<int, CpuTicks> last_;
  std::map<std::string, Group> groups_;
  std::map<std::uint64_t, GroupLimits> limits_;  // by incarnation
  std::list<Process> processes_;
  Sample sample_;
};

// A line at a time; returns whether there was a sample.
void take(TraceReader& reader, std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto taken = reader.take(text.substr(0, end));
    ASSERT_TRUE(taken) << taken.error().message << "\n" << text;
    text.remove_prefix(end + 1);
  }
}

void expect_same_division(const Attribution& read, const Attribution& live) {
  ASSERT_EQ(read.window, live.window);
  for (std::size_t z = 0; z < live.zones.size(); ++z) {
    EXPECT_EQ(read.zones[z].verdict, live.zones[z].verdict);
    EXPECT_EQ(read.zones[z].energy, live.zones[z].energy);
    EXPECT_EQ(read.zones[z].idle, live.zones[z].idle);
    EXPECT_EQ(read.zones[z].kernel, live.zones[z].kernel);
    EXPECT_EQ(read.zones[z].unattributed, live.zones[z].unattributed);
    EXPECT_EQ(read.zones[z].group, live.zones[z].group);
    EXPECT_EQ(read.zones[z].own, live.zones[z].own);
    EXPECT_EQ(read.zones[z].group_errors(), live.zones[z].group_errors());
  }
}

class RoundTrip : public testing::TestWithParam<unsigned> {};

TEST_P(RoundTrip, DividesTheSameEnergies) {
  for (const ModelRules& rules : {kKeplerRules, ModelRules{}}) {
    for (const bool scramble : {false, true}) {
      RandomHost host(GetParam());
      TraceWriter writer(
          {.host = "h", .scramble_with = scramble ? std::optional(HashKey{1, 2}) : std::nullopt});
      TraceReader reader;
      Attributor live(make_model(rules)), replayed(make_model(rules));
      live.set_zones(with_card());
      for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i) {
        const Sample& sample = host.step();
        take(reader, writer.write(sample, with_card()));
        if (reader.begins()) replayed.set_zones(reader.zones());
        if (!reader.begins() && reader.zones_changed()) replayed.change_zones(reader.zones());
        expect_same_division(replayed.attribute(reader.sample()), live.attribute(sample));
      }
    }
  }
}

TEST_P(RoundTrip, ReadsTheGroupsThatWereWritten) {
  RandomHost host(GetParam());
  TraceWriter writer;
  TraceReader reader;
  for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i) {
    const Sample& sample = host.step();
    take(reader, writer.write(sample, with_card()));
    ASSERT_EQ(reader.sample().usage.groups.size(), sample.usage.groups.size());
    for (std::size_t g = 0; g < sample.usage.groups.size(); ++g) {
      EXPECT_EQ(reader.sample().usage.groups[g].path, sample.usage.groups[g].path);
      EXPECT_EQ(reader.sample().usage.groups[g].parent, sample.usage.groups[g].parent);
      EXPECT_EQ(reader.sample().usage.groups[g].parent_owner, sample.usage.groups[g].parent_owner);
      EXPECT_EQ(reader.sample().usage.groups[g].usage, sample.usage.groups[g].usage);
      EXPECT_EQ(reader.sample().usage.groups[g].before, sample.usage.groups[g].before)
          << sample.usage.groups[g].path;
      EXPECT_EQ(reader.sample().usage.groups[g].cpu_class, sample.usage.groups[g].cpu_class);
    }
    EXPECT_EQ(reader.sample().usage.cpu_classes, sample.usage.cpu_classes);
    EXPECT_EQ(reader.sample().usage.limits, sample.usage.limits);
    EXPECT_EQ(reader.sample().usage.host.cpus, sample.usage.host.cpus);
    EXPECT_EQ(reader.sample().usage.host.memory, sample.usage.host.memory);
  }
}

TEST_P(RoundTrip, EnergyOfSamplesThatWereLeftOutIsInTheNextWindow) {
  RandomHost host(GetParam());
  TraceWriter writer;
  TraceReader reader;
  Attributor live(make_model(kKeplerRules)), replayed(make_model(kKeplerRules));
  live.set_zones(with_card());
  Microjoules lived, read;
  for (int i = 0; i < 201; ++i) {
    const Sample& sample = host.step();
    lived += live.attribute(sample).zones[0].energy;
    if (i % 7 == 3) {
      writer.leave_out(sample);
      continue;
    }
    take(reader, writer.write(sample, with_card()));
    EXPECT_EQ(reader.left_out(), i % 7 == 4 ? 1 : 0);
    if (reader.begins()) replayed.set_zones(reader.zones());
    if (!reader.begins() && reader.zones_changed()) replayed.change_zones(reader.zones());
    read += replayed.attribute(reader.sample()).zones[0].energy;
  }
  EXPECT_EQ(read, lived);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RoundTrip, testing::Range(1U, 5U));

TEST(TraceWriter, WritesWhatTheFormatSays) {
  Sample sample;
  sample.at = {std::chrono::microseconds(5), std::chrono::microseconds(6), std::chrono::microseconds(7)};
  sample.readings.emplace_back(Microjoules{1000});
  sample.readings.emplace_back(Error{"failed"});
  sample.usage.stat = {1, 2, 3, 4, 5, 6, 7, 8};
  sample.usage.cpus.push_back({.number = 0, .stat = {1, 2, 3, 4, 5, 6, 7, 8}, .khz = 2'400'000});
  sample.usage.cpus.push_back({.number = 1, .core = 1, .stat = {1, 0, 0, 4, 0, 0, 0, 0}});
  sample.usage.groups.push_back(
      {.incarnation = 1, .path = "/a.service", .usage = std::chrono::microseconds(12)});
  TraceWriter writer({.host = "0123"});
  const std::vector<TracedVm> vms{{"/a.service", "6e8f5d5e-3b0a-4a47-9f0c-0123456789ab"}};
  EXPECT_EQ(
      writer.write(sample, two_zones(), vms),
      R"({"trace":"org.keplerd.Trace1","begins":true,"host":"0123","ticksPerSecond":100,"irqApart":false,)"
      R"("cpus":[{"cpu":0,"package":0,"die":0,"core":0},{"cpu":1,"package":0,"die":0,"core":1}],)"
      R"("zones":[{"id":"powercap:package:0","name":"package","index":0,"package":0,"die":0,"inTotal":true,)"
      R"("quality":"measured","resource":"cpu","rangeMicrojoules":262143328850,"maxMicrowatts":0},)"
      R"({"id":"powercap:dram:0","name":"dram","index":0,"package":0,"die":0,"inTotal":true,)"
      R"("quality":"measured","resource":"dram","rangeMicrojoules":0,"maxMicrowatts":0}]})"
      "\n"
      R"({"monotonicUsec":5,"boottimeUsec":6,"realtimeUsec":7,"counters":[1000,null],)"
      R"("hostStat":[1,2,3,4,5,6,7,8],"stat":[[1,2,3,4,5,6,7,8],[1,0,0,4,0,0,0,0]],"khz":[2400000,null],)"
      R"("groups":{"/a.service":12},"places":[0],"kernelUsec":0,)"
      R"("workloads":{"/a.service":"6e8f5d5e-3b0a-4a47-9f0c-0123456789ab"}})"
      "\n");
  sample.at.monotonic += std::chrono::microseconds(1);
  sample.usage.groups[0].before = sample.usage.groups[0].usage;
  EXPECT_EQ(
      writer.write(sample, two_zones(), vms),
      R"({"monotonicUsec":6,"boottimeUsec":6,"realtimeUsec":7,"counters":[1000,null],)"
      R"("hostStat":[1,2,3,4,5,6,7,8],"stat":[[1,2,3,4,5,6,7,8],[1,0,0,4,0,0,0,0]],"khz":[2400000,null],)"
      R"("groups":{},"kernelUsec":0})"
      "\n");
  sample.at.monotonic += std::chrono::microseconds(1);
  sample.usage.limits.push_back({.cpu_time = std::chrono::milliseconds(1500), .memory = 4096, .vcpus = 2});
  EXPECT_NE(
      writer.write(sample, two_zones(), vms)
          .find(R"("groups":{},"limits":{"/a.service":{"cpuMax":1500000,"memoryMax":4096,"vcpus":2}},)"),
      std::string::npos);
  sample.at.monotonic += std::chrono::microseconds(1);
  EXPECT_EQ(writer.write(sample, two_zones(), vms).find("limits"), std::string::npos) << "as before";
  sample.at.monotonic += std::chrono::microseconds(1);
  sample.usage.limits[0] = {};
  EXPECT_NE(writer.write(sample, two_zones(), vms).find(R"("limits":{"/a.service":{}})"), std::string::npos);
}

}  // namespace
}  // namespace keplerd
