// SPDX-License-Identifier: Apache-2.0
// Real processes in real cgroups, to measure what they cost keplerd. Creates the cgroup DIRECTORY.
//
//   bench_load DIRECTORY PROCESSES GROUPS ACTIVE        PROCESSES, spread over GROUPS cgroups
//   bench_load DIRECTORY machines N ACTIVE QEMU VCPUS   N machines as libvirt lays them out; QEMU
//                                                       is machine.cpp's program
//
// The first ACTIVE of them work (live.h), the others sleep. Writes "ready" and goes away, with all of it, at
// the end of its standard input.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

namespace {

std::vector<std::string> directories;  // parents before children
std::vector<pid_t> children;

void end() {
  for (const pid_t child : children) ::kill(child, SIGKILL);
  while (::wait(nullptr) > 0 || errno == EINTR) {
  }
  for (auto directory = directories.rbegin(); directory != directories.rend(); ++directory)
    ::rmdir(directory->c_str());
}

[[noreturn]] void fail(const std::string& what) {
  std::perror(what.c_str());
  end();
  std::exit(1);
}

int make_group(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) fail(path);
  directories.push_back(path);
  const int group = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (group < 0) fail(path);
  return group;
}

// Forks the child into the cgroup, so that nothing has to be moved: 0 in the child.
pid_t start_in(int group) {
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<unsigned>(group);
  const auto child = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
  if (child < 0) fail("clone3");
  if (child > 0) children.push_back(child);
  if (child == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

void start_processes(const std::string& directory, long processes, long groups, long active) {
  std::vector<int> group_fds;
  for (long i = 0; i < groups; ++i)
    group_fds.push_back(make_group(directory + "/bench-" + std::to_string(i) + ".service"));
  for (long i = 0; i < processes; ++i) {
    if (start_in(group_fds[static_cast<std::size_t>(i % groups)]) == 0) live(i < active, i);
  }
}

// The virtual machines that are started.
struct Kind {
  const char* qemu;
  int vcpus;
};

[[noreturn]] void become_vm(const std::string& domain, const std::string& number, bool active, int ready,
                            const Kind& kind) {
  ::setenv("BENCH_CGROUP", domain.c_str(), 1);
  ::setenv("BENCH_VCPUS", std::to_string(kind.vcpus).c_str(), 1);
  ::setenv("BENCH_READY", std::to_string(ready).c_str(), 1);
  if (active) ::setenv("BENCH_WORK", number.c_str(), 1);
  const std::string name = "guest=vm" + number + ",debug-threads=on", vcpus = std::to_string(kind.vcpus);
  std::string uuid = "00000000-0000-4000-8000-000000000000";
  uuid.replace(uuid.size() - number.size(), number.size(), number);
  ::execl(kind.qemu, kind.qemu, "-name", name.c_str(), "-S", "-machine", "pc-q35-7.2,usb=off", "-accel",
          "kvm", "-m", "1024", "-smp", vcpus.c_str(), "-uuid", uuid.c_str(), nullptr);
  std::perror(kind.qemu);
  ::_exit(1);
}

void start_vm(const std::string& directory, long number, bool active, int ready, const Kind& kind) {
  const std::string text = std::to_string(number);
  const std::string scope = directory + "/machine-qemu\\x2d" + text + "\\x2dvm" + text + ".scope";
  ::close(make_group(scope));
  const int domain = make_group(scope + "/libvirt");
  for (int i = -1; i < kind.vcpus; ++i) {
    const std::string part = scope + "/libvirt/" + (i < 0 ? "emulator" : "vcpu" + std::to_string(i));
    ::close(make_group(part));
    std::ofstream type(part + "/cgroup.type");
    type << "threaded" << std::flush;
    if (!type) fail(part);
  }
  if (start_in(domain) == 0) become_vm(scope + "/libvirt", text, active, ready, kind);
  ::close(domain);
}

void start_vms(const std::string& directory, long vms, long active, const Kind& kind) {
  int ready[2];
  if (::pipe(ready) != 0) fail("pipe");
  for (long i = 0; i < vms; ++i) start_vm(directory, i + 1, i < active, ready[1], kind);
  ::close(ready[1]);
  char byte = 0;
  for (long i = 0; i < vms; ++i) {
    if (::read(ready[0], &byte, 1) != 1) fail(kind.qemu);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const bool vms = count == 7 && std::string(arguments[2]) == "machines";
  if (count != 5 && !vms) {
    std::fprintf(
        stderr,
        "usage: bench_load DIRECTORY PROCESSES GROUPS ACTIVE | DIRECTORY machines N ACTIVE QEMU VCPUS\n");
    return 2;
  }
  // The parent gets the same signal, like all processes of a terminal, and ends this one in order.
  for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_IGN);
  const std::string directory = arguments[1];
  ::close(make_group(directory));
  if (vms) {
    start_vms(directory, std::atol(arguments[3]), std::atol(arguments[4]),
              {.qemu = arguments[5], .vcpus = std::atoi(arguments[6])});
  } else {
    start_processes(directory, std::atol(arguments[2]), std::atol(arguments[3]), std::atol(arguments[4]));
  }
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  end();
}
