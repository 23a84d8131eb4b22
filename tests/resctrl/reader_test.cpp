// SPDX-License-Identifier: Apache-2.0
// keplerd-resctrl on written hosts, up to what keplerd makes of its files.
#include "meters/resctrl/reader.h"

#include <algorithm>
#include <random>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resctrl/tree.h"
#include "usage/count_file.h"
#include "usage/window_counter.h"

namespace keplerd::resctrl {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class ResctrlReader : public testing::Test {
 protected:
  ResctrlReader() {
    fake_.write("sys/devices/system/cpu/online", "0-3\n");
    for (int cpu = 0; cpu < 4; ++cpu) {
      const std::string directory = fmt::format("sys/devices/system/cpu/cpu{}/", cpu);
      fake_.write(directory + "topology/physical_package_id", fmt::format("{}\n", cpu / 2));
      fake_.write(directory + "topology/die_id", "0\n");
      fake_.write(directory + "topology/thread_siblings_list", fmt::format("{}\n", cpu));
      fake_.write(directory + "cache/index3/id", fmt::format("{}\n", cpu / 2));
    }
  }
  void cgroup(const std::string& name, int thread) {
    fake_.add_cgroup("/" + name);
    add_thread(fake_, thread, "/" + name);
    fake_.write("cgroup/" + name + "/cgroup.threads", Tree::lines({thread}));
  }
  std::uint64_t identity(const std::string& name) { return *read_identity(*host_.cgroupfs(), name.c_str()); }
  std::map<std::string, std::string> read() { return reader_.read(now_ += 1s); }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  Reader reader_{host_};
  Nanoseconds now_{0};
};

TEST_F(ResctrlReader, StatesTheTrafficOfCgroupsToEachMemory) {
  Tree tree(fake_, 2);
  cgroup("a.service", 10);
  tree.add("mon_groups/a");
  tree.set_tasks("mon_groups/a", {10});
  read();
  read();
  tree.set("", 0, "1000", "900");
  tree.set("", 1, "500", "500");
  tree.set("mon_groups/a", 0, "300", "200");
  const auto texts = read();
  EXPECT_EQ(texts.at("memory-0"),
            fmt::format("3000000 2000000 900\n{} 200 2000000\n", identity("a.service")));
  EXPECT_EQ(texts.at("memory-1"),
            fmt::format("3000000 2000000 600\n{} 100 2000000\n", identity("a.service")));
  EXPECT_EQ(reader_.problem(CountKind::kMemoryTraffic), "");
  EXPECT_FALSE(texts.contains("cores-0")) << "nothing is counted of it";
}

TEST_F(ResctrlReader, StatesTheEnergyOfCoresOfEachDie) {
  Tree tree(fake_, 0);
  cgroup("a.service", 10);
  tree.add("mon_groups/a");
  tree.set_tasks("mon_groups/a", {10});
  const auto energy = [&](const char* package, const char* other_package, const char* of_group) {
    tree.set_energy("", 0, package);
    tree.set_energy("", 1, other_package);
    tree.set_energy("mon_groups/a", 0, of_group);
    tree.set_energy("mon_groups/a", 1, "0.000000");
    return read();
  };
  energy("7.000000", "3.000000", "2.000000");
  energy("7.000000", "3.000000", "2.000000");
  const auto texts = energy("12.500000", "3.250000", "6.000001");
  EXPECT_THAT(texts, ElementsAre(Pair("cores-0", fmt::format("3000000 2000000 5500000\n{} 4000001 2000000\n",
                                                             identity("a.service"))),
                                 Pair("cores-1", fmt::format("3000000 2000000 250000\n{} 0 2000000\n",
                                                             identity("a.service")))));
  EXPECT_EQ(reader_.problem(CountKind::kMemoryTraffic), "") << "that is not counted, and not missing";
}

TEST_F(ResctrlReader, TheEnergyOfCoresIsKnownThoughTrafficIsNot) {
  Tree tree(fake_, 2);
  tree.set("", 0, "Unavailable", "Unavailable");
  tree.set_energy("", 0, "1.000000");
  read();
  const auto texts = read();
  EXPECT_THAT(texts.at("memory-0"), HasSubstr("unknown "));
  EXPECT_EQ(texts.at("cores-0"), "2000000 2000000 0\n");
}

TEST_F(ResctrlReader, TheEnergyOfAPackageWithSeveralDiesIsThatOfNone) {
  fake_.write("sys/devices/system/cpu/cpu1/topology/die_id", "1\n");
  Tree tree(fake_, 0);
  tree.set_energy("", 0, "1.000000");
  tree.set_energy("", 1, "1.000000");
  EXPECT_THAT(read(),
              ElementsAre(Pair("cores-2", "unknown the package 0 of resctrl is not that of one die\n")));
}

TEST_F(ResctrlReader, WithoutResctrlTheTrafficIsUnknown) {
  EXPECT_THAT(read().at("memory-0"), HasSubstr("unknown /sys/fs/resctrl: resctrl is not mounted"));
  fake_.write("sys/fs/resctrl/mon_data/mon_L3_07/mbm_total_bytes", "42\n");
  EXPECT_THAT(read().at("memory-1"), HasSubstr("unknown the L3 cache 7 of resctrl is not that of one die"));
}

TEST_F(ResctrlReader, WithoutL3CachesThereIsAFileThatSaysSo) {
  for (int cpu = 0; cpu < 4; ++cpu)
    fake_.remove(fmt::format("sys/devices/system/cpu/cpu{}/cache/index3/id", cpu));
  Tree tree(fake_);
  EXPECT_THAT(read(), ElementsAre(Pair("memory-0", HasSubstr("is not that of one die"))));
}

TEST_F(ResctrlReader, AGroupThatCannotBeReadMakesTheTrafficUnknownAsLongAsItCannot) {
  Tree tree(fake_, 2);
  tree.add("mon_groups/a");
  tree.set("mon_groups/a", 0, "Error", "Error");
  read();
  EXPECT_EQ(read().at("memory-1"),
            "unknown /sys/fs/resctrl/mon_groups/a/mon_data/mon_L3_00/mbm_total_bytes: the processor reports "
            "an error\n");
  tree.set("mon_groups/a", 0, "0", "0");
  EXPECT_EQ(read().at("memory-1"), "3000000 3000000 0\n");
}

// Groups come, go, are renamed, and hold other cgroups; counters are reset and cannot be read. Whatever
// happens, no cgroup is charged more than its own traffic, and all of them together no more than all.
class ChurnOfGroups : public ResctrlReader, public testing::WithParamInterface<CountKind> {};

INSTANTIATE_TEST_SUITE_P(Each, ChurnOfGroups,
                         testing::Values(CountKind::kMemoryTraffic, CountKind::kCoreEnergy),
                         [](const auto& kind) {
                           return kind.param == CountKind::kCoreEnergy ? "Energy" : "Traffic";
                         });

TEST_P(ChurnOfGroups, IsNobodysWindfall) {
  std::mt19937 random(24);
  const auto below = [&](int most) { return std::uniform_int_distribution<int>(0, most - 1)(random); };
  const bool is_energy = GetParam() == CountKind::kCoreEnergy;
  Tree tree(fake_, is_energy ? 0 : 2);
  const auto set = [&](const std::string& path, std::int64_t count) {
    is_energy ? tree.set_energy(path, count) : tree.set(path, count);
  };
  const auto set_text = [&](const std::string& path, const char* text) {
    is_energy ? tree.set_energy(path, 0, text) : tree.set(path, 0, text, text);
  };
  constexpr int kCgroups = 4;
  for (int i = 0; i < kCgroups; ++i) cgroup(fmt::format("{}.service", i), 10 + i);
  struct Monitoring {
    int cgroup;
    std::int64_t count;  // since its counter was last reset
  };
  std::map<std::string, Monitoring> groups;
  std::map<std::uint64_t, std::int64_t> moved;  // by cgroup, since the last window
  std::int64_t own = 1'000'000, moved_by_all = 0;
  int serial = 0, known = 0, measured = 0;
  bool is_silent = false;
  WindowCounter counter;
  for (int i = 0; i < 800; ++i) {
    if (below(10) == 0 && groups.size() < kCgroups) {
      const int held = below(kCgroups);
      const bool is_free =
          std::ranges::none_of(groups, [&](const auto& group) { return group.second.cgroup == held; });
      if (is_free) {
        const std::string path = fmt::format("mon_groups/{}", serial++);
        tree.add(path);
        tree.set_tasks(path, {10 + held});
        // A counter that was used before, and not reset.
        groups[path] = {held, below(2) * 5'000'000'000};
      }
    }
    if (below(20) == 0 && !groups.empty()) {
      tree.remove(groups.begin()->first);
      groups.erase(groups.begin());
    }
    if (below(20) == 0 && !groups.empty()) {
      auto node = groups.extract(groups.begin());
      const std::string to = fmt::format("mon_groups/{}", serial++);
      tree.rename(node.key(), to);
      node.key() = to;
      groups.insert(std::move(node));
    }
    if (below(50) == 0 && !groups.empty()) groups.begin()->second.count = 0;
    const int rest = below(1000);
    own += rest;
    moved_by_all += rest;
    std::int64_t inside = 0;
    for (int held = 0; held < kCgroups; ++held) {
      const int count = below(1000);
      moved[identity(fmt::format("{}.service", held))] += count;
      moved_by_all += count;
      const auto group =
          std::ranges::find_if(groups, [&](const auto& one) { return one.second.cgroup == held; });
      (group == groups.end() ? own : group->second.count) += count;
    }
    // The kernel leaves out groups. If that lasts, their own files show it.
    const bool was_silent = std::exchange(is_silent, below(40) == 0);
    for (const auto& [path, group] : groups) {
      inside += is_silent ? 0 : group.count;
      set(path, group.count);
    }
    set("", own + inside);
    if (is_silent && was_silent)
      for (const auto& [path, group] : groups) set_text(path, "Error");
    if (below(30) == 0 && !groups.empty()) set_text(groups.begin()->first, "Unavailable");
    const auto reading = parse_count_file(read().at(is_energy ? "cores-0" : "memory-0"));
    if (reading) counter.take(*reading);
    if (below(3) == 0) continue;  // windows of several readings
    const auto counts = reading ? counter.advance(now_) : std::nullopt;
    if (counts) {
      ++known;
      ASSERT_LE(counts->all.value, moved_by_all) << i;
      for (const auto& [cgroup, count] : counts->groups) {
        ++measured;
        ASSERT_LE(count.value, moved.at(cgroup)) << i;
      }
    }
    if (!reading) counter.advance(now_);
    moved.clear();
    moved_by_all = 0;
  }
  EXPECT_GT(known, 200);
  EXPECT_GT(measured, 200);
}

}  // namespace
}  // namespace keplerd::resctrl
