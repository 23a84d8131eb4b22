// SPDX-License-Identifier: Apache-2.0
#include "base/barrier.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

class Barrier : public testing::Test {
 protected:
  void SetUp() override {
    set_barrier_log(
        [this](const std::string& where, const std::string& what) { lines.push_back(where + ": " + what); });
  }
  void TearDown() override { set_barrier_log({}); }

  std::vector<std::string> lines;
};

TEST_F(Barrier, LetsThroughWhatDoesNotThrow) {
  bool called = false;
  EXPECT_TRUE(behind_barrier("sampling", [&] { called = true; }));
  EXPECT_TRUE(called);
  EXPECT_TRUE(lines.empty());
}

TEST_F(Barrier, StopsAnExceptionAndSaysWhere) {
  EXPECT_FALSE(behind_barrier("sampling", [] { throw std::out_of_range("map::at"); }));
  EXPECT_FALSE(behind_barrier("saving", [] { throw 7; }));
  EXPECT_EQ(lines, (std::vector<std::string>{"sampling: map::at", "saving: unknown exception"}));
}

TEST_F(Barrier, StopsThatOfItsOwnLogToo) {
  set_barrier_log([](const std::string&, const std::string&) { throw std::bad_alloc(); });
  EXPECT_FALSE(behind_barrier("sampling", [] { throw std::bad_alloc(); }));
}

}  // namespace
}  // namespace keplerd
