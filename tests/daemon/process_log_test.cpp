// SPDX-License-Identifier: Apache-2.0
// The write-ahead log looks only at the processes that may have changed, and still has all of them.
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/vm_host.h"
#include "ledger/changed_processes.h"
#include "ledger/log/redo.h"
#include "ledger/log/writer.h"

namespace keplerd {
namespace {

// The processes of a state, to be compared.
auto processes_of(const LedgerState& state) {
  std::map<ProcessId, std::tuple<std::string, std::vector<Microjoules>, std::vector<Microjoules>, Microjoules,
                                 Nanoseconds, Realtime>>
      out;
  for (const ProcessState& process : state.processes)
    out[process.id] = {process.unit,    process.energy, process.idle,
                       process.in_unit, process.cpu,    process.since};
  return out;
}

class ProcessLog : public VmTest {
 protected:
  // As the daemon does it: a record with each sample, and now and then a save, from which the log goes on.
  void record() {
    log_ += writer_.record(host.meter().ledger(), host.meter().readings(), host.meter().changed_usage());
  }
  void save() {
    saved_ = host.meter().state();
    log_ = save_point_record(saved_);
  }
  // What a run that follows a kill has.
  void expect_all() {
    LedgerState redone = saved_;
    const auto done = redo(log_, redone);
    ASSERT_TRUE(done.ok() && done->matches);
    EXPECT_EQ(processes_of(redone), processes_of(host.meter().state()));
  }

 private:
  LogWriter writer_;
  LedgerState saved_;
  std::string log_;
};

// Processes of units, of containers, of VMs and of none, that come, go and move; units that go with them;
// idle energy that is placed on VMs; windows in which nothing is drawn, and times in which nobody asks for
// processes.
TEST_F(ProcessLog, HasEveryProcessAsItIsAfterEachSample) {
  std::mt19937 random(20261127);
  const auto roll = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::vector<std::string> places = {"/", "/a.service", "/b.slice/b.service",
                                           "/docker-" + std::string(64, 'c') + ".scope"};
  std::map<std::string, std::int64_t> usage;
  std::map<pid_t, std::int64_t> ticks;
  std::map<pid_t, std::string> place_of;
  const auto put = [&](pid_t pid, const std::string& place) {
    if (place != "/" && !usage.contains(place)) host.files.add_cgroup(place, usage[place] = 0);
    host.files.add_process({.pid = pid, .cgroup = place});
    host.files.set_process_time(pid, ticks[pid]);
    place_of[pid] = place;
  };
  const auto end = [&](pid_t pid) {
    host.files.remove_process(pid);
    ticks.erase(pid);
    place_of.erase(pid);
  };
  TerminatedLimits limits;
  limits.max = 2;
  limits.min_energy = {};
  host.files.add_process({.pid = 900, .comm = "qemu-system-x86", .cmdline = qemu("web", kUuid)});
  host.begin();
  host.meter().set_limits(limits);
  host.meter().set_idle_placing(IdlePlacing::kEqual);
  record();
  save();
  std::int64_t busy = 0;
  for (int i = 0; i < 300; ++i) {
    const pid_t pid = 100 + roll(12);
    switch (place_of.contains(pid) ? roll(4) : 0) {
      case 0:
        if (!place_of.contains(pid)) put(pid, places[static_cast<std::size_t>(roll(4))]);
        break;
      case 1:
        end(pid);
        break;
      case 2:
        if (const std::string& place = places[static_cast<std::size_t>(roll(4))];
            place == "/" || usage.contains(place)) {
          host.files.move_process(pid, place);
          place_of[pid] = place;
        }
        break;
      default:
        break;
    }
    if (roll(12) == 0 && !usage.empty()) {
      const std::string gone = usage.begin()->first;
      for (const auto& [process, place] : std::map(place_of))
        if (place == gone) end(process);
      host.files.remove_cgroup(gone);
      usage.erase(gone);
    }
    for (auto& [process, time] : ticks) {
      if (roll(3) != 0) continue;
      const int more = roll(4);
      host.files.set_process_time(process, time += more);
      if (const auto unit = usage.find(place_of[process]); unit != usage.end())
        host.files.set_cgroup_usage(unit->first, unit->second += 10'000 * more);
    }
    if (roll(3) == 0) host.files.set_process_time(900, busy += 3);
    if (roll(4) != 0) host.draw(roll(20'000'000), roll(3'000'000));
    if (roll(8) == 0) host.meter().want_processes(roll(2) == 0);
    host.step();
    record();
    if (roll(9) == 0) save();
    ASSERT_NO_FATAL_FAILURE(expect_all()) << i;
    ASSERT_FALSE(HasFailure()) << i;
  }
}

TEST(ChangedProcesses, AreKnownOfTheLastTwoWindows) {
  ChangedProcesses changed;
  const auto begin = changed.place();
  changed.begin_window();
  changed.add({1, 1});
  const auto first = changed.place();
  changed.add({2, 1});
  changed.begin_window();
  changed.add({3, 1});
  ASSERT_TRUE(changed.since(begin));
  EXPECT_EQ(changed.since(begin)->size(), 3u);
  ASSERT_TRUE(changed.since(first));
  EXPECT_EQ(changed.since(first)->front(), (ProcessId{2, 1}));
  EXPECT_TRUE(changed.since(changed.place())->empty());
  EXPECT_FALSE(changed.since(changed.place() + 1)) << "of another list";
  changed.begin_window();
  EXPECT_FALSE(changed.since(first)) << "what came after it is forgotten";
  EXPECT_EQ(changed.since(first + 1)->size(), 1u);
}

}  // namespace
}  // namespace keplerd
