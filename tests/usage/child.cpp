// SPDX-License-Identifier: Apache-2.0
#include "usage/child.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string_view>

#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace keplerd {
namespace {

constexpr std::size_t kMessage = 64;

std::chrono::nanoseconds own_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void burn_here(std::chrono::milliseconds time) {
  const auto end = own_cpu_time() + time;
  while (own_cpu_time() < end) {
  }
}

pid_t fork_as(pid_t wanted) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uintptr_t>(&wanted);
  arguments.set_tid_size = 1;
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

[[noreturn]] void become_cat(int wire) {
  ::dup2(wire, STDIN_FILENO);
  ::dup2(wire, STDOUT_FILENO);
  ::execlp("cat", "cat", static_cast<char*>(nullptr));
  ::_exit(1);
}

[[noreturn]] void obey(int wire) {
  char message[kMessage] = {};
  while (::recv(wire, message, sizeof message - 1, 0) > 0) {
    const std::chrono::milliseconds time(std::atoi(message + 1));
    switch (message[0]) {
      case 'b':
        burn_here(time);
        break;
      case 'c': {
        const pid_t child = ::fork();
        if (child == 0) {
          burn_here(time);
          ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        break;
      }
      case 'n':
        ::prctl(PR_SET_NAME, message + 1, 0, 0, 0);
        break;
      case 'x':
        become_cat(wire);
      default:
        ::_exit(0);
    }
    ::send(wire, "k", 1, 0);
    std::fill(std::begin(message), std::end(message), '\0');
  }
  ::_exit(0);
}

// The child that has answered still runs on its way to sleep; until then its CPU time may advance.
void wait_until_asleep(pid_t pid) {
  char state = 'R';
  while (state == 'R') {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    const auto end_of_name = stat.rfind(") ");
    state = end_of_name == std::string::npos ? 'X' : stat[end_of_name + 2];
    ::sched_yield();
  }
}

}  // namespace

Child::Child(pid_t wanted) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  pid_ = wanted == 0 ? ::fork() : fork_as(wanted);
  if (pid_ < 0 && wanted == 0) std::abort();
  if (pid_ == 0) {
    ::close(ends[0]);
    obey(ends[1]);
  }
  ::close(ends[1]);
  wire_.reset(ends[0]);
  if (pid_ > 0) wait_until_asleep(pid_);
}

Child::~Child() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  reap();
}

void Child::report(char what, const std::string& argument) {
  const std::string message = what + argument;
  char answer = 0;
  EXPECT_GT(::send(wire_.get(), message.data(), message.size(), MSG_NOSIGNAL), 0);
  EXPECT_EQ(::recv(wire_.get(), &answer, 1, 0), 1);
  wait_until_asleep(pid_);
}

void Child::burn(std::chrono::milliseconds time) { report('b', std::to_string(time.count())); }
void Child::burn_in_child(std::chrono::milliseconds time) { report('c', std::to_string(time.count())); }
void Child::rename(const std::string& comm) { report('n', comm); }

void Child::become_cat() {
  ::send(wire_.get(), "x", 1, MSG_NOSIGNAL);
  char echo = 0;
  EXPECT_GT(::send(wire_.get(), "?", 1, MSG_NOSIGNAL), 0);
  EXPECT_EQ(::recv(wire_.get(), &echo, 1, 0), 1);
  EXPECT_EQ(echo, '?');
}

void Child::end() {
  ::send(wire_.get(), "q", 1, MSG_NOSIGNAL);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT), 0);
}

void Child::reap() {
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace keplerd
