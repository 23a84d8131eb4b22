// SPDX-License-Identifier: Apache-2.0
#include "client/fields.h"

#include <gtest/gtest.h>

#include "varlink/json.h"

namespace keplerd::client {
namespace {

using varlink::Json;

const Json kObject = Json::parse(
    R"({"n": 12300000, "s": "a", "b": true, "null": null, "f": 1.5, "big": 18446744073709551615, "minus": -1})");

TEST(Fields, AbsentFieldsOrThoseOfAnotherTypeAreUnknown) {
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

TEST(Fields, UnknownFieldsAreEmptyOrFalse) {
  EXPECT_EQ(text(kObject, "s"), "a");
  EXPECT_EQ(text(kObject, "n"), "");
  EXPECT_EQ(text(Json(), "s"), "");
  EXPECT_TRUE(flag(kObject, "b"));
  EXPECT_FALSE(flag(kObject, "n"));
  EXPECT_FALSE(flag(kObject, "absent"));
}

TEST(Fields, OnlyArraysHaveElements) {
  EXPECT_EQ(elements(Json::parse("[1, 2]")).size(), 2u);
  for (const char* other : {"null", "7", R"("text")", R"({"a": 1})"}) {
    EXPECT_TRUE(elements(Json::parse(other)).empty()) << other;
  }
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
}  // namespace keplerd::client
