// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/arguments.h"
#include "cli/fleet/command.h"
#include "cli/fleet/hosts.h"

namespace keplerd::cli::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string problem_of(const std::string& text) {
  const auto host = parse_host(text);
  return host ? "" : host.error().message;
}

Host host(const std::string& text) {
  const auto parsed = parse_host(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed ? *parsed : Host{};
}

TEST(FleetHosts, HaveAUserAndAPort) {
  EXPECT_EQ(host("web1"), (Host{"web1", "web1", ""}));
  EXPECT_EQ(host("root@web1.example.org:2222"),
            (Host{"root@web1.example.org:2222", "root@web1.example.org", "2222"}));
  EXPECT_EQ(host("me@work@web1"), (Host{"me@work@web1", "me@work@web1", ""}));
}

TEST(FleetHosts, MayBeAddressesOfIpv6) {
  EXPECT_EQ(host("2001:db8::1").destination, "2001:db8::1");
  EXPECT_EQ(host("root@[2001:db8::1]:22"), (Host{"root@[2001:db8::1]:22", "root@2001:db8::1", "22"}));
  EXPECT_EQ(host("[::1]").destination, "::1");
}

TEST(FleetHosts, AreNeverOptionsOfSsh) {
  for (const char* text :
       {"-oProxyCommand=id", "--", "-", "root@-oProxyCommand=id", "-l@web1", "[-o]", "a@[-o]:1"})
    EXPECT_THAT(problem_of(text), HasSubstr("begins with a hyphen")) << text;
}

TEST(FleetHosts, HaveNoCharactersForAShellOrATerminal) {
  for (const char* text :
       {"a b", "a\nb", "a\033[2J", "$(id)", "`id`", "a;id", "a|b", "a\xe2\x80\xae", "a'b", "a\\b"})
    EXPECT_THAT(problem_of(text), HasSubstr("it contains a blank")) << text;
  EXPECT_EQ(problem_of("a\033[2J"),
            "invalid host 'a\\x1b[2J': it contains a blank, a control character or one that a shell would "
            "interpret");
}

TEST(FleetHosts, AreRefusedIfMalformed) {
  for (const char* text :
       {"web1:", "web1:0", "web1:65536", "web1:ssh", ":22", "[::1", "[::1]22", "[]:22", "root@"})
    EXPECT_THAT(problem_of(text), HasSubstr("expected [USER@]HOST[:PORT]")) << text;
  EXPECT_THAT(problem_of("@web1"), HasSubstr("the name of the user is empty"));
  EXPECT_THAT(problem_of(""), HasSubstr("a name is empty"));
  EXPECT_THAT(problem_of(std::string(300, 'a')), HasSubstr("too long"));
}

TEST(FleetHosts, AreAskedOnce) {
  const auto hosts = parse_hosts({"b", "a", "b"});
  ASSERT_TRUE(hosts.ok());
  EXPECT_THAT(*hosts, ElementsAre(host("b"), host("a")));
}

TEST(FleetHosts, AreLimited) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i <= kMostHosts; ++i) names.push_back("h" + std::to_string(i));
  EXPECT_FALSE(parse_hosts(names).ok());
  names.pop_back();
  EXPECT_TRUE(parse_hosts(names).ok());
}

TEST(FleetCommand, QuotesWhatAShellWouldInterpret) {
  EXPECT_EQ(quoted_for_shell("--type=service,scope"), "--type=service,scope");
  EXPECT_EQ(quoted_for_shell(""), "''");
  EXPECT_EQ(quoted_for_shell("a b"), "'a b'");
  EXPECT_EQ(quoted_for_shell("$(rm -r ~)"), "'$(rm -r ~)'");
  EXPECT_EQ(quoted_for_shell("it's"), "'it'\\''s'");
  EXPECT_EQ(quoted_for_shell("a\nb;c"), "'a\nb;c'");
}

TEST(FleetCommand, AsksNoQuestions) {
  EXPECT_THAT(ssh_command("ssh", host("root@web1:2222"), {"keplerctl", "vms", "a b"}),
              ElementsAre("ssh", "-xT", "-oBatchMode=yes", "-oConnectTimeout=10", "-p2222", "root@web1",
                          "keplerctl", "vms", "'a b'"));
}

Answer answer_of(const std::vector<std::string>& arguments) {
  const auto parsed = parse_arguments(arguments, false);
  const auto* answer = std::get_if<Answer>(&parsed);
  return answer == nullptr ? Answer{} : *answer;
}

TEST(FleetOptions, ListHostsWithCommasOrRepeatedly) {
  const auto parsed = parse_arguments({"-H", "a,b", "vms", "--host=c"}, false);
  ASSERT_TRUE(std::holds_alternative<Command>(parsed));
  EXPECT_THAT(std::get<Command>(parsed).options.hosts, ElementsAre(host("a"), host("b"), host("c")));
}

TEST(FleetOptions, AreForVerbsThatCanBeAddedUp) {
  for (const char* verb : {"show", "monitor", "doctor", "history", "record"}) {
    std::vector<std::string> arguments = {"-Ha", verb};
    if (std::string_view(verb) == "show" || std::string_view(verb) == "record") arguments.push_back("x");
    EXPECT_EQ(answer_of(arguments).text, "--host is available for status, top, report and the lists only")
        << verb;
  }
  EXPECT_EQ(answer_of({"-Ha", "units", "--tree"}).text, "--tree cannot be combined with --host");
  EXPECT_EQ(answer_of({"-Ha", "report", "--functional-unit=1"}).text,
            "--functional-unit cannot be combined with --host");
  EXPECT_TRUE(answer_of({"-H", "-oProxyCommand=id", "vms"}).usage_error);
  EXPECT_TRUE(answer_of({"--host=-oProxyCommand=id", "vms"}).usage_error);
  EXPECT_TRUE(answer_of({"--host=", "vms"}).usage_error);
}

}  // namespace
}  // namespace keplerd::cli::fleet
