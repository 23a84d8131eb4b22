// SPDX-License-Identifier: Apache-2.0
#include "workloads/vm_part.h"

#include <tuple>

#include "base/parse.h"
#include "workloads/identifier.h"

namespace keplerd {
namespace {

constexpr std::string_view kVcpu = "vcpu";

// Splits "vcpu10" into "vcpu" and "10".
std::pair<std::string_view, std::string_view> split_number(std::string_view name) {
  const auto last = name.find_last_not_of("0123456789");
  const std::size_t at = last == name.npos ? 0 : last + 1;
  return {name.substr(0, at), name.substr(at)};
}

}  // namespace

std::string vm_part_of_cgroup(std::string_view cgroup) {
  return std::string(cgroup == "other" ? "emulator" : cgroup);  // that word is reserved
}

std::string vm_part_of_thread(std::string_view comm) {
  if (comm.starts_with("CPU ")) {
    std::string_view rest = comm.substr(4);
    const std::string_view number = take_until(rest, '/');
    if (is_digits(number) && !rest.empty()) return std::string(kVcpu) + std::string(number);
  }
  if (comm.starts_with("IO ") && comm.size() > 3) return "iothread:" + std::string(comm.substr(3));
  if (comm.starts_with("vhost-") && is_digits(comm.substr(6))) return "vhost";
  return "emulator";
}

bool is_vcpu(std::string_view part) {
  return part.starts_with(kVcpu) && is_digits(part.substr(kVcpu.size()));
}

bool PartOrder::operator()(std::string_view a, std::string_view b) const {
  const auto [a_name, a_number] = split_number(a);
  const auto [b_name, b_number] = split_number(b);
  return std::tuple(a_name, a_number.size(), a_number) < std::tuple(b_name, b_number.size(), b_number);
}

}  // namespace keplerd
