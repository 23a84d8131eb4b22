// SPDX-License-Identifier: Apache-2.0
#include "exporter/options.h"

#include <gtest/gtest.h>

#include "exporter/http/listen.h"

namespace keplerd::exporter {
namespace {

using client::Kind;

std::variant<Options, int> parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "keplerd-exporter");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

TEST(Options, ByDefaultServeNothingAndListenOnLoopbackOnly) {
  const auto options = std::get<Options>(parse({}));
  EXPECT_EQ(options.listen, "127.0.0.1:28282");
  EXPECT_EQ(options.varlink, "/run/keplerd/org.keplerd.Energy");
  EXPECT_EQ(options.serve, Served());
  EXPECT_EQ(options.history, "/run/keplerd-history/org.keplerd.History");
  EXPECT_EQ(options.processes, 0u);
  EXPECT_EQ(options.web_config, "");
  EXPECT_EQ(options.cost_config, "");
}

TEST(Options, ServeTakesAListOfKinds) {
  EXPECT_EQ(*parse_served(""), Served());
  EXPECT_EQ(parse_served("host")->kinds, Kinds().set(index_of(Kind::kZones)));
  EXPECT_EQ(parse_served("vms,units")->kinds, Kinds().set(index_of(Kind::kVms)).set(index_of(Kind::kUnits)));
  EXPECT_TRUE(parse_served("all")->kinds.all());
  EXPECT_FALSE(parse_served("vms,units")->budgets);
  EXPECT_TRUE(parse_served("host,budgets")->budgets);
  EXPECT_TRUE(parse_served("all")->budgets);
  for (const char* wrong : {"zones", "vms,,units", "VMs", "vms units", ",all"}) {
    EXPECT_FALSE(parse_served(wrong)) << wrong;
  }
}

TEST(Options, ServedProcessesAreABoundedTopUnlessANumberIsGiven) {
  const auto processes = [](std::vector<std::string> arguments) {
    return std::get<Options>(parse(std::move(arguments))).processes;
  };
  EXPECT_EQ(processes({"--serve=all"}), 20u);
  EXPECT_EQ(processes({"--serve=host,processes"}), 20u);
  EXPECT_EQ(processes({"--serve=host,units,vms,containers,pods"}), 0u);
  EXPECT_EQ(processes({"--serve=all", "--processes=0"}), 0u);
  EXPECT_EQ(processes({"--processes=7", "--serve=all"}), 7u);
  EXPECT_EQ(processes({"--processes=7"}), 7u);
}

TEST(Options, InvalidArgumentsAreAUsageError) {
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{{"--serve=everything"},
                                                                                     {"--processes=-1"},
                                                                                     {"--processes=1001"},
                                                                                     {"--processes=x"},
                                                                                     {"--listen=28282"},
                                                                                     {"--listen=::1:28282"},
                                                                                     {"--listen=x:70000"},
                                                                                     {"--nonsense"},
                                                                                     {"x"}}) {
    EXPECT_EQ(std::get<int>(parse(wrong)), 2) << wrong[0];
  }
  EXPECT_EQ(std::get<int>(parse({"--version"})), 0);
}

TEST(Place, IsAHostAndAPort) {
  const auto expect = [](const char* text, const char* host, const char* port) {
    const auto place = http::parse_place(text);
    ASSERT_TRUE(place) << text;
    EXPECT_EQ(place->host, host);
    EXPECT_EQ(place->port, port);
  };
  expect("127.0.0.1:28282", "127.0.0.1", "28282");
  expect(":1", "", "1");
  expect("[::1]:0", "::1", "0");
  expect("host.example:65535", "host.example", "65535");
  for (const char* wrong :
       {"", "x", "x:", "x:65536", "x:-1", "[::1]", "[::1", "[::1]x:1", "::1:5", "x:http"}) {
    EXPECT_FALSE(http::parse_place(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace keplerd::exporter
