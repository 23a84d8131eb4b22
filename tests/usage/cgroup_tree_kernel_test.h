// SPDX-License-Identifier: Apache-2.0
// A tree of groups on this host's own cgroup2; skips the test where no cgroup can be made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "usage/cgroup_tree.h"
#include "usage/real_cgroup.h"

namespace keplerd {

class CgroupTreeKernelTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    cgroup_ = RealCgroup::make(why_not);
    if (!cgroup_) GTEST_SKIP() << "no cgroup can be made here: " << why_not;
    tree_ = std::make_unique<CgroupTree>(cgroup_->directory());
  }

  void read() { tree_->read(groups_); }

  std::unique_ptr<RealCgroup> cgroup_;
  std::unique_ptr<CgroupTree> tree_;
  std::vector<GroupUsage> groups_;
};

}  // namespace keplerd
