// SPDX-License-Identifier: Apache-2.0
#include "varlink/json_text.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "varlink/json.h"

namespace keplerd::varlink {
namespace {

template <class T>
std::string written(const T& value) {
  std::string out;
  write_json(out, value);
  return out;
}

std::string dumped(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

TEST(JsonText, TextIsEscapedAsNlohmannJsonDoes) {
  for (int c = 0; c < 256; ++c) {
    const std::string text = std::string("a") + static_cast<char>(c) + "b";
    EXPECT_EQ(written(std::string_view(text)), dumped(text)) << c;
  }
  EXPECT_EQ(written(std::string_view("d\xc3\xa9j\xc3\xa0 \xff \xe2\x82")),
            "\"d\xc3\xa9j\xc3\xa0 \xef\xbf\xbd \xef\xbf\xbd\"");
  EXPECT_EQ(written(std::string_view()), R"("")");
}

TEST(JsonText, NumbersAreWrittenWithAllDigits) {
  EXPECT_EQ(written(std::int64_t{0}), "0");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
}

TEST(JsonText, FlagsAreNoNumbers) {
  EXPECT_EQ(written(true), "true");
  EXPECT_EQ(written(false), "false");
}

TEST(JsonText, MembersAndElementsAreSeparatedAndClosed) {
  std::string out;
  {
    ObjectWriter object(out);
    write_json(object.member("first"), std::int64_t{1});
    object.members_of(Json{{"text", "c"}, {"list", {1, 2}}});
    {
      ArrayWriter array(object.member("array"));
      { const ObjectWriter empty(array.element()); }
      write_json(array.element(), std::string_view("x"));
    }
    const ArrayWriter none(object.member("none"));
  }
  EXPECT_EQ(out, R"({"first":1,"text":"c","list":[1,2],"array":[{},"x"],"none":[]})");
}

}  // namespace
}  // namespace keplerd::varlink
