// SPDX-License-Identifier: Apache-2.0
#include "cli/fields.h"

#include <gtest/gtest.h>

#include "varlink/json.h"

namespace keplerd::cli {
namespace {

const Json kObject = Json::parse(R"({"n": 12300000, "s": "a", "minus": -1})");

TEST(Fields, UnknownAmountsAreADash) {
  EXPECT_EQ(power_text(kObject, "n"), "12.3 W");
  EXPECT_EQ(power_text(kObject, "absent"), "-");
  EXPECT_EQ(energy_text(kObject, "n"), "12.3 J");
  EXPECT_EQ(energy_text(kObject, "minus"), "-");
  EXPECT_EQ(time_text(kObject, "n"), "12.3 s");
  EXPECT_EQ(date_text(kObject, "s"), "-");
  EXPECT_EQ(name_text(kObject, "n"), "");
}

TEST(Fields, AShareNeedsBothNumbers) {
  EXPECT_EQ(share_text(kObject, "n", 24'600'000), "50.00%");
  EXPECT_EQ(share_text(kObject, "n", 0), "-");
  EXPECT_EQ(share_text(kObject, "n", std::nullopt), "-");
  EXPECT_EQ(share_text(kObject, "absent", 1), "-");
}

}  // namespace
}  // namespace keplerd::cli
