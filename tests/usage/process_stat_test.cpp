// SPDX-License-Identifier: Apache-2.0
#include "usage/process_stat.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

struct Fields {
  std::string pid = "43251";
  std::string comm = "qemu-system-x86";
  std::string parent = "1";
  std::string flags = "4194304";
  std::string user = "143592";
  std::string system = "25589";
  std::string start = "987654";
  std::string size = "10000000";
};

// proc_pid_stat(5): 52 fields, as the kernel writes them.
std::string stat_text(const Fields& f) {
  return fmt::format(
      "{} ({}) S {} 43251 43251 0 -1 {} 5 0 0 0 {} {} 7 8 20 0 4 0 {} {} 1000 18446744073709551615 "
      "1 1 0 0 0 0 0 4096 0 0 0 0 17 0 0 0 0 22826 0 0 0 0 0 0 0 0 0\n",
      f.pid, f.comm, f.parent, f.flags, f.user, f.system, f.start, f.size);
}

TEST(ProcessStat, HasIdentityNameAndTime) {
  const auto stat = parse_process_stat(stat_text({}));
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->id, (ProcessId{43251, 987654}));
  EXPECT_EQ(stat->comm, "qemu-system-x86");
  EXPECT_FALSE(stat->kernel_thread);
  EXPECT_EQ(stat->usage,
            1691810ms);  // the guest's time is inside utime, reaped children's (7, 8) is not its own
}

TEST(ProcessStat, NameMayHoldAnything) {
  for (const char* comm : {") R 1 (", "a) b", "((", "))", "", " ", "a\nb\\c) R", "\xff\xfe", "1 (x) S 2"}) {
    const auto stat = parse_process_stat(stat_text({.comm = comm}));
    ASSERT_TRUE(stat) << comm;
    EXPECT_EQ(stat->comm, comm);
    EXPECT_EQ(stat->id, (ProcessId{43251, 987654})) << comm;
    EXPECT_EQ(stat->usage, 1691810ms) << comm;
  }
}

TEST(ProcessStat, KernelThreadsAreRecognisedByTheirFlag) {
  EXPECT_TRUE(parse_process_stat(stat_text({.flags = "2129984", .size = "0"}))->kernel_thread);
  EXPECT_TRUE(parse_process_stat(stat_text({.parent = "2", .flags = "64", .size = "0"}))->kernel_thread);
  EXPECT_FALSE(parse_process_stat(stat_text({.parent = "2", .flags = "64"}))->kernel_thread);
  EXPECT_FALSE(parse_process_stat(stat_text({.parent = "1", .flags = "64", .size = "0"}))->kernel_thread);
}

TEST(ProcessStat, MissingFieldsAreAnError) {
  const std::string whole = stat_text({});
  const auto start = whole.find("10000000");
  for (std::size_t size = 0; size <= start; ++size) {
    EXPECT_FALSE(parse_process_stat(std::string_view(whole).substr(0, size))) << size;
  }
}

TEST(ProcessStat, MalformedFieldsAreAnError) {
  EXPECT_FALSE(parse_process_stat(stat_text({.pid = "0"})));
  EXPECT_FALSE(parse_process_stat(stat_text({.pid = "-1"})));
  EXPECT_FALSE(parse_process_stat(stat_text({.pid = "4294967297"})));
  EXPECT_FALSE(parse_process_stat(stat_text({.user = "-1"})));
  EXPECT_FALSE(parse_process_stat(stat_text({.system = "9223372036854775807"})));
  EXPECT_FALSE(parse_process_stat(stat_text({.user = "99999999999999999999"})));
  EXPECT_FALSE(parse_process_stat(stat_text({.start = "x"})));
  EXPECT_FALSE(parse_process_stat(")("));
}

// 64 processors busy for a year.
TEST(ProcessStat, TimeOfALargeMachineIsKnown) {
  const auto stat = parse_process_stat(stat_text({.user = "201830400000", .system = "0"}));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->usage, 2018304000s);
}

TEST(ProcessStat, LongestTimeDoesNotOverflow) {
  const auto stat = parse_process_stat(stat_text({.user = "461168601842", .system = "461168601842"}));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->usage, 9223372036840ms);
}

TEST(ProcessUsers, AreTheRealAndTheEffectiveOne) {
  const auto users = parse_process_users("Name:\tx\nUmask:\t0022\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n");
  ASSERT_TRUE(users);
  EXPECT_EQ(users->real, 1U);
  EXPECT_EQ(users->effective, 2U);
  EXPECT_EQ(parse_process_users("Uid:\t0\t4294967294\t0\t0")->effective, 4294967294U);
}

TEST(ProcessUsers, AreNotKnownWhereTheyCannotBeRead) {
  for (const char* text :
       {"", "Name:\tUid: 1 2\n", "Uid:\n1\t2\n", "Uid:\t1\n", "Uid:\t1\t-2\t1\n", "Uid:\t1\t4294967296\t1\n"})
    EXPECT_FALSE(parse_process_users(text)) << text;
}

TEST(ProcessCgroup, IsTheUnifiedLine) {
  EXPECT_EQ(parse_process_cgroup("0::/system.slice/cron.service\n"), "/system.slice/cron.service");
  EXPECT_EQ(parse_process_cgroup("9:name=systemd:/a\n4:memory:/b\n0::/c\n"), "/c");
  EXPECT_EQ(parse_process_cgroup("0::/\n"), "/");
  EXPECT_EQ(parse_process_cgroup("0::/a:b::c"), "/a:b::c");
}

TEST(ProcessCgroup, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(parse_process_cgroup(""), "");
  EXPECT_EQ(parse_process_cgroup("9:name=systemd:/a\n10::/b\n"), "");
}

TEST(ProcessCgroup, OfARemovedGroupIsItsPath) {
  EXPECT_EQ(parse_process_cgroup("0::/a/b (deleted)\n"), "/a/b");
}

}  // namespace
}  // namespace keplerd
