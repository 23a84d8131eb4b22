// SPDX-License-Identifier: Apache-2.0
// A written resctrl tree, with the values that the kernel would show: those of a control group include its
// monitoring groups'.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/fake_host.h"

namespace keplerd::resctrl {

class Tree {
 public:
  explicit Tree(FakeHost& fake, int caches = 1) : fake_(fake), caches_(caches) { add(""); }

  static std::string full(const std::string& path) {
    return "sys/fs/resctrl" + (path.empty() ? "" : "/" + path);
  }

  // "web", "web/mon_groups/db", "mon_groups/vm"
  void add(const std::string& path) {
    if (path.find("mon_groups/") == std::string::npos)
      std::filesystem::create_directories(directory(path) + "/mon_groups");
    set_tasks(path, {});
    for (int cache = 0; cache < caches_; ++cache) set(path, cache, "0", "0");
  }
  void remove(const std::string& path) { std::filesystem::remove_all(directory(path)); }
  void rename(const std::string& path, const std::string& to) {
    std::filesystem::rename(directory(path), directory(to));
  }
  void set(const std::string& path, int cache, const std::string& total, const std::string& local) {
    const std::string data = fmt::format("{}/mon_data/mon_L3_{:02}/", full(path), cache);
    fake_.write(data + "llc_occupancy", "0\n");
    fake_.write(data + "mbm_total_bytes", total + "\n");
    fake_.write(data + "mbm_local_bytes", local + "\n");
  }
  void set(const std::string& path, std::int64_t total) {
    set(path, 0, std::to_string(total), std::to_string(total));
  }
  void set_energy(const std::string& path, int package, const std::string& joules) {
    fake_.write(fmt::format("{}/mon_data/mon_PERF_PKG_{:02}/core_energy", full(path), package),
                joules + "\n");
  }
  void set_energy(const std::string& path, std::int64_t microjoules) {
    set_energy(path, 0, fmt::format("{}.{:06}", microjoules / 1'000'000, microjoules % 1'000'000));
  }
  void set_tasks(const std::string& path, const std::vector<int>& threads) {
    fake_.write(full(path) + "/tasks", lines(threads));
  }
  static std::string lines(const std::vector<int>& threads) {
    std::string text;
    for (const int thread : threads) text += std::to_string(thread) + "\n";
    return text;
  }

 private:
  std::string directory(const std::string& path) const { return fake_.paths().sysfs + full(path).substr(3); }

  FakeHost& fake_;
  int caches_;
};

// A process of one thread in a cgroup; its cgroup.threads is to be written.
inline void add_thread(FakeHost& fake, int thread, const std::string& cgroup) {
  fake.add_process({.pid = thread, .cgroup = cgroup});
}

}  // namespace keplerd::resctrl
