// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/threads.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "meters/resctrl/groups.h"

namespace keplerd::resctrl {
namespace {

constexpr std::size_t kMostVisited = 20'000;

void collect(int root, const std::string& path, std::size_t& left, std::set<std::int32_t>& found) {
  if (left == 0) return;
  --left;
  if (const auto text = read_text(root, (path + "/cgroup.threads").c_str(), kLongestList)) {
    const auto threads = parse_threads(*text);
    found.insert(threads.begin(), threads.end());
  }
  const auto names = list_subdirectories(root, path.c_str());
  for (const std::string& name : names ? *names : std::vector<std::string>())
    collect(root, path + "/" + name, left, found);
}

}  // namespace

std::vector<std::int32_t> parse_threads(std::string_view text) {
  std::vector<std::int32_t> threads;
  while (!text.empty()) {
    const auto thread = parse_number<std::int32_t>(take_until(text, '\n'));
    if (thread && *thread > 0) threads.push_back(*thread);
  }
  std::ranges::sort(threads);
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

Result<std::vector<std::int32_t>> read_tasks(const HostRoot& host, const std::string& group) {
  const auto text = read_text(host.sysfs(), fmt::format("{}/{}/tasks", kRoot, group).c_str(), kLongestList);
  if (!text) return text.error();
  return parse_threads(*text);
}

Result<Membership> read_membership(const HostRoot& host, std::int32_t thread) {
  const std::string path = fmt::format("{}/cpu_resctrl_groups", thread);
  std::array<char, 1024> buffer;
  const auto text = read_file(host.procfs(), path.c_str(), buffer);
  if (!text) return Error{.message = "/proc/" + text.error().message, .code = text.error().code};
  std::string_view rest = *text;
  std::string_view control = take_until(rest, '\n'), monitoring = take_until(rest, '\n');
  if (!take_prefix(control, "res:") || control.empty() || !take_prefix(monitoring, "mon:"))
    return Error{.message = "/proc/" + path + ": no group", .code = EBADMSG};
  return Membership{std::string(control), std::string(monitoring)};
}

std::set<std::int32_t> threads_in(const HostRoot& host, const std::string& cgroup) {
  std::set<std::int32_t> found;
  std::size_t left = kMostVisited;
  if (const auto root = host.cgroupfs()) collect(*root, cgroup, left, found);
  return found;
}

}  // namespace keplerd::resctrl
