// SPDX-License-Identifier: Apache-2.0
#include "cli/output/json.h"

#include <limits>

#include <gtest/gtest.h>

#include "varlink/json.h"

namespace keplerd::cli {
namespace {

using varlink::Json;

TEST(Json, ShortIsOneLineInTheOrderOfTheFields) {
  const Json value = Json::parse(R"({"z": 1, "a": [true, null, "x"]})");
  EXPECT_EQ(json_text(value, JsonMode::kShort), "{\"z\":1,\"a\":[true,null,\"x\"]}\n");
}

TEST(Json, PrettyIsIndentedByFour) {
  const Json value = Json::parse(R"({"a": {"b": 1}})");
  EXPECT_EQ(json_text(value, JsonMode::kPretty), "{\n    \"a\": {\n        \"b\": 1\n    }\n}\n");
}

TEST(Json, IntegersStayExact) {
  const Json value = Json::parse("[9007199254740993, 9223372036854775807, -9223372036854775808]");
  EXPECT_EQ(json_text(value, JsonMode::kShort),
            "[9007199254740993,9223372036854775807,-9223372036854775808]\n");
}

TEST(Json, InvalidUtf8DoesNotEndTheProgram) {
  EXPECT_EQ(json_text(Json("a\xff"), JsonMode::kShort), "\"a\xef\xbf\xbd\"\n");
}

TEST(Json, WhatATerminalWouldActOnIsEscaped) {
  const Json value = {{"\u009b2J", "\u202eevil\u2028\u2029\u0085\u007f\x1b"},
                      {"bidi", "\u061c\u200e\u200f\u202a\u2066\u2069"}};
  EXPECT_EQ(json_text(value, JsonMode::kShort), R"({"\u009b2J":"\u202eevil\u2028\u2029\u0085\u007f\u001b",)"
                                                R"("bidi":"\u061c\u200e\u200f\u202a\u2066\u2069"})"
                                                "\n");
  EXPECT_EQ(framed_json_text("\u202e", JsonMode::kPretty, true), "\x1e\"\\u202e\"\n");
  EXPECT_EQ(Json::parse(json_text(value, JsonMode::kPretty)), value) << "it means the same";
}

TEST(Json, OtherTextIsAsItWas) {
  const Json value = {{"name", "\u00e4\u20ac\U0001f600\u00a0\\u202e\t"}};
  EXPECT_EQ(json_text(value, JsonMode::kPretty),
            "{\n    \"name\": \"\u00e4\u20ac\U0001f600\u00a0\\\\u202e\\t\"\n}\n");
}

TEST(Json, ASequenceBeginsEachTextWithARecordSeparator) {
  EXPECT_EQ(framed_json_text(Json::array(), JsonMode::kShort, true), "\x1e[]\n");
}

TEST(StatusJson, WhatTheSourceLacksIsNull) {
  const Json status =
      Json::parse(R"({"host": {}, "source": {"name": "none", "reason": "no zones"}, "split": "x"})");
  EXPECT_EQ(status_json(status).dump(),
            R"({"host":{},"source":{"name":"none","quality":null,"reason":"no zones"},"split":"x"})");
}

TEST(StatusJson, KeepsNewerFields) {
  const Json status = Json::parse(R"({"source": {"new": 1, "quality": "measured", "name": "powercap"}})");
  EXPECT_EQ(status_json(status).dump(),
            R"({"source":{"name":"powercap","quality":"measured","reason":null,"new":1}})");
  EXPECT_EQ(status_json(Json::object()).dump(), "{}");
}

}  // namespace
}  // namespace keplerd::cli
