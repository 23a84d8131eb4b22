// SPDX-License-Identifier: Apache-2.0
#include "usage/thread_cpus.h"

#include <array>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/host_root.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

using Cpus = std::vector<int>;

TEST(AllowedCpusOfAStatus, AreItsList) {
  EXPECT_EQ(
      parse_allowed_cpus("Name:\tx\nCpus_allowed:\tffff\nCpus_allowed_list:\t0,2-3\nMems_allowed:\t1\n"),
      (Cpus{0, 2, 3}));
  EXPECT_EQ(parse_allowed_cpus("Name:\tx\n"), Cpus{});
  EXPECT_EQ(parse_allowed_cpus("Cpus_allowed_list:\t0-x\n"), Cpus{});
  EXPECT_EQ(parse_allowed_cpus(""), Cpus{});
}

TEST(CpusOfAMask, AreThoseOfAllItsWords) {
  std::array<unsigned long, 128> mask{};
  mask[0] = 1UL << 63 | 1;
  mask[1] = 1;
  mask[127] = 1UL << 63;
  EXPECT_EQ(cpus_of_mask(mask), (Cpus{0, 63, 64, 8191}));
  EXPECT_EQ(cpus_of_mask({}), Cpus{});
}

TEST(Affinity, IsThatOfTheThreadAndTheListOfItsStatus) {
  const Cpus before = read_affinity(::gettid());
  ASSERT_FALSE(before.empty());
  const auto host = HostRoot::open({.procfs = "/proc"});
  ASSERT_TRUE(host);
  Cpus pinned, status;
  std::thread([&] {
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(static_cast<std::size_t>(before.back()), &last);
    ASSERT_EQ(::sched_setaffinity(0, sizeof last, &last), 0);
    const auto tid = ::gettid();
    const std::string directory = fmt::format("{}/task/{}", ::getpid(), tid);
    pinned = read_thread_cpus(*host, tid, "none");  // without its files
    std::array<char, 8192> buffer;
    status = parse_allowed_cpus(*read_beginning(host->procfs(), (directory + "/status").c_str(), buffer));
  }).join();
  EXPECT_EQ(pinned, Cpus{before.back()});
  EXPECT_EQ(pinned, status);
  EXPECT_EQ(read_affinity(::gettid()), before);
}

TEST(Affinity, OfNoThreadIsNotKnown) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(read_affinity(child), Cpus{});
}

TEST(Affinity, OfAnotherHostIsThatOfItsFiles) {
  FakeHost fake;
  fake.write(fmt::format("proc/{}/status", ::getpid()), "Cpus_allowed_list:\t77\n");
  EXPECT_EQ(read_thread_cpus(fake.open(), ::getpid(), std::to_string(::getpid())), Cpus{77});
}

}  // namespace
}  // namespace keplerd
