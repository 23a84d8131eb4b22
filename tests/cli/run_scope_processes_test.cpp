// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/run/scope_processes.h"

namespace keplerd::cli::run {
namespace {

class ScopeProcesses : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "keplerd-scope-XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void group(const std::string& path, std::string_view processes) const {
    std::filesystem::create_directories(root_ + path);
    std::ofstream(root_ + path + "/cgroup.procs") << processes;
    std::ofstream(root_ + path + "/cgroup.controllers") << "4711\n";
  }

  std::string root_;
};

TEST_F(ScopeProcesses, TheOneThatHoldsTheScopeDoesNotCount) {
  group("", "12\n");
  EXPECT_EQ(find_process(root_, 12), std::nullopt);
  EXPECT_EQ(find_process(root_, 1), 12);
  group("", "12\n13\n14\n");
  EXPECT_EQ(find_process(root_, 12), 13);
  EXPECT_EQ(find_process(root_, 13), 12);
}

TEST_F(ScopeProcesses, ThoseInGroupsBelowCount) {
  group("", "12\n");
  group("/a", "");
  group("/b/c", "77\n");
  EXPECT_EQ(find_process(root_, 12), 77);
}

TEST_F(ScopeProcesses, AScopeThatIsGoneIsEmpty) {
  EXPECT_EQ(find_process(root_ + "/gone", 12), std::nullopt);
}

TEST_F(ScopeProcesses, OneOfAnotherNamespaceCounts) {
  group("", "0\n12\n");
  EXPECT_EQ(find_process(root_, 12), 0);
}

TEST(Cgroup2Path, IsThatOfTheUnifiedHierarchy) {
  EXPECT_EQ(cgroup2_path("0::/user.slice/a.scope\n"), "/user.slice/a.scope");
  EXPECT_EQ(cgroup2_path("2:cpu:/x\n1:name=systemd:/y\n0::/a.scope\n"), "/a.scope");
  EXPECT_EQ(cgroup2_path("1:name=systemd:/y\n"), "");
  EXPECT_EQ(cgroup2_path(""), "");
}

TEST(ScopeDirectory, IsOfThatScopeAlone) {
  const auto directory = scope_directory(::getpid(), "not-of-this-test.scope");
  ASSERT_FALSE(directory.ok());
  EXPECT_NE(directory.error().message.find(", not the scope"), std::string::npos)
      << directory.error().message;
}

}  // namespace
}  // namespace keplerd::cli::run
