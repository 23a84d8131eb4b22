// SPDX-License-Identifier: Apache-2.0
// Saving while the disk hangs: a FIFO in place of the new state file blocks opening it for writing.
#include "daemon/state_keeper.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "config/settings.h"
#include "ledger/state_file.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Saving : public testing::Test {
 protected:
  Saving() {
    std::string name = testing::TempDir() + "keplerd-saving-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) directory = name;
    sd_event_new(&loop);
    keeper = std::make_unique<StateKeeper>(host, *lock(), EnergySettings{});
  }
  ~Saving() override {
    keeper.reset();
    sd_event_unref(loop);
    fs::remove_all(directory);
  }

  Result<StateDirectory> lock() const {
    return lock_state_directory(directory, [](const std::string& message) { FAIL() << message; });
  }
  void hang_disk() { ASSERT_EQ(::mkfifo(unfinished().c_str(), 0600), 0); }
  // The hanging save continues, and fails: a FIFO cannot be synced.
  void release_disk() {
    std::ifstream fifo(unfinished());
    while (fifo.get() != std::ifstream::traits_type::eof()) continue;
  }
  static LedgerState state(Realtime saved) {
    LedgerState state;
    state.instance_id = "i";
    state.saved = saved;
    return state;
  }
  fs::path file() const { return directory / "ledger.json"; }
  fs::path unfinished() const { return directory / "ledger.json.new"; }
  std::optional<LedgerState> saved() const {
    auto loaded = load_state(file());
    return loaded ? loaded->state : std::nullopt;
  }

  fs::path directory;
  FakeHost files;
  HostRoot host = files.open();
  sd_event* loop = nullptr;
  std::unique_ptr<StateKeeper> keeper;
};

TEST_F(Saving, InTheBackgroundIsComplete) {
  keeper->save_in_background(loop, state(Realtime(5)));
  while (!fs::exists(file())) sd_event_run(loop, UINT64_MAX);
  ASSERT_TRUE(saved());
  EXPECT_EQ(saved()->saved, Realtime(5));
  EXPECT_FALSE(saved()->clean);
}

TEST_F(Saving, AtTheEndWaitsForTheOneUnderWay) {
  for (int i = 1; i <= 20; ++i) {
    keeper->save_in_background(loop, state(Realtime(i)));
    keeper->save(state(Realtime(100 + i)), true);
    ASSERT_TRUE(saved());
    EXPECT_EQ(saved()->saved, Realtime(100 + i));
    EXPECT_TRUE(saved()->clean);
    EXPECT_FALSE(fs::exists(unfinished()));
  }
}

TEST_F(Saving, OnADiskThatHangsHoldsNothingUpAndHasOneWriter) {
  hang_disk();
  keeper->save_in_background(loop, state(Realtime(1)));
  while (sd_event_run(loop, 0) > 0) continue;
  testing::internal::CaptureStdout();
  for (int i = 2; i <= 4; ++i) keeper->save_in_background(loop, state(Realtime(i)));
  const std::string once = testing::internal::GetCapturedStdout();
  EXPECT_NE(once.find("totals cannot be saved: the last save has not ended yet"), once.npos) << once;
  EXPECT_EQ(once.find("totals"), once.rfind("totals")) << once;

  testing::internal::CaptureStdout();
  keeper->save(state(Realtime(5)), true, 0ns);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("totals are not saved: "), std::string::npos);
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_TRUE(fs::is_fifo(unfinished()));

  release_disk();
  testing::internal::CaptureStdout();
  keeper->save(state(Realtime(6)), true, 1h);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("totals are saved again"), std::string::npos);
  ASSERT_TRUE(saved());
  EXPECT_EQ(saved()->saved, Realtime(6));
}

TEST_F(Saving, KeepsTheDirectoryLockedUntilTheLastWriterIsGone) {
  const auto refused = lock();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, directory.string() + ": another keplerd uses this state directory");
  hang_disk();
  keeper->save_in_background(loop, state(Realtime(1)));
  keeper.reset();
  EXPECT_FALSE(lock().ok()) << "the save that hangs may still write";
  release_disk();
  while (!lock()) continue;
}

TEST_F(Saving, WhereWhatWasSavedCannotBeReadIsAProblem) {
  EXPECT_FALSE(keeper->problem());
  fs::create_directory(file());
  keeper->restore(Realtime(1));
  ASSERT_TRUE(keeper->problem());
  EXPECT_TRUE(keeper->problem()->starts_with("totals are not saved: ")) << *keeper->problem();
}

TEST_F(Saving, InADirectoryThatIsNoneGoesWithoutALock) {
  static std::string warning;
  std::ofstream(directory / "file") << "x";
  const auto warn = [](const std::string& message) { warning = message; };
  const auto unlocked = lock_state_directory(directory / "file", warn);
  ASSERT_TRUE(unlocked.ok());
  EXPECT_FALSE(unlocked->lock);
  EXPECT_EQ(warning, "state directory not locked: " + (directory / "file").string() + ": Not a directory");
}

}  // namespace
}  // namespace keplerd
