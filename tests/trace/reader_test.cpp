// SPDX-License-Identifier: Apache-2.0
// Traces by others: with what the format requires only, damaged, and hostile.
#include "trace/reader.h"

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/make_model.h"

namespace keplerd {
namespace {

constexpr std::string_view kHeader =
    R"({"trace":"org.keplerd.Trace1","ticksPerSecond":100,"irqApart":false,"cpus":[{"cpu":0,"package":0,"die":0,"core":0}],)"
    R"("zones":[{"id":"a:package:0","name":"package","index":0,"package":0,"die":0,"inTotal":true,"quality":"measured",)"
    R"("rangeMicrojoules":0,"maxMicrowatts":0}],"later":{"ignored":[1.5]}})";

std::string sample(std::int64_t second, std::int64_t counter, const std::string& rest = R"("groups":{})",
                   const std::string& stat = "[100,0,0,100,0,0,0,0]") {
  const std::string time = std::to_string(second * 1'000'000);
  return R"({"monotonicUsec":)" + time + R"(,"boottimeUsec":)" + time + R"(,"realtimeUsec":)" + time +
         R"(,"counters":[)" + std::to_string(counter) + R"(],"stat":[)" + stat + R"(],"khz":[null],)" + rest +
         "}";
}

std::string error_of(TraceReader& reader, std::string_view line) {
  const auto taken = reader.take(line);
  return taken ? "" : taken.error().message;
}

TraceReader begun() {
  TraceReader reader;
  EXPECT_EQ(error_of(reader, kHeader), "");
  EXPECT_EQ(error_of(reader, sample(1, 0, R"("groups":{"/a":5,"/a/b":1})")), "");
  EXPECT_TRUE(reader.begins());
  return reader;
}

TEST(TraceReader, NeedsOnlyWhatTheFormatRequires) {
  TraceReader reader = begun();
  Attributor attributor(make_model(kKeplerRules));
  attributor.set_zones(reader.zones());
  attributor.attribute(reader.sample());
  ASSERT_EQ(error_of(reader, sample(2, 1'000'000,
                                    R"("groups":{"/a/b":300001,"/c":100000,"/a":300005},"kernelUsec":7)",
                                    "[150,0,0,150,0,0,0,0]")),
            "");
  EXPECT_FALSE(reader.begins());
  const auto& groups = reader.sample().usage.groups;
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].path, "/a");
  EXPECT_EQ(groups[1].path, "/a/b");
  EXPECT_EQ(groups[1].parent, 0U);
  EXPECT_EQ(groups[2].path, "/c") << "by name";
  const Attribution& attribution = attributor.attribute(reader.sample());
  EXPECT_EQ(attribution.zones[0].idle, Microjoules{500'000});
  EXPECT_EQ(attribution.zones[0].group[0], Microjoules{375'000});
  EXPECT_EQ(attribution.zones[0].own[1], Microjoules{375'000});
  EXPECT_EQ(attribution.zones[0].group[2], Microjoules{125'000});
}

TEST(TraceReader, WhatHasEndedAndIsListedAgainWasReborn) {
  TraceReader reader = begun();
  const auto before = reader.sample().usage.groups[1].incarnation;
  ASSERT_EQ(error_of(reader, sample(2, 1, R"("ended":["/a/b"],"groups":{"/a/b":3})")), "");
  const auto& reborn = reader.sample().usage.groups[1];
  EXPECT_NE(reborn.incarnation, before);
  EXPECT_EQ(reborn.before, Nanoseconds{0});
  ASSERT_EQ(error_of(reader, sample(3, 2, R"("ended":["/a/b"],"groups":{})")), "");
  EXPECT_EQ(reader.sample().usage.groups.size(), 1U);
}

TEST(TraceReader, KernelAndOutsideTimesAreTotals) {
  TraceReader reader = begun();
  ASSERT_EQ(error_of(reader, sample(2, 1, R"("groups":{},"kernelUsec":50,"outside":{"9.1":10})")), "");
  ASSERT_EQ(error_of(reader, sample(3, 2, R"("groups":{},"kernelUsec":70,"outside":{"9.1":15,"8.1":3})")),
            "");
  const auto& processes = reader.sample().usage.processes;
  ASSERT_EQ(processes.size(), 3U);
  EXPECT_TRUE(processes[0].kernel_thread);
  EXPECT_EQ(processes[0].usage - processes[0].before->usage, std::chrono::microseconds(20));
  EXPECT_EQ(processes[1].usage - processes[1].before->usage, std::chrono::microseconds(5));
  EXPECT_FALSE(processes[2].before) << "not known before";
}

TEST(TraceReader, AHeaderInBetweenMayChangeZonesAndOneThatBeginsForgets) {
  TraceReader reader = begun();
  ASSERT_EQ(error_of(reader, kHeader), "");
  ASSERT_EQ(error_of(reader, sample(2, 1)), "");
  EXPECT_TRUE(reader.zones_changed());
  EXPECT_FALSE(reader.begins());
  EXPECT_EQ(reader.sample().usage.groups.size(), 2U);
  std::string header(kHeader);
  header.insert(1, R"("begins":true,)");
  ASSERT_EQ(error_of(reader, header), "");
  ASSERT_EQ(error_of(reader, sample(1, 0)), "") << "another boot";
  EXPECT_TRUE(reader.begins());
  EXPECT_TRUE(reader.sample().usage.groups.empty());
}

TEST(TraceReader, SaysWhatIsWrongWithALine) {
  TraceReader fresh;
  EXPECT_EQ(error_of(fresh, sample(1, 0)), "not a trace: it does not begin with a header");
  EXPECT_EQ(error_of(fresh, R"({"trace":"org.keplerd.Trace2"})"),
            "unknown kind of trace (expected org.keplerd.Trace1)");
  EXPECT_EQ(error_of(fresh, R"({"trace":"org.keplerd.Trace1","zones":[]})"),
            "'cpus' is missing, malformed or out of range");
  const auto error = [](const std::string& line) {
    TraceReader reader = begun();
    return error_of(reader, line);
  };
  EXPECT_EQ(error(""), "not JSON");
  EXPECT_EQ(error("{\"monotonicUsec\":"), "not JSON");
  EXPECT_EQ(error("[]"), "not an object");
  EXPECT_EQ(error(std::string(9, '[')), "nested too deeply");
  EXPECT_EQ(error("{}"), "'monotonicUsec' is missing, malformed or out of range");
  EXPECT_EQ(error(sample(1, 0)), "'monotonicUsec' does not advance");
  EXPECT_EQ(error(sample(2'000'000, 0)), "more than 12 days after the sample before");
  EXPECT_EQ(error(sample(2, -1)), "'counters' is missing, malformed or out of range");
  EXPECT_EQ(error(sample(2, INT64_MAX)), "'counters' is missing, malformed or out of range");
  EXPECT_EQ(error(sample(2, 0, R"("groups":{})", "[1,2]")), "'stat' is missing, malformed or out of range");
  EXPECT_EQ(error(sample(2, 0, R"("groups":{})", "[1e9,0,0,0,0,0,0,0]")),
            "'stat' is missing, malformed or out of range");
  EXPECT_EQ(error(sample(2, 0, R"("groups":[])")), "no 'groups'");
  EXPECT_EQ(error(sample(2, 0, R"("groups":{"/a":-1})")), "no CPU time in range for '/a'");
  EXPECT_EQ(error(sample(2, 0, R"("groups":{"/../x//y":1})")), "not the path of a cgroup: '/../x//y'");
  EXPECT_EQ(error(sample(2, 0, R"("groups":{"/x":1},"places":[4])")), "'places' does not fit the cgroups");
  EXPECT_EQ(error(sample(2, 0, R"("groups":{"/x":1},"places":[])")), "'places' does not fit the new cgroups");
  EXPECT_EQ(error(sample(2, 0, R"("groups":{"/x/y":1,"/x":1},"places":[0,1])")),
            "a cgroup is placed before its parent: '/x/y'");
  EXPECT_EQ(error(sample(2, 0, R"("groups":{"/x":4503599627370496,"/y":4503599627370496})")),
            "more CPU time than any host has");
  for (const char* const limits : {"1", R"({"cpuMax":-1})", R"({"memoryMax":"max"})", R"({"vcpus":65537})"})
    EXPECT_EQ(error(sample(2, 0, R"("groups":{},"limits":{"/a":)" + std::string(limits) + "}")),
              "'limits' is malformed for '/a'");
  EXPECT_EQ(error(sample(2, 0, R"("groups":{},"outside":{"x":1})")),
            "'outside' is missing, malformed or out of range");
}

TEST(TraceReader, WithoutAParentAGroupIsBelowTheNearestKnownOne) {
  TraceReader reader = begun();
  ASSERT_EQ(error_of(reader, sample(2, 1, R"("groups":{"/a/x/y":3,"/q/r":1})")), "");
  const auto& groups = reader.sample().usage.groups;
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[2].path, "/a/x/y");
  EXPECT_EQ(groups[2].parent, 0U);
  EXPECT_EQ(groups[3].parent, kNoGroup);
}

}  // namespace
}  // namespace keplerd
