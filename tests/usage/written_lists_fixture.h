// SPDX-License-Identifier: Apache-2.0
// Processes of this host in a written tree of cgroups, whose lists and times are what the test says.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/fake_host.h"
#include "usage/child.h"
#include "usage/process_clock.h"
#include "usage/processes_fixture.h"

namespace keplerd {

class WrittenListsTest : public ProcessesTest {
 protected:
  WrittenListsTest() {
    fake_.add_cgroup("/a");
    host_ = std::make_unique<HostRoot>(*HostRoot::open({.cgroupfs = fake_.paths().cgroupfs}));
    tree_ = std::make_unique<CgroupTree>(*host_->cgroupfs());
    table_ = std::make_unique<ProcessTable>(*host_);
    fake_.set_cgroup_procs("/a", {child_.pid()});
  }
  void set_tasks(int count) { fake_.write("cgroup/a/pids.current", std::to_string(count) + "\n"); }
  // The group has run.
  void read_moved(Nanoseconds after = std::chrono::seconds(1)) {
    fake_.set_cgroup_usage("/a", usage_ += 10'000);
    read(after);
  }
  void burn(Child& child) {
    const auto before = read_process_clock(child.pid());
    child.burn(std::chrono::milliseconds(5));
    usage_ += to_usec(*read_process_clock(child.pid()) - *before);
  }
  // The process, and no other, has run in the group, as far as the group says.
  void read_moved_by(Child& child, Nanoseconds after = std::chrono::seconds(1)) {
    burn(child);
    fake_.set_cgroup_usage("/a", usage_);
    read(after);
  }
  // The number of tasks is known, and that the process explains the time.
  void settle_explained() {
    settle();
    read_moved_by(child_, std::chrono::seconds(11));
    ASSERT_NE(find(child_.pid()), nullptr);
  }
  // Whether the other one was read, in this group.
  bool has_other() const {
    const ProcessUsage* other = find(other_.pid());
    return other != nullptr && other->group != kNoGroup;
  }
  void add_other() { fake_.set_cgroup_procs("/a", {child_.pid(), other_.pid()}); }

  FakeHost fake_;
  std::unique_ptr<HostRoot> host_;
  Child child_, other_;
  std::int64_t usage_ = 0;
};

}  // namespace keplerd
