// SPDX-License-Identifier: Apache-2.0
// The real /proc: the descriptors of this process and of others, with and without the privilege of
// keplerd-drm.
#include <algorithm>
#include <cstddef>

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/host_root.h"
#include "meters/drm/process_files.h"

namespace keplerd::drm {
namespace {

TEST(OwnFiles, ThisHostsProcessesAreScanned) {
  const auto host = HostRoot::open({});
  ASSERT_TRUE(host);
  ProcessFiles files(*host);
  files.scan();
  EXPECT_TRUE(std::ranges::any_of(files.running(), [](ProcessId id) { return id.pid == ::getpid(); }));
  const std::size_t first = files.cost();
  EXPECT_GT(first, 3 * files.running().size());
  files.scan();
  EXPECT_LT(files.cost(), first);
}

// The number of processes whose files a process of user 65534 cannot read, with CAP_SYS_PTRACE or
// without any capability; -1 if it cannot be tried.
int denied_to_nobody(bool with_ptrace) {
  constexpr int kCannotTry = 255, kMost = 254;
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr __u32 kPtrace = 1U << CAP_SYS_PTRACE;
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct data[2] = {};
    if (with_ptrace) data[0] = {.effective = kPtrace, .permitted = kPtrace, .inheritable = 0};
    const bool is_ready = ::prctl(PR_SET_KEEPCAPS, 1) == 0 && ::setresuid(65534, 65534, 65534) == 0 &&
                          ::syscall(SYS_capset, &header, data) == 0;
    const auto host = HostRoot::open({});
    if (!is_ready || !host) ::_exit(kCannotTry);
    ProcessFiles files(*host);
    files.scan();
    ::_exit(static_cast<int>(std::min<std::size_t>(files.denied(), kMost)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) != kCannotTry ? WEXITSTATUS(status) : -1;
}

TEST(OwnFiles, OthersDescriptorsNeedThePrivilegeToTrace) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const int without = denied_to_nobody(false), with = denied_to_nobody(true);
  if (with < 0) GTEST_SKIP() << "cannot keep CAP_SYS_PTRACE here";
  const auto host = HostRoot::open({});
  ASSERT_TRUE(host);
  ProcessFiles files(*host);
  files.scan();
  EXPECT_GT(without, with);
  EXPECT_LE(static_cast<std::size_t>(with), files.denied()) << "no more than root cannot, in a container";
}

}  // namespace
}  // namespace keplerd::drm
