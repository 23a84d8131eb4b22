// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/groups.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"
#include "host/host_root.h"
#include "meters/resctrl/counter_value.h"

namespace keplerd::resctrl {
namespace {

std::string full(const std::string& path) {
  return path.empty() ? std::string(kRoot) : fmt::format("{}/{}", kRoot, path);
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  return names;
}

Result<Count> read_counter(const HostRoot& host, const std::string& directory, const char* name,
                           Result<Count> (*parse)(std::string_view)) {
  std::array<char, 64> buffer;
  const std::string path = directory + "/" + name;
  const auto text = read_file(host.sysfs(), path.c_str(), buffer);
  if (!text) return text.error();
  auto value = parse(*text);
  if (value) return value;
  return Error{.message = "/sys/" + escape_name(path) + ": " + value.error().message};
}

Result<Amount> read_traffic(const HostRoot& host, const std::string& directory) {
  const auto all = read_counter(host, directory, "mbm_total_bytes", parse_bytes);
  if (!all) return all.error();
  const auto local = read_counter(host, directory, "mbm_local_bytes", parse_bytes);
  if (local) return Amount{*all, std::min(*local, *all)};
  if (is_gone(local.error())) return Amount{*all, *all};
  return local.error();
}

Result<Amount> read_energy(const HostRoot& host, const std::string& directory) {
  const auto energy = read_counter(host, directory, "core_energy", parse_joules);
  if (!energy) return energy.error();
  return Amount{*energy, *energy};
}

// Something of which nothing is counted, such as a cache with "llc_occupancy" alone, is left out.
void add(int id, Result<Amount> amount, Amounts& amounts) {
  if (amounts.size() == kMostDomains || (!amount && is_gone(amount.error()))) return;
  amounts.emplace(id, std::move(amount));
}

Result<Done> read_values(const HostRoot& host, Group& group) {
  const std::string data = full(group.path) + "/mon_data";
  const auto names = list_directory(host.sysfs(), data.c_str());
  if (!names) return names.error();
  for (const std::string& name : sorted(*names)) {
    const std::string directory = data + "/" + name;
    if (const auto cache = parse_cache(name)) add(*cache, read_traffic(host, directory), group.caches);
    if (const auto package = parse_package(name)) add(*package, read_energy(host, directory), group.packages);
  }
  return Done{};
}

std::optional<int> number_after(std::string_view prefix, std::string_view name) {
  if (!take_prefix(name, prefix)) return std::nullopt;
  const auto id = parse_number<int>(name);
  return id && *id >= 0 ? id : std::nullopt;
}

// The monitoring groups in a group: their names and identities.
std::vector<std::pair<std::string, std::uint64_t>> groups_inside(const HostRoot& host,
                                                                 const std::string& inside) {
  std::vector<std::pair<std::string, std::uint64_t>> groups;
  const auto names = list_subdirectories(host.sysfs(), full(inside).c_str());
  if (!names) return groups;
  for (const std::string& name : sorted(*names)) {
    const auto id = read_identity(host.sysfs(), full(inside + "/" + name).c_str());
    groups.emplace_back(name, id ? *id : 0);
  }
  return groups;
}

class Reader {
 public:
  explicit Reader(const HostRoot& host) : host_(host) {}

  Result<std::vector<Group>> read() {
    const auto names = list_subdirectories(host_.sysfs(), kRoot);
    if (!names && !is_gone(names.error())) return Error{.message = "/sys/" + names.error().message};
    if (!names || names->empty())
      return Error{.message = fmt::format("/sys/{}: resctrl is not mounted", kRoot)};
    if (!add("") && problem_) return *problem_;
    if (groups_.empty() || (groups_.front().caches.empty() && groups_.front().packages.empty()))
      return Error{
          .message = fmt::format(
              "/sys/{}: the processor counts neither the traffic of memory nor the energy of cores", kRoot)};
    for (const std::string& name : sorted(*names))
      if (name != "info" && name != "mon_data" && name != "mon_groups") add(name);
    if (problem_) return *problem_;
    if (is_full_)
      return Error{.message = fmt::format("/sys/{}: there are more than {} groups", kRoot, kMostGroups)};
    return std::move(groups_);
  }

 private:
  // Adds a group, and the monitoring groups in it; false if there is none. If one of these is removed or
  // replaced between the readings of both, the value of the outer one contains it, and says nothing.
  bool add(const std::string& path) {
    const std::string inside = path.empty() ? "mon_groups" : path + "/mon_groups";
    const auto before = groups_inside(host_, inside);
    const std::size_t outer = groups_.size();
    const auto id = add_one(path, 0);
    if (!id) return false;
    for (const auto& [name, identity] : before) add_one(fmt::format("{}/{}", inside, name), *id);
    if (groups_inside(host_, inside) == before && groups_.size() == outer + 1 + before.size()) return true;
    for (const Counted& counted : kCounted)
      for (auto& [domain, amount] : groups_[outer].*counted.amounts)
        amount = Error{.message = fmt::format("/sys/{}: groups were removed or created while they were read",
                                              full(inside))};
    return true;
  }

  std::optional<std::uint64_t> add_one(const std::string& path, std::uint64_t parent) {
    const auto id = read_identity(host_.sysfs(), full(path).c_str());
    is_full_ = is_full_ || groups_.size() == kMostGroups;
    Group group{.id = id ? *id : 0, .parent = parent, .path = path};
    if (!id || is_full_) return std::nullopt;
    if (const auto values = read_values(host_, group); !values) {
      if (!is_gone(values.error()) && !problem_)
        problem_ = Error{.message = "/sys/" + values.error().message};
      return std::nullopt;
    }
    groups_.push_back(std::move(group));
    return *id;
  }

  const HostRoot& host_;
  std::vector<Group> groups_;
  bool is_full_ = false;
  std::optional<Error> problem_;  // of a group that exists: without it, the count of all is not known
};

}  // namespace

bool is_gone(const Error& error) {
  return error.code == ENOENT || error.code == ENODEV || error.code == ESRCH;
}

std::optional<int> parse_cache(std::string_view name) { return number_after("mon_L3_", name); }

std::optional<int> parse_package(std::string_view name) { return number_after("mon_PERF_PKG_", name); }

Result<std::vector<Group>> read_groups(const HostRoot& host) { return Reader(host).read(); }

}  // namespace keplerd::resctrl
