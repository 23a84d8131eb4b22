// SPDX-License-Identifier: Apache-2.0
// The paths of processes' programs, where they can be read.
#include <string>

#include <gtest/gtest.h>

#include "daemon/access/public_view.h"
#include "daemon/meter_host.h"
#include "daemon/row_json.h"
#include "varlink/json.h"

namespace keplerd {
namespace {

class ProgramPaths : public testing::Test {
 protected:
  ProgramPaths() {
    host.files.add_cgroup("/a.service", 0);
    for (const pid_t pid : {10, 20}) start(pid, "task");
  }
  void start(pid_t pid, const std::string& comm) {
    host.files.add_process({.pid = pid, .comm = comm, .utime = ++ticks, .cgroup = "/a.service"});
  }
  void step() {
    host.draw(10'000'000);
    host.files.set_cgroup_usage("/a.service", ++ticks * 100'000);
    for (const pid_t pid : {10, 20}) host.files.set_process_time(pid, ++ticks);
    host.step();
  }

  MeterHost host;
  std::int64_t ticks = 0;
};

TEST_F(ProgramPaths, AreThoseOfTheKernelAndAbsentWhereTheyCannotBeRead) {
  host.files.link("proc/10/exe", "/usr/bin/task");
  host.begin();
  step();
  EXPECT_EQ(*host.process(10)->program, "/usr/bin/task");
  EXPECT_EQ(host.process(20)->program, nullptr);
  EXPECT_EQ(row_json(host.view(), RowKind::kProcesses, 0)["exe"], "/usr/bin/task");
  EXPECT_FALSE(row_json(host.view(), RowKind::kProcesses, 1).contains("exe"));
}

TEST_F(ProgramPaths, OfAnotherProgramReplaceIt) {
  host.files.link("proc/10/exe", "/usr/bin/task");
  host.files.link("proc/20/exe", "/usr/bin/task");
  host.begin();
  host.files.link("proc/10/exe", "/usr/bin/other");
  start(10, "other");
  host.files.remove("proc/20/exe");
  start(20, "hidden");
  step();
  EXPECT_EQ(*host.process(10)->program, "/usr/bin/other");
  EXPECT_EQ(host.process(20)->program, nullptr) << "not that of the program before";
}

TEST_F(ProgramPaths, ChosenByAUserAreEscapedAndBounded) {
  host.files.link("proc/10/exe", "/tmp/\x1b[31m\n");
  host.files.link("proc/20/exe", "/tmp/" + std::string(300, 'x'));
  host.begin();
  step();
  EXPECT_EQ(*host.process(10)->program, "/tmp/\\x1b[31m\\x0a");
  EXPECT_EQ(host.process(20)->program, nullptr);
}

TEST_F(ProgramPaths, AreHiddenWithoutFullAccess) {
  host.files.link("proc/10/exe", "/home/alice/secret-project");
  host.begin();
  step();
  const PublicTick tick{.now = host.view(), .before = {}, .energies = {}, .energies_before = {}};
  ReportView view{public_report(tick, PublicAccess::kAll, 1000), nullptr};
  view.processes = public_processes(tick, PublicAccess::kAll, 1000, *view.report);
  ASSERT_EQ(view.processes->rows.size(), 2u);
  EXPECT_FALSE(row_json(view, RowKind::kProcesses, 0).contains("exe"));
}

}  // namespace
}  // namespace keplerd
