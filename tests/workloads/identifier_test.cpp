// SPDX-License-Identifier: Apache-2.0
#include "workloads/identifier.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace keplerd {
namespace {

TEST(CanonicalUuid, IsLowerCase) {
  EXPECT_EQ(canonical_uuid("DF12672F-fedb-4f6f-9d51-0166868835FB"), "df12672f-fedb-4f6f-9d51-0166868835fb");
}

TEST(CanonicalUuid, IsEmptyForEverythingElse) {
  for (const char* text :
       {"", "df12672f", "df12672f-fedb-4f6f-9d51-0166868835f", "df12672f-fedb-4f6f-9d51-0166868835fbb",
        "df12672ffedb-4f6f-9d51-0166868835fb-", "gf12672f-fedb-4f6f-9d51-0166868835fb",
        "{df12672f-fedb-4f6f-9d51-01668688}", "00000000-0000-0000-0000-000000000000"}) {
    EXPECT_EQ(canonical_uuid(text), "") << text;
  }
}

TEST(RuntimeId, IsOf64LowerCaseDigits) {
  const std::string id(64, 'a');
  EXPECT_TRUE(is_runtime_id(id));
  EXPECT_FALSE(is_runtime_id(id + "a"));
  EXPECT_FALSE(is_runtime_id(id.substr(1)));
  EXPECT_FALSE(is_runtime_id(id.substr(1) + "A"));
  EXPECT_FALSE(is_runtime_id(id.substr(1) + "g"));
}

TEST(UnitEscapes, AreDecodedThroughOurOwn) {
  EXPECT_EQ(decode_unit_escapes(R"(qemu\x2d6\x2dcirros)"), "qemu-6-cirros");
  EXPECT_EQ(decode_unit_escapes(R"(a-b_c.d)"), "a-b_c.d");
  // What a user escaped twice is decoded once.
  EXPECT_EQ(decode_unit_escapes(escape_name(R"(a\x5cx2db)")), R"(a\x2db)");
}

TEST(UnitEscapes, ThatAreUtf8BecomeIt) {
  EXPECT_EQ(decode_unit_escapes(escape_name(R"(caf\xc3\xa9)")), "café");
}

TEST(UnitEscapes, NeverBringControlCharactersBack) {
  EXPECT_EQ(decode_unit_escapes(escape_name(R"(a\x1b[31m\x0ab)")), R"(a\x1b[31m\x0ab)");
  EXPECT_EQ(decode_unit_escapes(escape_name("a\x1b[31m\nb")), R"(a\x1b[31m\x0ab)");
  EXPECT_EQ(decode_unit_escapes(escape_name(R"(a\xff)")), R"(a\xff)");
}

TEST(UnitEscapes, ThatAreNoneStay) {
  EXPECT_EQ(decode_unit_escapes(R"(a\x2)"), R"(a\x2)");
  EXPECT_EQ(decode_unit_escapes(R"(a\xzz\)"), R"(a\xzz\)");
  EXPECT_EQ(decode_unit_escapes(R"(\x41)"), "A");
  EXPECT_EQ(decode_unit_escapes(escape_name(R"(a\x00b)")), escape_name(R"(a\x00b)"));
}

}  // namespace
}  // namespace keplerd
