// SPDX-License-Identifier: Apache-2.0
#include "host/descriptor_budget.h"

#include <array>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "host/kept_file.h"

namespace keplerd {
namespace {

TEST(DescriptorBudget, APlaceIsFreeAgainWhenItIsGivenBack) {
  DescriptorBudget budget(2);
  auto first = budget.take();
  auto second = budget.take();
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(budget.take());
  auto moved = std::move(second);
  EXPECT_FALSE(budget.take());
  moved.reset();
  EXPECT_TRUE(budget.take());
}

TEST(DescriptorBudget, LeavesRoomForClients) {
  EXPECT_EQ(descriptors_to_hold(0), 0U);
  EXPECT_EQ(descriptors_to_hold(256), 128U);
  EXPECT_EQ(descriptors_to_hold(2048), 1024U);
  EXPECT_EQ(descriptors_to_hold(2049), 1025U);
  EXPECT_EQ(descriptors_to_hold(524'288), 523'264U);
}

TEST(DescriptorBudget, WhatFindsNoPlaceIsOpenedForEachRead) {
  DescriptorBudget budget(1);
  std::array<char, 32> buffer;
  auto held = KeptFile::open(AT_FDCWD, "/proc/self/comm", &budget);
  const auto other = KeptFile::open(AT_FDCWD, "/proc/self/comm", &budget);
  ASSERT_TRUE(held && other);
  EXPECT_TRUE(held->is_held());
  EXPECT_FALSE(other->is_held());
  const std::string text(*held->read(buffer));
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(*other->read(buffer), text);
  *held = KeptFile();
  EXPECT_TRUE(KeptFile::open(AT_FDCWD, "/proc/self/comm", &budget)->is_held());
}

}  // namespace
}  // namespace keplerd
