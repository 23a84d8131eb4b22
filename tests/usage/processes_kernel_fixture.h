// SPDX-License-Identifier: Apache-2.0
// The same with processes of this host, in groups of its own cgroup2; skips the test where no cgroup can be
// made.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "host/host_root.h"
#include "usage/processes_fixture.h"
#include "usage/real_cgroup.h"

namespace keplerd {

class KernelProcessesTest : public ProcessesTest {
 protected:
  void SetUp() override {
    std::string why_not;
    cgroup_ = RealCgroup::make(why_not);
    if (!cgroup_) GTEST_SKIP() << "no cgroup can be made here: " << why_not;
    auto host = HostRoot::open({.cgroupfs = cgroup_->path()});
    ASSERT_TRUE(host);
    host_ = std::make_unique<HostRoot>(*std::move(host));
    ASSERT_TRUE(host_->has_own_procfs());
    tree_ = std::make_unique<CgroupTree>(*host_->cgroupfs());
    table_ = std::make_unique<ProcessTable>(*host_);
    cgroup_->add("a");
    cgroup_->add("b");
  }

  std::unique_ptr<RealCgroup> cgroup_;
  std::unique_ptr<HostRoot> host_;
};

}  // namespace keplerd
