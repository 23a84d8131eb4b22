// SPDX-License-Identifier: Apache-2.0
// qemu-system-x86_64 [OPTION]...: imitates a QEMU started by libvirt, for programs that read cgroups, command
// lines and threads; it runs no guest. bench_load starts it, with these in its environment:
//   BENCH_CGROUP  the domain's cgroup, where "emulator", "vcpu0" and so on are
//   BENCH_VCPUS   how many
//   BENCH_WORK    a number if they are to work; the load's number of the machine
//   BENCH_READY   the descriptor that gets a byte when all is as it is to be
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#include "live.h"

namespace {

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// Moves the calling thread to a cgroup of the domain.
void move_to(const std::string& part) {
  std::ofstream file(variable("BENCH_CGROUP") + "/" + part + "/cgroup.threads");
  file << ::gettid() << std::flush;
  if (file) return;
  std::perror(part.c_str());
  std::exit(1);
}

[[noreturn]] void run_vcpu(int number, int ready) {
  ::pthread_setname_np(::pthread_self(), ("CPU " + std::to_string(number) + "/KVM").c_str());
  move_to("vcpu" + std::to_string(number));
  if (::write(ready, ".", 1) != 1) std::exit(1);
  const std::string work = variable("BENCH_WORK");
  live(!work.empty(), std::atol(work.c_str()) + number);
}

}  // namespace

int main() {
  const int vcpus = std::atoi(variable("BENCH_VCPUS").c_str());
  int started[2];
  if (::pipe(started) != 0) return 1;
  move_to("emulator");
  for (int i = 0; i < vcpus; ++i) std::thread(run_vcpu, i, started[1]).detach();
  char byte = 0;
  for (int i = 0; i < vcpus; ++i) {
    if (::read(started[0], &byte, 1) != 1) return 1;
  }
  const int ready = std::atoi(variable("BENCH_READY").c_str());
  if (::write(ready, ".", 1) != 1) return 1;
  ::close(ready);
  live(false, 0);
}
