// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/target.h"

#include <string>

#include <gtest/gtest.h>

namespace keplerd::exporter::http {
namespace {

TEST(Target, IsOfBoundedLength) {
  EXPECT_EQ(check_target(""), Target::kFine);
  EXPECT_EQ(check_target("/" + std::string(2047, 'x')), Target::kFine);
  EXPECT_EQ(check_target("/" + std::string(2048, 'x')), Target::kTooLong);
  EXPECT_EQ(check_target("/?" + std::string(32'000, '&')), Target::kTooLong);
}

TEST(Target, HasABoundedNumberOfArguments) {
  std::string target = "/metrics?a=1";
  EXPECT_EQ(check_target("/metrics?"), Target::kFine);
  for (int i = 1; i < 64; ++i) target += "&a";
  EXPECT_EQ(check_target(target), Target::kFine);
  EXPECT_EQ(check_target(target + "&"), Target::kTooManyArguments);
  EXPECT_EQ(check_target("/" + std::string(1000, '&')), Target::kFine) << "a path has none";
}

}  // namespace
}  // namespace keplerd::exporter::http
