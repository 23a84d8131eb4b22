// SPDX-License-Identifier: Apache-2.0
// A host whose keplerd is killed, and goes on from the write-ahead log.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "daemon/meter_host.h"
#include "daemon/state_keeper.h"

namespace keplerd {

class WriteAhead : public testing::Test {
 protected:
  WriteAhead() {
    host.files.write("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
    std::string name = testing::TempDir() + "keplerd-log-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) directory = name;
  }
  ~WriteAhead() override { std::filesystem::remove_all(directory); }

  // In the daemon's order: the first sample, then a save, then what is published is in the log.
  void begin() {
    keeper = std::make_unique<StateKeeper>(host.files.open(), StateDirectory{directory, nullptr},
                                           EnergySettings{}, directory);
    auto restored = keeper->restore(Realtime(5));
    host.resume_from = std::move(restored.usage);
    restored.ledger.set_limits(limits);
    host.begin({}, std::move(restored.ledger), restored.readings);
    log();
    keeper->save(host.meter().state(), false);
  }
  void log() { keeper->log(host.meter().ledger(), host.meter().readings(), host.meter().changed_usage()); }
  const Report& step() {
    const Report& report = host.step();
    log();
    return report;
  }
  // A second of 10 J active and 10 J idle; all of it for `unit`, half of that for process 10.
  void work(const std::string& unit, int& seconds) {
    host.draw(20'000'000);
    ++seconds;
    host.files.set_cgroup_usage(unit, static_cast<std::uint64_t>(seconds) * 100'000);
    if (has_process) host.files.set_process_time(10, static_cast<std::uint64_t>(seconds) * 5);
    step();
  }
  void add_process(const std::string& unit) {
    host.files.add_process({.pid = 10, .cgroup = unit});
    has_process = true;
  }

  std::filesystem::path state_file() const { return directory / "ledger.json"; }
  std::filesystem::path log_file() const { return directory / "ledger.log"; }
  std::string log_text() const {
    std::ostringstream text;
    text << std::ifstream(log_file(), std::ios::binary).rdbuf();
    return text.str();
  }

  MeterHost host;
  std::filesystem::path directory;
  std::unique_ptr<StateKeeper> keeper;
  bool has_process = false;
  TerminatedLimits limits;
};

}  // namespace keplerd
