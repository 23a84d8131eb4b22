// SPDX-License-Identifier: Apache-2.0
#include "varlink/message.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace keplerd::varlink {
namespace {

using namespace std::string_literals;

std::vector<std::string> take_all(Framer& framer) {
  std::vector<std::string> messages;
  while (const auto message = framer.next()) messages.emplace_back(*message);
  return messages;
}

TEST(Framing, NeedsTheNulAndNothingElse) {
  Framer framer(16);
  for (const char byte : "one"s) {
    framer.append({&byte, 1});
    EXPECT_FALSE(framer.has_message());
  }
  framer.append("\0"s);
  EXPECT_EQ(std::vector<std::string>{"one"}, take_all(framer));
  EXPECT_FALSE(framer.next());
}

TEST(Framing, CutsWhatCameTogether) {
  Framer framer(16);
  framer.append("one\0two\0\0thr"s);
  EXPECT_EQ((std::vector<std::string>{"one", "two", ""}), take_all(framer));
  framer.append("ee\0"s);
  EXPECT_EQ(std::vector<std::string>{"three"}, take_all(framer));
}

TEST(Framing, KeepsWhatWasNotTakenWhenMoreComes) {
  Framer framer(16);
  framer.append("one\0two\0"s);
  EXPECT_EQ("one", *framer.next());
  framer.append("three\0"s);
  EXPECT_EQ((std::vector<std::string>{"two", "three"}), take_all(framer));
}

TEST(Framing, HoldsAMessageOfTheLimitAndNoMore) {
  Framer framer(4);
  EXPECT_EQ(5U, framer.room());
  framer.append("four");
  EXPECT_FALSE(framer.too_long());
  framer.append("\0"s);
  EXPECT_EQ(0U, framer.room());
  EXPECT_FALSE(framer.too_long());
  EXPECT_EQ("four", *framer.next());
  EXPECT_EQ(5U, framer.room());
  framer.append("fives");
  EXPECT_TRUE(framer.too_long());
}

TEST(Call, IsReadWithItsFlags) {
  const auto call = parse_call(R"({"method":"a.B","parameters":{"x":1},"more":true})");
  ASSERT_TRUE(call.ok());
  EXPECT_EQ("a.B", call->method);
  EXPECT_EQ(R"({"x":1})", call->parameters.dump());
  EXPECT_TRUE(call->more);
  EXPECT_FALSE(call->oneway);
  EXPECT_FALSE(call->upgrade);
}

TEST(Call, HasEmptyParametersWhereNoneAreGiven) {
  for (const auto* text : {R"({"method":"a.B"})", R"({"method":"a.B","parameters":null,"more":null})"}) {
    const auto call = parse_call(text);
    ASSERT_TRUE(call.ok()) << text;
    EXPECT_EQ("{}", call->parameters.dump());
    EXPECT_FALSE(call->more);
  }
}

TEST(Call, MayHaveUnknownFields) { EXPECT_TRUE(parse_call(R"({"future":[{}],"method":"a.B"})").ok()); }

TEST(Call, IsRefusedWhereItIsNone) {
  for (const auto* text :
       {"", "x", "null", "[]", "{}", R"({"method":1})", R"({"method":"a.B"}})", R"({"method":"a.B"} {})",
        R"({"method":"a.B","parameters":[]})", R"({"method":"a.B","more":1})",
        R"({"method":"a.B","oneway":"yes"})", R"({"method":"a.B","more":true,"oneway":true})",
        R"({"method":"a.B","oneway":true,"upgrade":true})", "{\"method\":\"a.B\xff\"}",
        "{\"method\":\"a.B\",\"parameters\":{\"\xc0\x80\":1}}", R"({"method":"\ud800"})",
        R"({"method":"a.B","parameters":{"x":1e999}})"}) {
    EXPECT_FALSE(parse_call(text).ok()) << text;
  }
}

std::string nested(std::size_t depth) {
  return R"({"method":"a.B","parameters":{"x":)" + std::string(depth, '[') + std::string(depth, ']') + "}}";
}

TEST(Call, MayBeNestedToTheBoundOnly) {
  EXPECT_TRUE(parse_call(nested(kMaxDepth - 2)).ok());
  EXPECT_FALSE(parse_call(nested(kMaxDepth - 1)).ok());
  EXPECT_FALSE(parse_call(nested(100'000)).ok());
  EXPECT_FALSE(parse_call(std::string(100'000, '[')).ok());
}

TEST(Call, BracketsInStringsDoNotNest) {
  EXPECT_TRUE(parse_call(R"({"method":"a.B","parameters":{"x":"\"\\[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[)"
                         R"([[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}})")
                  .ok());
}

std::string with_fields(std::size_t count) {
  std::string text = R"({"method":"a.B","parameters":{"f0":[{"y":1},{"y":2}])";
  for (std::size_t index = 1; index < count; ++index) text += ",\"f" + std::to_string(index) + "\":0";
  return text + "}}";
}

TEST(Call, MayHaveFieldsUpToTheBoundOnly) {
  EXPECT_TRUE(parse_call(with_fields(kMaxFields)).ok());
  EXPECT_FALSE(parse_call(with_fields(kMaxFields + 1)).ok());
}

TEST(Call, MayHaveFieldsInAnyNumberOfObjects) {
  std::string text = R"({"method":"a.B","parameters":{"x":[{"y":1})";
  for (std::size_t index = 0; index < 2 * kMaxFields; ++index) text += R"(,{"y":1})";
  EXPECT_TRUE(parse_call(text + "]}}").ok());
}

TEST(Call, OfFieldsWithOneNameTheLastCounts) {
  const auto call = parse_call(R"({"method":"a.C","method":"a.B","parameters":{"x":1,"y":2,"x":{"z":[3]}}})");
  ASSERT_TRUE(call.ok());
  EXPECT_EQ("a.B", call->method);
  EXPECT_EQ(R"({"y":2,"x":{"z":[3]}})", call->parameters.dump());
}

TEST(Call, ValuesOfAllTypesAreRead) {
  const std::string parameters =
      R"({"a":null,"b":true,"c":-1,"d":18446744073709551615,"e":1.5,"f":"\\\u0041\"","g":[],"h":[[],{},0],"i":{}})";
  const auto call = parse_call(R"({"method":"a.B","parameters":)" + parameters + "}");
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->parameters, Json::parse(parameters));
}

TEST(Integers, AreExactOverAll64Bits) {
  for (const std::int64_t number : {(std::int64_t{1} << 53) + 1, std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()}) {
    const auto text = R"({"method":"a.B","parameters":{"x":)" + std::to_string(number) + "}}";
    const auto call = parse_call(text);
    ASSERT_TRUE(call.ok());
    EXPECT_EQ(number, call->parameters["x"].get<std::int64_t>());
    EXPECT_EQ(text + '\0', encode(*call));
  }
}

TEST(Encoding, IsWhatTheWireExpects) {
  CallMessage call;
  call.method = "a.B";
  EXPECT_EQ(R"({"method":"a.B","parameters":{}})"s + '\0', encode(call));
  call.more = true;
  EXPECT_EQ(R"({"method":"a.B","parameters":{},"more":true})"s + '\0', encode(call));
  EXPECT_EQ(R"({"parameters":{}})"s + '\0', encode(Reply{}));
  EXPECT_EQ(R"({"parameters":{"b":1,"a":2},"continues":true})"s + '\0',
            encode(Reply{Json{{"b", 1}, {"a", 2}}, true}));
  EXPECT_EQ(R"({"error":"a.E","parameters":{"x":"y"}})"s + '\0', encode(Failure{"a.E", Json{{"x", "y"}}}));
}

TEST(Encoding, ReplacesInvalidUtf8) {
  EXPECT_EQ("{\"parameters\":{\"x\":\"\xef\xbf\xbd\"}}"s + '\0', encode(Reply{Json{{"x", "\xff"}}}));
}

TEST(Encoding, NeverHasANulWithinAMessage) {
  EXPECT_EQ(R"({"parameters":{"x":"\u0000"}})"s + '\0', encode(Reply{Json{{"x", "\0"s}}}));
}

TEST(ReplyMessage, IsReadBack) {
  const auto reply = parse_reply(R"({"parameters":{"x":1},"continues":true})");
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ("", reply->error);
  EXPECT_TRUE(reply->continues);
  EXPECT_EQ(R"({"x":1})", reply->parameters.dump());
  const auto failure = parse_reply(R"({"error":"a.E"})");
  ASSERT_TRUE(failure.ok());
  EXPECT_EQ("a.E", failure->error);
  EXPECT_EQ("{}", failure->parameters.dump());
}

TEST(ReplyMessage, IsRefusedWhereItIsNone) {
  for (const auto* text :
       {"", "[]", R"({"error":1})", R"({"error":""})", R"({"parameters":1})", R"({"continues":1})"}) {
    EXPECT_FALSE(parse_reply(text).ok()) << text;
  }
}

TEST(MethodNames, AreSplitAtTheLastDot) {
  const auto name = split_method("org.keplerd.Energy.GetStatus");
  ASSERT_TRUE(name);
  EXPECT_EQ("org.keplerd.Energy", name->interface);
  EXPECT_EQ("GetStatus", name->member);
  for (const auto* text : {"", "GetStatus", ".GetStatus", "org.keplerd.", "."})
    EXPECT_FALSE(split_method(text)) << text;
}

}  // namespace
}  // namespace keplerd::varlink
