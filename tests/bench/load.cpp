// SPDX-License-Identifier: Apache-2.0
// bench_load DIRECTORY PROCESSES GROUPS ACTIVE: real processes in real cgroups, for measuring what they cost
// keplerd. Makes GROUPS cgroups in DIRECTORY (of cgroup2) and PROCESSES processes, spread over them; the
// first ACTIVE of them compute for some 20 us twice a second, the others sleep. Writes "ready" and goes away,
// with all of it, at the end of its standard input.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr long kPause = 500'000'000, kWork = 20'000;  // ns

[[noreturn]] void fail(const std::string& what) {
  std::perror(what.c_str());
  std::exit(1);
}

int make_group(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) fail(path);
  const int group = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (group < 0) fail(path);
  return group;
}

long now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

[[noreturn]] void live(bool active, long number) {
  // Not all at the same time.
  timespec pause{0, 1 + number * 7'919'000 % kPause};
  while (true) {
    if (!active) ::pause();
    ::nanosleep(&pause, nullptr);
    pause.tv_nsec = kPause;
    for (const long end = now() + kWork; now() < end;) {
    }
  }
}

// A child in the cgroup, so that nothing has to be moved.
pid_t start_in(int group) {
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<unsigned>(group);
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::fprintf(stderr, "usage: bench_load DIRECTORY PROCESSES GROUPS ACTIVE\n");
    return 2;
  }
  const std::string directory = arguments[1];
  const long processes = std::atol(arguments[2]), groups = std::atol(arguments[3]),
             active = std::atol(arguments[4]);
  ::close(make_group(directory));
  std::vector<int> group_fds;
  for (long i = 0; i < groups; ++i)
    group_fds.push_back(make_group(directory + "/bench-" + std::to_string(i) + ".service"));

  std::vector<pid_t> children;
  for (long i = 0; i < processes; ++i) {
    const pid_t child = start_in(group_fds[static_cast<std::size_t>(i % groups)]);
    if (child < 0) fail("clone3");
    if (child == 0) live(i < active, i);
    children.push_back(child);
  }
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  for (const pid_t child : children) ::kill(child, SIGKILL);
  while (::wait(nullptr) > 0 || errno == EINTR) {
  }
  for (long i = 0; i < groups; ++i) ::rmdir((directory + "/bench-" + std::to_string(i) + ".service").c_str());
  ::rmdir(directory.c_str());
}
