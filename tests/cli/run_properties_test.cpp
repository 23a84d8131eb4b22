// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <gtest/gtest.h>

#include "cli/run/properties.h"
#include "cli/run/scope.h"

namespace keplerd::cli::run {
namespace {

constexpr std::uint64_t kInfinity = UINT64_MAX;

template <class Value>
void expect(std::string_view text, const std::string& name, Value value) {
  const auto property = parse_property(text);
  ASSERT_TRUE(property) << text << ": " << property.error().message;
  EXPECT_EQ(property->name, name) << text;
  ASSERT_TRUE(std::holds_alternative<Value>(property->value)) << text;
  EXPECT_EQ(std::get<Value>(property->value), value) << text;
}

std::string error_of(std::string_view text) {
  const auto property = parse_property(text);
  return property ? "accepted" : property.error().message;
}

TEST(Properties, HaveTheTypeAndTheNameOfTheBus) {
  expect<std::uint64_t>("MemoryMax=4096", "MemoryMax", 4096);
  expect<std::uint64_t>("MemoryHigh=2G", "MemoryHigh", std::uint64_t{2} << 30);
  expect<std::uint64_t>("MemoryMax=infinity", "MemoryMax", kInfinity);
  expect<std::uint32_t>("MemoryMax=50%", "MemoryMaxScale", 2147483647);
  expect<std::uint32_t>("TasksMax=100%", "TasksMaxScale", 4294967295);
  expect<std::uint64_t>("TasksMax=10", "TasksMax", 10);
  expect<std::uint64_t>("CPUQuota=150%", "CPUQuotaPerSecUSec", 1'500'000);
  expect<std::uint64_t>("CPUQuota=", "CPUQuotaPerSecUSec", kInfinity);
  expect<std::uint64_t>("CPUWeight=idle", "CPUWeight", 0);
  expect<std::uint64_t>("IOWeight=10000", "IOWeight", 10'000);
  expect<std::uint64_t>("RuntimeMaxSec=1min 30s", "RuntimeMaxUSec", 90'000'000);
  expect<Bytes>("AllowedCPUs=0-3,8", "AllowedCPUs", {0x0f, 0x01});
  expect<bool>("Delegate=yes", "Delegate", true);
  expect<bool>("SendSIGKILL=Off", "SendSIGKILL", false);
  expect<std::int32_t>("KillSignal=SIGINT", "KillSignal", SIGINT);
  expect<std::int32_t>("KillSignal=INT", "KillSignal", SIGINT);
  expect<std::int32_t>("KillSignal=2", "KillSignal", SIGINT);
  expect<std::string>("KillMode=mixed", "KillMode", "mixed");
}

TEST(Properties, RejectWhatIsNoValue) {
  for (const char* text : {"MemoryMax=", "MemoryMax=-1", "MemoryMax=1X", "MemoryMax=16777216T",
                           "MemoryMax=101%", "CPUQuota=50", "CPUQuota=0%", "CPUWeight=0", "CPUWeight=10001",
                           "IOWeight=idle", "RuntimeMaxSec=soon", "AllowedCPUs=", "AllowedCPUs=3-1",
                           "AllowedCPUs=0-8192", "AllowedCPUs=a", "Delegate=maybe", "KillSignal=SIGNONE"}) {
    EXPECT_TRUE(error_of(text).starts_with("invalid value '")) << text;
  }
  EXPECT_EQ(error_of("MemoryMax=1X"), "invalid value '1X' of the property MemoryMax");
}

TEST(Properties, RejectWhatIsNotKnown) {
  EXPECT_EQ(error_of("MemoryMax"), "invalid property 'MemoryMax' (expected NAME=VALUE)");
  EXPECT_TRUE(
      error_of("ExecStart=/bin/sh").starts_with("unknown property 'ExecStart' (expected AllowedCPUs, "));
  EXPECT_TRUE(error_of("\x1b=1").starts_with("unknown property '\\x1b'"));
}

TEST(ScopeNames, GetTheirSuffixAndAreChecked) {
  EXPECT_EQ(*scope_name("build"), "build.scope");
  EXPECT_EQ(*scope_name("build.scope"), "build.scope");
  EXPECT_EQ(*slice_name("ci-build"), "ci-build.slice");
  for (const std::string& name : {std::string(), std::string(".scope"), std::string("a/b"),
                                  std::string("a b"), std::string(256, 'a')}) {
    EXPECT_FALSE(scope_name(name)) << name;
  }
}

TEST(ScopeNames, NoTwoRunsHaveTheSame) {
  EXPECT_NE(unique_scope_name(), unique_scope_name());
  const std::string name = unique_scope_name();
  EXPECT_EQ(*scope_name(name), name);
}

}  // namespace
}  // namespace keplerd::cli::run
