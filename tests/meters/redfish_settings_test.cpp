// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meters/redfish/settings.h"

namespace keplerd::redfish {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(RedfishSettings, AreKeysAndValues) {
  const auto settings = parse_settings(
      "# of rack 7\nHost = bmc.example:8443\r\nUser=keplerd\n\nPassword= #a;=\"b c \nInterval=5s\nChassis=1, "
      "Self\n");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->host, "bmc.example:8443");
  EXPECT_EQ(settings->user, "keplerd");
  EXPECT_EQ(settings->password, "#a;=\"b c");
  EXPECT_EQ(settings->interval, 5s);
  EXPECT_THAT(settings->chassis, ElementsAre("1", "Self"));
  EXPECT_EQ(parse_settings("Host=[2001:db8::7]\nUser=u\nPassword=p")->interval, 10s);
}

TEST(RedfishSettings, ErrorsHaveTheLineAndNeverAValue) {
  const auto error = [](const std::string& text) { return parse_settings(text).error().message; };
  EXPECT_EQ(error("Host=bmc\nUser=u\n"), "Password= is missing");
  EXPECT_EQ(error("Host=bmc\nsecret\n"), "line 2: not Key=value");
  EXPECT_EQ(error("Passwort=secret"),
            "line 1: unknown key (expected Host, User, Password, Interval or Chassis)");
  EXPECT_EQ(error("Interval=1min"), "line 1: Interval= is not a time from 1s to 30s");
  EXPECT_EQ(error("User=a:b"), "line 1: User= must not contain a colon");
  for (const char* host : {"https://bmc", "bmc/redfish", "user@bmc", ""})
    EXPECT_THAT(error(std::string("Host=") + host), HasSubstr("Host= is not the name or address of a host"));
}

}  // namespace
}  // namespace keplerd::redfish
