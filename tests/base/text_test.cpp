// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unescape_name.h"

namespace keplerd {
namespace {

using namespace std::string_view_literals;

TEST(EscapeName, LeavesOrdinaryNamesAlone) {
  for (const auto name :
       {""sv, "system.slice/ssh.service"sv, "a b"sv, "qemu-1-web"sv, "it's \"quoted\" & <b>"sv, "größe"sv,
        "仮想マシン"sv, "🔋"sv, "C:\\path"sv, "\\"sv, "\\\\"sv}) {
    EXPECT_EQ(escape_name(name), name);
    EXPECT_TRUE(is_plain_name(name)) << name;
  }
}

TEST(EscapeName, LeavesSystemdsOwnEscapesAlone) {
  EXPECT_EQ(escape_name("dev-disk-by\\x2dlabel-x.device"), "dev-disk-by\\x2dlabel-x.device");
  EXPECT_EQ(escape_name("machine-qemu\\x2d1\\x2dweb.scope"), "machine-qemu\\x2d1\\x2dweb.scope");
  EXPECT_EQ(escape_name("a\\x5cb"), "a\\x5cb");
}

TEST(EscapeName, EscapesControlCharacters) {
  EXPECT_EQ(escape_name("a\nb"), "a\\x0ab");
  EXPECT_EQ(escape_name("a\0b"sv), "a\\x00b");
  EXPECT_EQ(escape_name("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(escape_name("\x7f"), "\\x7f");
  EXPECT_EQ(escape_name("\t"), "\\x09");
  EXPECT_EQ(escape_name("\u0080\u009b"), "\\xc2\\x80\\xc2\\x9b");
  EXPECT_EQ(escape_name("\u00a0"), "\u00a0");
}

TEST(EscapeName, EscapesWhatReordersOrBreaksALine) {
  EXPECT_EQ(escape_name("a\u202eb"), "a\\xe2\\x80\\xaeb");
  for (const auto* name :
       {"\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2028", "\u2029", "\u2066", "\u2069"}) {
    EXPECT_FALSE(is_plain_name(name)) << escape_name(name);
  }
  for (const auto* name : {"\u061b", "\u200d", "\u2010", "\u2027", "\u202f", "\u2065", "\u206a"}) {
    EXPECT_TRUE(is_plain_name(name)) << escape_name(name);
  }
}

TEST(EscapeName, EscapesInvalidUtf8ByteByByte) {
  EXPECT_EQ(escape_name("\xff"), "\\xff");
  EXPECT_EQ(escape_name("a\xc3"), "a\\xc3");                           // cut short
  EXPECT_EQ(escape_name("\xc3z"), "\\xc3z");                           // not continued
  EXPECT_EQ(escape_name("\x80"), "\\x80");                             // continues nothing
  EXPECT_EQ(escape_name("\xc0\xaf"), "\\xc0\\xaf");                    // overlong "/"
  EXPECT_EQ(escape_name("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong "/"
  EXPECT_EQ(escape_name("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");           // overlong U+07FF
  EXPECT_EQ(escape_name("\xf0\x80\x80\xaf"), "\\xf0\\x80\\x80\\xaf");  // overlong "/"
  EXPECT_EQ(escape_name("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(escape_name("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(escape_name("\xf4\x8f\xbf\xbd"), "\xf4\x8f\xbf\xbd");      // U+10FFFD is not
}

TEST(EscapeName, EscapesABackslashThatWouldReadAsAnEscape) {
  EXPECT_EQ(escape_name("a\\x0ab"), "a\\x5cx0ab");
  EXPECT_EQ(escape_name("\\xff"), "\\x5cxff");
  EXPECT_EQ(escape_name("\\x5cx0a"), "\\x5cx5cx0a");
  EXPECT_EQ(escape_name("\\x7f\\x7e"), "\\x5cx7f\\x7e");
  EXPECT_EQ(escape_name("\\xFF"), "\\xFF");
  EXPECT_EQ(escape_name("\\x4"), "\\x4");
}

TEST(EscapeName, GivesDifferentNamesToNamesThatLookAlike) {
  // All strings of up to five pieces of what escapes are made of.
  const std::array pieces = {"\\"sv, "x"sv, "5c"sv, "0a"sv, "\n"sv, "c"sv, "\xc3"sv, "\xa9"sv, "\\x5c"sv};
  std::map<std::string, std::string> name_by_escaped;
  std::vector<std::string> names = {""};
  for (std::size_t begin = 0, length = 0; length <= 5; ++length) {
    const std::size_t end = names.size();
    for (; begin < end; ++begin) {
      const std::string name = names[begin];
      const std::string escaped = escape_name(name);
      ASSERT_EQ(unescape_name(escaped), name) << escaped;
      const auto [other, is_new] = name_by_escaped.emplace(escaped, name);
      ASSERT_TRUE(is_new || other->second == name) << escaped;
      for (const auto piece : pieces) {
        if (length < 5) names.push_back(name + std::string(piece));
      }
    }
  }
  EXPECT_GT(name_by_escaped.size(), 30'000u);
}

TEST(EscapeName, IsReversibleForRandomBytes) {
  std::mt19937 random(1);
  const std::string likely = "\\\\\\\\xxxx00115cC\n\x80\xc3\xa9\xe2\x80\xae";
  for (int i = 0; i < 50'000; ++i) {
    std::string name(random() % 24, ' ');
    for (char& c : name)
      c = random() % 4 == 0 ? static_cast<char>(random()) : likely[random() % likely.size()];
    const std::string escaped = escape_name(name);
    ASSERT_EQ(unescape_name(escaped), name) << escaped;
    ASSERT_EQ(is_plain_name(name), escaped == name);
    for (const char c : escaped) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << escaped;
  }
}

}  // namespace
}  // namespace keplerd
