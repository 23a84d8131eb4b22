// SPDX-License-Identifier: Apache-2.0
#include "usage/thread_cpus.h"

#include <array>
#include <bit>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu_list.h"
#include "base/parse.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostCpus = 8192;  // CONFIG_NR_CPUS is at most this
constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);

}  // namespace

std::vector<int> parse_allowed_cpus(std::string_view status) {
  while (!status.empty()) {
    std::string_view line = take_until(status, '\n');
    if (take_prefix(line, "Cpus_allowed_list:")) return parse_cpu_list(line).value_or(std::vector<int>{});
  }
  return {};
}

std::vector<int> cpus_of_mask(std::span<const unsigned long> mask) {
  std::vector<int> cpus;
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (unsigned long rest = mask[word]; rest != 0; rest &= rest - 1)
      cpus.push_back(static_cast<int>(word * kWordBits) + std::countr_zero(rest));
  }
  return cpus;
}

std::vector<int> read_affinity(std::int32_t tid) {
  std::array<unsigned long, kMostCpus / kWordBits> mask;
  // Not glibc's wrapper, which also clears the rest of the mask: the kernel returns how many bytes it has
  // written.
  const long bytes = ::syscall(SYS_sched_getaffinity, tid, sizeof mask, mask.data());
  if (bytes < 0) return {};
  return cpus_of_mask(std::span(mask).first(static_cast<std::size_t>(bytes) / sizeof mask[0]));
}

std::vector<int> read_thread_cpus(const HostRoot& host, std::int32_t tid, const std::string& directory) {
  if (host.has_own_procfs()) return read_affinity(tid);
  std::array<char, 8192> buffer;
  const auto status = read_beginning(host.procfs(), (directory + "/status").c_str(), buffer);
  return status ? parse_allowed_cpus(*status) : std::vector<int>{};
}

}  // namespace keplerd
