// SPDX-License-Identifier: Apache-2.0
// Meters of guests in a directory of their own.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/publish/guest_trees.h"

namespace keplerd {

inline constexpr char kWeb[] = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01";
inline constexpr char kDb[] = "7f1c8b1e-0000-4000-8000-00000000000a";

class GuestTreesTest : public testing::Test {
 protected:
  struct Machine {
    std::string id, name;
    std::int64_t package = 0, dram = 0;  // microjoules
    int sockets = 1;
    bool running = true;
  };

  GuestTreesTest() {
    std::string name = std::filesystem::temp_directory_path() / "keplerd-guests-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    base = name;
    start({"all"});
  }
  ~GuestTreesTest() override {
    trees.reset();
    std::filesystem::remove_all(base);
  }

  void start(std::vector<std::string> chosen) {
    trees =
        std::make_unique<GuestTrees>(GuestSettings{.vms = std::move(chosen), .directory = base / "guests"},
                                     [this](const std::string& line) { complaints.push_back(line); });
  }

  // A report this much later than the previous one.
  void publish(Nanoseconds later = std::chrono::seconds(10)) {
    now += later;
    Report report;
    report.monotonic = now;
    report.workload_quality = quality;
    report.zones = {{.zone = {.id = "p", .name = "package", .in_total = true}},
                    {.zone = {.id = "c", .name = "core"}}};
    if (has_dram) report.zones.push_back({.zone = {.id = "d", .name = "dram", .in_total = true}});
    report.shares.reserve(vms.size() * 3);
    for (const Machine& vm : vms) {
      VmRow& row = report.vms.emplace_back();
      auto info = std::make_shared<VmInfo>();
      info->id = vm.id;
      info->name = vm.name;
      info->cpu_sockets = vm.sockets;
      row.info = std::move(info);
      row.running = vm.running;
      const std::size_t first = report.shares.size();
      report.shares.push_back({.energy = {vm.package}});
      report.shares.push_back({.energy = {999'000'000}});
      if (has_dram) report.shares.push_back({.energy = {vm.dram}});
      row.zones = std::span(report.shares).subspan(first);
    }
    trees->update(report);
  }

  std::filesystem::path tree(const std::string& id = kWeb) const { return base / "guests" / id; }
  std::string read(const std::string& path, const std::string& id = kWeb) const {
    std::ifstream file(tree(id) / path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::set<std::string> names(const std::filesystem::path& directory) {
    std::set<std::string> found;
    if (!std::filesystem::exists(directory)) return found;
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      found.insert(entry.path().filename());
    return found;
  }

  std::filesystem::path base;
  std::unique_ptr<GuestTrees> trees;
  std::vector<std::string> complaints;
  std::vector<Machine> vms = {{.id = kWeb, .name = "web", .package = 7'999'999, .dram = 2'000'000}};
  Quality quality = Quality::kAttributed;
  bool has_dram = true;
  Nanoseconds now = std::chrono::hours(1);
};

}  // namespace keplerd
