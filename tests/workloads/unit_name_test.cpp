// SPDX-License-Identifier: Apache-2.0
// systemd's names of cgroups.
#include "workloads/unit_name.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(SystemUnit, IsTheFirstServiceOrScopeOfAPath) {
  EXPECT_EQ(system_unit("/system.slice/web.service"), "web.service");
  EXPECT_EQ(system_unit("/system.slice/web.service/payload/init.scope"), "web.service");
  EXPECT_EQ(system_unit("/machine.slice/machine-a\\x2db.scope"), "machine-a\\x2db.scope");
  EXPECT_EQ(system_unit("/a.slice/a-b.slice/_cpu.service"), "cpu.service");
}

TEST(SystemUnit, IsNoneInASliceOrAGroupOrAUsersManager) {
  EXPECT_EQ(system_unit("/system.slice"), "");
  EXPECT_EQ(system_unit("/"), "");
  EXPECT_EQ(system_unit(""), "");
  EXPECT_EQ(system_unit("/lxc/web.service"), "");
  EXPECT_EQ(system_unit("/user.slice/user-1000.slice/user@1000.service/app.slice/vm.scope"), "");
  EXPECT_EQ(system_unit("/user.slice/user-1000.slice/session-3.scope"), "session-3.scope");
}

TEST(SliceUser, IsThatOfTheSliceThatRootHasMade) {
  EXPECT_EQ(slice_user("/user.slice/user-1000.slice"), 1000U);
  EXPECT_EQ(slice_user("/user.slice/user-1000.slice/user@1000.service/app.slice/a.service"), 1000U);
  EXPECT_EQ(slice_user("/user.slice/user-0.slice/session-1.scope"), 0U);
  // The names inside are chosen by the user.
  EXPECT_EQ(slice_user("/user.slice/user-1000.slice/user@1000.service/user.slice/user-0.slice"), 1000U);
}

TEST(SliceUser, IsUnsetElsewhere) {
  for (const char* const path :
       {"", "/", "/user.slice", "/user-1000.slice", "/user.slice/user-1000.sliced",
        "/user.slice/user-x.slice", "/system.slice/a.service/user.slice/user-1000.slice",
        "/user.slice/user-1000.slice2/x", "/user.slice/user-99999999999.slice"})
    EXPECT_EQ(slice_user(path), std::nullopt) << path;
}

}  // namespace
}  // namespace keplerd
