// SPDX-License-Identifier: Apache-2.0
// The host loses power while SQLite writes: what may be on the disk then is copied at each synchronisation,
// and each copy must be a history that adds up, with everything that was reported as written.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "history/recorded_host.h"

namespace {

// Called with the file that is about to be synchronised.
std::function<void(const std::filesystem::path& file)>& on_sync() {
  static std::function<void(const std::filesystem::path&)> called;
  return called;
}

int synchronise(int file, long call) {
  if (on_sync()) on_sync()(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file)));
  return static_cast<int>(::syscall(call, file));
}

}  // namespace

// Instead of those of the C library, also for SQLite.
extern "C" {
int fdatasync(int file) { return synchronise(file, SYS_fdatasync); }
int fsync(int file) { return synchronise(file, SYS_fsync); }
}

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class PowerLoss : public RecordedHost {
 protected:
  PowerLoss() {
    on_sync() = [this](const fs::path& file) { lose_power(file); };
  }
  ~PowerLoss() override { on_sync() = {}; }

  // What is known of a moment at which the power is lost.
  struct Loss {
    fs::path directory;           // with the files
    std::optional<Time> written;  // the reading that was reported as written
  };

  // Before `file` is synchronised, the disk has all that was written to it, nothing of it, or a part.
  void lose_power(const fs::path& file) {
    const auto written = recorder ? recorder->store().baseline() : std::nullopt;
    const auto add = [&] {
      losses.push_back({directory / ("loss-" + std::to_string(losses.size())), {}});
      if (written) losses.back().written = written->time;
      fs::create_directory(losses.back().directory);
      for (const char* const suffix : {"", "-wal", "-shm"}) {
        if (fs::exists(path + suffix)) fs::copy_file(path + suffix, copy_of(suffix));
      }
    };
    add();
    if (file == path + "-wal") {
      const auto size = fs::file_size(file), before = std::min(synced_[file], size);
      for (const unsigned quarter : {1, 2, 3}) {
        add();
        fs::resize_file(copy_of("-wal"), before + (size - before) * quarter / 4);
      }
      synced_[file] = size;
    } else if (file == path) {
      if (fs::exists(directory / "synced")) {
        add();
        fs::copy_file(directory / "synced", copy_of(""), fs::copy_options::overwrite_existing);
      }
      fs::copy_file(path, directory / "synced", fs::copy_options::overwrite_existing);
      synced_[path + "-wal"] = 0;  // it may be begun again
    }
  }
  std::string copy_of(const std::string& suffix) const {
    return losses.back().directory / ("history.sqlite" + suffix);
  }

  void expect_sums() {
    EXPECT_EQ(count("SELECT count(*) FROM spans AS whole WHERE EXISTS (SELECT 1 FROM spans WHERE part_of = "
                    "whole.number AND whole.step > 2) AND (idle, workloads, recorded) <> (SELECT sum(idle), "
                    "sum(workloads), sum(recorded) FROM spans WHERE part_of = whole.number)"),
              0);
    Statement spans = recorder->store().database().prepare("SELECT number, workloads FROM spans");
    while (spans.step()) {
      std::int64_t sum = 0;
      for (const auto& [workload, amounts] : energies_of(spans.integer(0))) sum += amounts.energy().value;
      EXPECT_EQ(sum, spans.integer(1));
    }
  }

  std::vector<Loss> losses;
  std::map<fs::path, std::uintmax_t> synced_;  // so much of the log was synchronised
};

TEST_F(PowerLoss, WhateverIsOnTheDiskAddsUp) {
  const Microjoules begun = accounts.energy();
  recorder->store().database().run("PRAGMA wal_autocheckpoint = 20");  // often, also into the file
  read();
  for (int i = 0; i < 40; ++i) run(5, "/unit-" + std::to_string(i % 9) + ".service");
  on_sync() = {};
  ASSERT_GT(losses.size(), 100U);
  const std::string original = path;
  std::size_t checkpoints = 0;
  for (const Loss& loss : losses) {
    SCOPED_TRACE(loss.directory);
    path = loss.directory / "history.sqlite";
    open();
    if (HasFatalFailure()) return;
    EXPECT_EQ(set_aside, "") << "it is not damaged";
    const auto baseline = recorder->store().baseline();
    EXPECT_GE(baseline ? baseline->time : Time{0}, loss.written.value_or(Time{0}))
        << "what was written is there";
    if (!baseline) continue;
    const Span all{baseline->time - 24h, baseline->time + 24h};
    EXPECT_EQ(summary(all).accounts.energy(), baseline->accounts.energy() - begun) << "nothing twice or lost";
    expect_sums();
    read();  // keplerd has counted on
    recorder->flush();
    EXPECT_EQ(summary({all.start, now + 24h}).accounts.energy(), accounts.energy() - begun);
    checkpoints += fs::file_size(path) > 4096 ? 1U : 0U;
  }
  EXPECT_GT(checkpoints, 10U);
  path = original;
}

}  // namespace
}  // namespace keplerd::history
