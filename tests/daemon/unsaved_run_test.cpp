// SPDX-License-Identifier: Apache-2.0
// A run that is killed before it has saved anything, and whose write-ahead log is of no use: what it has
// published is nobody's any more, so that the next one never goes on under the same instance id.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "daemon/write_ahead_host.h"
#include "ledger/state_file.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class UnsavedRun : public WriteAhead {
 protected:
  // 10 J of a.service are published, and saved.
  void begin_with_usage() {
    host.files.add_cgroup("/a.service", 0);
    add_process("/a.service");
    begin();
    work("/a.service", seconds_);
    first_ = instance();
  }
  void work_on() { work("/a.service", seconds_); }
  void end() { keeper->save(host.meter().state(), true); }

  void fill_disk() { fs::create_directory(in_the_way()); }
  void empty_disk() { fs::remove(in_the_way()); }

  std::string instance() { return host.meter().report()->instance_id; }
  fs::path unclean() const { return directory / "ledger.json.unclean"; }
  std::int64_t counted() const { return host.unit("/a.service").active.value; }

  std::string first_;  // instance id

 private:
  fs::path in_the_way() const { return directory / "ledger.json.new"; }

  int seconds_ = 0;
};

TEST_F(UnsavedRun, AfterAnOrderlyEndGoesOnAndIsGoneOnFrom) {
  begin_with_usage();
  end();
  fill_disk();
  begin();
  EXPECT_EQ(instance(), first_);
  EXPECT_TRUE(keeper->problem());
  work_on();
  begin();
  EXPECT_EQ(instance(), first_);
  EXPECT_EQ(counted(), 20'000'000);
  empty_disk();
  begin();
  EXPECT_EQ(instance(), first_);
  EXPECT_EQ(counted(), 20'000'000);
  EXPECT_FALSE(fs::exists(unclean()));
}

TEST_F(UnsavedRun, WithoutItsLogIsNotGoneOnFrom) {
  begin_with_usage();
  end();
  fill_disk();
  begin();
  work_on();
  fs::remove(log_file());
  begin();
  EXPECT_NE(instance(), first_);
  EXPECT_EQ(counted(), 10'000'000);
}

// On a read-only file system. What it published is of another instance, so that it is never taken for the end
// of the one before.
TEST_F(UnsavedRun, ThatCanMarkNothingHasAnotherInstanceAndSoHasTheNext) {
  begin_with_usage();
  end();
  fill_disk();
  fs::create_directories(unclean() / "in the way");
  fs::create_directory(directory / "ledger-earlier.json.new");
  begin();
  const std::string second = instance();
  EXPECT_NE(second, first_) << "after a power failure nothing would say that there was this run";
  work_on();
  begin();
  EXPECT_NE(instance(), first_);
  EXPECT_NE(instance(), second);
  empty_disk();
  begin();
  EXPECT_NE(instance(), first_) << "what it had ended with would be counted once more";
}

TEST_F(UnsavedRun, ThatCannotReadTheTotalsIsNotTheEndOfTheOneBefore) {
  begin_with_usage();
  fs::rename(state_file(), directory / "aside");
  fs::create_directory(state_file());
  begin();
  EXPECT_NE(instance(), first_);
  work_on();
  fs::remove(state_file());
  fs::rename(directory / "aside", state_file());
  begin();
  EXPECT_NE(instance(), first_);
}

// An earlier release has no log, and leaves ours where it is.
TEST_F(UnsavedRun, IsNotSeenInALogOfBeforeTheTotals) {
  begin_with_usage();
  end();
  LedgerState later = host.meter().state();
  later.saved += 1s;
  later.clean = true;
  later.boot_id = "11111111-2222-3333-4444-555555555555";
  ASSERT_TRUE(save_state(state_file(), later));
  begin();
  EXPECT_EQ(instance(), first_);
}

TEST_F(UnsavedRun, WhoseLogCannotBeContinuedRemovesIt) {
  begin_with_usage();
  const fs::path elsewhere = directory / "elsewhere";
  fs::rename(log_file(), elsewhere);
  fs::create_symlink(elsewhere, log_file());  // can be read, and not be written to
  fill_disk();
  begin();
  EXPECT_EQ(instance(), first_) << "what was in it has been counted";
  EXPECT_EQ(counted(), 10'000'000);
  EXPECT_FALSE(fs::is_symlink(log_file()));
  work_on();
  begin();
  EXPECT_NE(instance(), first_);
}

TEST_F(UnsavedRun, OfAnotherInstanceIsNotRedoneUnderTheOneBefore) {
  begin_with_usage();
  std::ofstream(directory / "ledger-earlier.json") << "damaged";
  fill_disk();
  begin();
  const std::string second = instance();
  ASSERT_NE(second, first_);
  work_on();
  begin();
  EXPECT_NE(instance(), first_);
  EXPECT_NE(instance(), second);
}

TEST_F(UnsavedRun, SaysThatItsLogWorksAgainOnceThereIsASaveThatItContinues) {
  begin_with_usage();
  fs::remove(log_file());
  fs::create_directory(log_file());
  begin();
  EXPECT_TRUE(keeper->problem());
  fs::remove(log_file());
  fill_disk();
  testing::internal::CaptureStdout();
  keeper->save(host.meter().state(), false);
  const std::string unsaved = testing::internal::GetCapturedStdout();
  EXPECT_EQ(unsaved.find("can be written again"), unsaved.npos) << unsaved;
  empty_disk();
  testing::internal::CaptureStdout();
  keeper->save(host.meter().state(), false);
  const std::string saved = testing::internal::GetCapturedStdout();
  EXPECT_NE(saved.find("the write-ahead log can be written again"), saved.npos) << saved;
  EXPECT_FALSE(keeper->problem());
}

TEST_F(UnsavedRun, ThatHasNotSampledYetKeepsWhatProcessesHad) {
  begin_with_usage();
  const auto before = *host.process(10);
  ASSERT_GT(before.active.value, 0);
  host.files.break_file("proc/stat");
  begin();
  ASSERT_EQ(host.process(10), nullptr) << "no window has been booked";
  ASSERT_FALSE(keeper->problem());
  host.files.remove("proc/stat");
  host.pass(1s);
  begin();
  EXPECT_EQ(instance(), first_);
  ASSERT_NE(host.process(10), nullptr);
  EXPECT_EQ(host.process(10)->active, before.active);
}

}  // namespace
}  // namespace keplerd
