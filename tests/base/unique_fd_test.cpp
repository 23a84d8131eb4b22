// SPDX-License-Identifier: Apache-2.0
#include "base/unique_fd.h"

#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFd, ClosesAtItsEnd) {
  const int fd = open_null();
  {
    const UniqueFd owner(fd);
    EXPECT_TRUE(owner);
    EXPECT_EQ(owner.get(), fd);
    EXPECT_TRUE(is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

TEST(UniqueFd, OwnsNothingByDefault) {
  const UniqueFd none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.get(), -1);
  EXPECT_FALSE(UniqueFd(-1));
}

TEST(UniqueFd, OwnsDescriptorZero) {
  UniqueFd zero(0);
  EXPECT_TRUE(zero);
  EXPECT_EQ(zero.release(), 0);
}

TEST(UniqueFd, MovesWithoutClosing) {
  const int fd = open_null();
  UniqueFd first(fd);
  UniqueFd second(std::move(first));
  EXPECT_FALSE(first);
  EXPECT_EQ(second.get(), fd);
  EXPECT_TRUE(is_open(fd));
}

TEST(UniqueFd, AssignmentClosesWhatItHeld) {
  const int old_fd = open_null();
  const int new_fd = open_null();
  UniqueFd owner(old_fd);
  owner = UniqueFd(new_fd);
  EXPECT_FALSE(is_open(old_fd));
  EXPECT_TRUE(is_open(new_fd));
  EXPECT_EQ(owner.get(), new_fd);
}

TEST(UniqueFd, AssignmentToItselfKeepsIt) {
  const int fd = open_null();
  UniqueFd owner(fd);
  UniqueFd& same = owner;
  owner = std::move(same);
  EXPECT_EQ(owner.get(), fd);
  EXPECT_TRUE(is_open(fd));
}

TEST(UniqueFd, ReleaseGivesItAwayOpen) {
  UniqueFd owner(open_null());
  const int fd = owner.release();
  EXPECT_FALSE(owner);
  EXPECT_TRUE(is_open(fd));
  ::close(fd);
}

TEST(UniqueFd, ResetCloses) {
  const int fd = open_null();
  UniqueFd owner(fd);
  owner.reset();
  EXPECT_FALSE(owner);
  EXPECT_FALSE(is_open(fd));
}

}  // namespace
}  // namespace keplerd
