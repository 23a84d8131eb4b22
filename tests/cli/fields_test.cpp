// SPDX-License-Identifier: Apache-2.0
#include "cli/fields.h"

#include <gtest/gtest.h>

#include "varlink/json.h"

namespace keplerd::cli {
namespace {

const Json kObject = Json::parse(
    R"({"n": 12300000, "s": "a", "b": true, "null": null, "f": 1.5, "big": 18446744073709551615, "minus": -1})");

TEST(Fields, WhatIsNotThereOrOfAnotherTypeIsNotKnown) {
  EXPECT_EQ(integer_field(kObject, "n"), 12300000);
  EXPECT_EQ(integer_field(kObject, "minus"), -1);
  for (const char* name : {"absent", "s", "null", "f", "big"}) {
    EXPECT_EQ(integer_field(kObject, name), std::nullopt) << name;
  }
  EXPECT_EQ(string_field(kObject, "s"), "a");
  EXPECT_EQ(string_field(kObject, "n"), std::nullopt);
  EXPECT_EQ(bool_field(kObject, "b"), true);
  EXPECT_EQ(bool_field(kObject, "n"), std::nullopt);
  EXPECT_EQ(integer_field(Json::array(), "n"), std::nullopt);
  EXPECT_EQ(integer_field(Json(), "n"), std::nullopt);
}

TEST(Fields, UnknownAmountsAreADash) {
  EXPECT_EQ(power_text(kObject, "n"), "12.3 W");
  EXPECT_EQ(power_text(kObject, "absent"), "-");
  EXPECT_EQ(energy_text(kObject, "n"), "12.3 J");
  EXPECT_EQ(energy_text(kObject, "minus"), "-");
  EXPECT_EQ(time_text(kObject, "n"), "12.3 s");
  EXPECT_EQ(date_text(kObject, "s"), "-");
  EXPECT_EQ(name_text(kObject, "n"), "");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
  EXPECT_EQ(printable("größe"), "größe");
}

TEST(Printable, LeavesTheDaemonsEscapesAsTheyAre) {
  EXPECT_EQ(printable("/a\\x0ab.service"), "/a\\x0ab.service");
  EXPECT_EQ(printable("dev-disk-by\\x2duuid.swap\\"), "dev-disk-by\\x2duuid.swap\\");
  EXPECT_EQ(printable("\\"), "\\");
  EXPECT_EQ(printable(""), "");
}

}  // namespace
}  // namespace keplerd::cli
