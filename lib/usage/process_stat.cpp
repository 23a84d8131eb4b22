// SPDX-License-Identifier: Apache-2.0
#include "usage/process_stat.h"

#include <array>

#include "base/parse.h"
#include "usage/cpu_ticks.h"

namespace keplerd {
namespace {

constexpr std::uint64_t kKernelThreadFlag = 0x00200000;  // PF_KTHREAD, linux/sched.h
constexpr std::int32_t kKernelThreadDaemon = 2;          // kthreadd, the parent of all other kernel threads

// Fields after the name: numbered as in the manual page, minus 3.
enum {
  kState,
  kParent,
  kFlags = 6,
  kUserTime = 11,
  kSystemTime = 12,
  kStart = 19,
  kVirtualSize = 20,
  kFields = 21
};

// So that the sum of two still fits into nanoseconds: 146 years of one CPU.
constexpr std::int64_t kMostTicks = INT64_MAX / 2 / kTick.count();

}  // namespace

Result<ProcessStat> parse_process_stat(std::string_view stat) {
  // The name is in parentheses and may contain any byte, even parentheses and newlines: the last parenthesis
  // ends it.
  const auto open = stat.find('(');
  const auto close = stat.rfind(')');
  const Error malformed{"/proc/PID/stat: malformed"};
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return malformed;

  std::array<std::string_view, kFields> fields;
  std::string_view rest = trim(stat.substr(close + 1));
  for (auto& field : fields) field = take_word(rest);

  const auto pid = parse_number<std::int32_t>(trim(stat.substr(0, open)));
  const auto parent = parse_number<std::int32_t>(fields[kParent]);
  const auto flags = parse_number<std::uint64_t>(fields[kFlags]);
  const auto user = parse_number<std::int64_t>(fields[kUserTime]);
  const auto system = parse_number<std::int64_t>(fields[kSystemTime]);
  const auto start = parse_number<std::uint64_t>(fields[kStart]);
  const auto size = parse_number<std::uint64_t>(fields[kVirtualSize]);
  if (!pid || !parent || !flags || !user || !system || !start || !size) return malformed;
  if (*pid <= 0 || *user < 0 || *system < 0 || *user > kMostTicks || *system > kMostTicks) return malformed;

  const bool child_of_daemon = *parent == kKernelThreadDaemon && *size == 0;
  return ProcessStat{.id = {*pid, *start},
                     .parent = *parent,
                     .comm = std::string(stat.substr(open + 1, close - open - 1)),
                     .kernel_thread = (*flags & kKernelThreadFlag) != 0 || child_of_daemon,
                     .usage = (*user + *system) * kTick};
}

// "Uid:\t1000\t1000\t1000\t1000": real, effective, saved, file system. The name precedes it on a line of its
// own, with its newlines escaped.
std::optional<ProcessUsers> parse_process_users(std::string_view status) {
  while (!status.empty()) {
    std::string_view line = take_until(status, '\n');
    if (take_word(line) != "Uid:") continue;
    const auto real = parse_number<std::uint32_t>(take_word(line));
    const auto effective = parse_number<std::uint32_t>(take_word(line));
    if (!real || !effective) return std::nullopt;
    return ProcessUsers{*real, *effective};
  }
  return std::nullopt;
}

std::string_view parse_process_cgroup(std::string_view text) {
  constexpr std::string_view kUnified = "0::";
  constexpr std::string_view kDeleted = " (deleted)";
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (!line.starts_with(kUnified)) continue;
    line.remove_prefix(kUnified.size());
    if (line.ends_with(kDeleted)) line.remove_suffix(kDeleted.size());
    return line;
  }
  return {};
}

}  // namespace keplerd
