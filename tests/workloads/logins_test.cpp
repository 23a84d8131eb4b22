// SPDX-License-Identifier: Apache-2.0
#include "workloads/logins.h"

#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr char kPasswd[] =
    "root:x:0:0:root:/root:/bin/bash\n"
    "joe:x:1000:1000:Joe,,,:/home/joe:/bin/sh\n"
    "eve:x:1001:1001::/home/eve:/bin/sh\n"
    "bad:x:one:1::/:\n";

Logins logins(std::string_view subuid) { return Logins(parse_subuid(subuid, kPasswd)); }

TEST(Subuid, IsItsLogins) {
  const Logins known = logins("joe:100000:65536\n1001:165536:65536\n");
  EXPECT_EQ(known.login_of(99999), 99999U);
  EXPECT_EQ(known.login_of(100000), 1000U);
  EXPECT_EQ(known.login_of(165535), 1000U);
  EXPECT_EQ(known.login_of(165536), 1001U);
  EXPECT_EQ(known.login_of(231071), 1001U);
  EXPECT_EQ(known.login_of(231072), 231072U);
  EXPECT_EQ(known.login_of(0), 0U);
}

TEST(Subuid, OfSeveralLoginsBelongsToNone) {
  const Logins known = logins("root:100000:65536\njoe:100000:65536\njoe:165536:10\neve:165540:100\n");
  EXPECT_EQ(known.login_of(100033), 100033U);
  EXPECT_EQ(known.login_of(165536), 1000U);
  EXPECT_EQ(known.login_of(165540), 165540U);
  EXPECT_EQ(known.login_of(165546), 1001U);
}

// "root:1000:1" lets root's containers map a user of the host; that does not make the user's programs root's.
TEST(Subuid, ThatIsAUserOfTheHostIsThatUser) {
  const Logins known(parse_subuid("root:1000:1\nroot:60000:10000\nroot:100000:65536\n", kPasswd),
                     {0, 1000, 1001, 100500});
  for (const Uid user : {1000U, 60000U, 65535U, 100500U}) {
    EXPECT_EQ(known.login_of(user), user);
    EXPECT_EQ(known.account_of(user), user);
  }
  EXPECT_EQ(known.login_of(65536), 0U);
  EXPECT_EQ(known.login_of(100501), 0U);
  EXPECT_EQ(known.account_of(100501), 0U);
}

TEST(Subuid, OfOneLoginMayBeListedTwice) {
  const Logins known = logins("joe:100000:100\njoe:100050:100\n");
  for (const Uid user : {100000U, 100075U, 100149U}) EXPECT_EQ(known.login_of(user), 1000U) << user;
  EXPECT_EQ(known.login_of(100150), 100150U);
}

TEST(Subuid, MalformedLinesAreLeftOut) {
  EXPECT_TRUE(
      parse_subuid("who:1:1\nbad:1:1\njoe\njoe:1\njoe:x:1\njoe:1:0\njoe:-1:5\n:1:1\n", kPasswd).empty());
  const auto ranges = parse_subuid("  joe:4294967295:4294967295", kPasswd);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(Logins(ranges).login_of(4294967295U), 1000U);
}

TEST(LoginFiles, AreReadAgainWhenTheyChange) {
  FakeHost files;
  const HostRoot host = files.open();
  LoginFiles known(host);
  known.refresh(0s);
  EXPECT_EQ(known.logins().login_of(100000), 100000U);
  files.write("root/etc/passwd", kPasswd);
  files.write("root/etc/subuid", "joe:100000:65536\n");
  known.refresh(9s);
  EXPECT_EQ(known.logins().login_of(100000), 100000U);
  known.refresh(10s);
  EXPECT_EQ(known.logins().login_of(100000), 1000U);
  files.write("root/etc/subuid", "eve:100000:65536\n");
  known.refresh(20s);
  EXPECT_EQ(known.logins().login_of(100000), 1001U);
  files.remove("root/etc/subuid");
  known.refresh(30s);
  EXPECT_EQ(known.logins().login_of(100000), 100000U);
}

TEST(Logins, CountUsersForTheirLoginAndTheRestTogether) {
  const Logins known(parse_subuid("joe:100000:65536\n", kPasswd), {0, 1000, 1001, 70000});
  EXPECT_EQ(known.account_of(1000), 1000U);
  EXPECT_EQ(known.account_of(100005), 1000U);
  EXPECT_EQ(known.account_of(33), 33U);
  EXPECT_EQ(known.account_of(65535), 65535U) << "a dynamic user, or of LDAP";
  EXPECT_EQ(known.account_of(70000), 70000U);
  EXPECT_EQ(known.account_of(70001), std::nullopt);
  EXPECT_EQ(known.account_of(165536), std::nullopt);
  EXPECT_EQ(known.account_of(4294967295U), std::nullopt);
}

TEST(Logins, KnowTheUsersInPasswd) {
  EXPECT_EQ(parse_passwd_users("b:x:9:9::/:\na:x:5:5\nbad\nworse:x:-1:1\n:x:7:7\n"),
            (std::vector<Uid>{5, 9}));
  EXPECT_TRUE(parse_passwd_users("").empty());
}

}  // namespace
}  // namespace keplerd
