// SPDX-License-Identifier: Apache-2.0
// How many groups can be counted for is the least that any counter allows.
#include "meters/resctrl/most_groups.h"

#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd::resctrl {
namespace {

class MostGroupsTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    fake_.write("sys/fs/resctrl/info/" + file, text + "\n");
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
};

TEST_F(MostGroupsTest, IsUnknownIfTheKernelDoesNotSayIt) {
  EXPECT_EQ(most_groups(host_), std::nullopt);
  write("L3_MON/num_rmids", "many");
  EXPECT_EQ(most_groups(host_), std::nullopt);
}

TEST_F(MostGroupsTest, IsTheLeastOfBothKinds) {
  write("L3_MON/num_rmids", "256");
  EXPECT_EQ(most_groups(host_), 256U);
  write("PERF_PKG_MON/num_rmids", "64");
  EXPECT_EQ(most_groups(host_), 64U);
}

TEST_F(MostGroupsTest, IsAsManyAsTheCountersThatAreAssignedOneByOneAllow) {
  write("L3_MON/num_rmids", "256");
  write("L3_MON/num_mbm_cntrs", "0=32;1=30");
  write("L3_MON/mbm_assign_mode", "mbm_event\n[default]");
  EXPECT_EQ(most_groups(host_), 256U) << "all have counters";
  write("L3_MON/mbm_assign_mode", "[mbm_event]\ndefault");
  EXPECT_EQ(most_groups(host_), 15U);
  write("L3_MON/num_mbm_cntrs", "");
  EXPECT_EQ(most_groups(host_), 0U);
}

}  // namespace
}  // namespace keplerd::resctrl
