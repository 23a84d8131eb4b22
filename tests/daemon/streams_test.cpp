// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/meter_host.h"
#include "daemon/publish/energy_streams.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using varlink::Json;
using varlink::Reply;

class FakeReports : public Reports {
 public:
  explicit FakeReports(MeterHost& host) : host_(host) {}
  Caller identify(uid_t, std::span<const gid_t>) const override { return kInside; }
  ReportView latest(const Caller&, std::optional<RowKind>) override {
    return {host_.meter().report(), host_.meter().processes()};
  }
  ReportView fresh(const Caller& caller, std::optional<RowKind> kind) override {
    return latest(caller, kind);
  }
  void hurry(const Caller& caller) override { hurried.push_back(caller.full); }
  std::shared_ptr<const Listener> listen(const Listener& listener) override {
    wants_processes.push_back(listener.processes);
    return nullptr;
  }
  const Settings& settings() const override { return settings_; }

  std::vector<bool> hurried;          // by callers with full access
  std::vector<bool> wants_processes;  // each follower

 private:
  MeterHost& host_;
  Settings settings_;
};

class Streams : public testing::Test {
 protected:
  Streams() {
    for (const char* path : {"/a.service", "/b.service", "/c.service"}) host.files.add_cgroup(path, 0);
    host.begin();
  }
  // The unit uses CPU time, and 20 J are drawn.
  void run(const std::string& unit) {
    usage_[unit] += 100'000;
    host.files.set_cgroup_usage(unit, usage_[unit]);
    host.draw(20'000'000);
    host.step();
  }
  static Json parameters_of(const Reply& reply) { return Json::parse(reply.parameters.text()); }
  static std::optional<Json> take(varlink::Stream& stream) {
    auto next = stream.next();
    if (!next) return std::nullopt;
    return parameters_of(std::get<Reply>(*next));
  }
  static std::vector<std::string> ids(const Json& reply) {
    std::vector<std::string> ids;
    for (const Json& row : reply.at("rows")) ids.push_back(row.at("id"));
    return ids;
  }

  MeterHost host;
  FakeReports reports{host};

 private:
  std::map<std::string, std::int64_t> usage_;
};

TEST_F(Streams, ProcessesAreWantedByThoseWhoFollowThem) {
  const MonitorStream units(reports, kInside, RowKind::kUnits, {0s});
  const MonitorStream host_only(reports, kInside, {}, {0s});
  const MonitorStream processes(reports, kInside, RowKind::kProcesses, {0s});
  const MeasureStream unit(reports, kInside, {RowKind::kUnits, "/a.service"}, 0s);
  const MeasureStream process(reports, kInside, {RowKind::kProcesses, "1.1"}, 0s);
  EXPECT_EQ(reports.wants_processes, (std::vector<bool>{false, false, true, false, true}));
  EXPECT_EQ(reports.watches().units().size(), 1U) << "a unit that is measured needs its processes, too";
}

TEST_F(Streams, MonitorSendsEverythingOnceAndThenOnlyChanges) {
  MonitorStream stream(reports, kInside, RowKind::kUnits, {0s});
  const auto first = take(stream);
  ASSERT_TRUE(first);
  EXPECT_EQ(ids(*first), (std::vector<std::string>{"/a.service", "/b.service", "/c.service"}));
  EXPECT_FALSE(take(stream)) << "nothing new";

  run("/a.service");  // the first window: now all have a power
  EXPECT_EQ(ids(*take(stream)).size(), 3u);
  run("/b.service");
  const auto changed = take(stream);
  EXPECT_EQ(ids(*changed), (std::vector<std::string>{"/a.service", "/b.service"}))
      << "a has stopped, b began";
  EXPECT_EQ(changed->at("sequence"), 3);
  EXPECT_EQ(changed->at("host").at("energyMicrojoules"), 40'000'000);
  EXPECT_FALSE(changed->contains("removed"));
}

TEST_F(Streams, AnAlignedMonitorSendsTheFirstSampleAfterEachMultipleOfTheClock) {
  MonitorStream stream(reports, kInside, RowKind::kUnits, {10s, true});
  auto last = take(stream)->at("realtimeUsec").get<std::int64_t>() / 10'000'000;
  for (int seconds = 0; seconds < 60; seconds += 3) {
    host.step(3s);
    const std::int64_t now = host.meter().report()->realtime / 10s;
    const auto sent = take(stream);
    EXPECT_EQ(sent.has_value(), now != last);
    last = now;
  }
}

TEST_F(Streams, MonitorSendsWhatAppearsEndsAndIsRemoved) {
  host.meter().set_limits({.max = 500, .min_energy = {}, .retention = 60s, .vm_retention = 60s});
  MonitorStream stream(reports, kInside, RowKind::kUnits, {0s});
  take(stream);
  host.files.add_cgroup("/d.service", 0);
  host.step();
  take(stream);
  host.files.remove_cgroup("/b.service");
  host.step();
  const auto ended = take(stream);
  ASSERT_EQ(ids(*ended), (std::vector<std::string>{"/b.service"}));
  EXPECT_EQ(ended->at("rows")[0].at("state"), "terminated");
  host.step(100s);
  const auto gone = take(stream);
  EXPECT_EQ(gone->at("removed"), Json::array({"/b.service"}));
}

TEST_F(Streams, AReaderThatMissedReportsGetsTheirChangesAtOnce) {
  MonitorStream stream(reports, kInside, RowKind::kUnits, {0s});
  take(stream);
  run("/a.service");
  run("/b.service");
  run("/c.service");
  const auto all = take(stream);
  EXPECT_EQ(all->at("sequence"), 4);
  EXPECT_EQ(ids(*all).size(), 3u);
  EXPECT_FALSE(take(stream));
}

TEST_F(Streams, MonitorOfTheHostHasNoRows) {
  MonitorStream stream(reports, kInside, std::nullopt, {0s});
  EXPECT_FALSE(take(stream)->contains("rows"));
}

TEST_F(Streams, MonitorKeepsItsReadersInterval) {
  MonitorStream stream(reports, kInside, std::nullopt, {3s});
  take(stream);
  host.step();
  EXPECT_FALSE(take(stream));
  host.step();
  EXPECT_FALSE(take(stream));
  host.step();
  EXPECT_TRUE(take(stream));
}

TEST_F(Streams, MeasureSendsTheRowWithTheHostUntilItHasEnded) {
  MeasureStream stream(reports, kInside, {RowKind::kUnits, "/b.service"}, 0s);
  EXPECT_EQ(take(stream)->at("row").at("energyMicrojoules"), 0);
  EXPECT_FALSE(take(stream));
  run("/b.service");
  const auto reply = take(stream);
  EXPECT_EQ(reply->at("sequence"), 2);
  EXPECT_EQ(reply->at("row").at("energyMicrojoules"), reply->at("host").at("activeMicrojoules"));
  host.files.remove_cgroup("/b.service");
  host.step();
  const auto last = stream.next();
  ASSERT_TRUE(last);
  EXPECT_FALSE(std::get<Reply>(*last).continues);
  EXPECT_EQ(parameters_of(std::get<Reply>(*last)).at("row").at("state"), "terminated");
}

TEST_F(Streams, MeasureOfARowThatHadEndedBeforeWaitsForItToComeBack) {
  host.files.remove_cgroup("/b.service");
  host.step();
  MeasureStream stream(reports, kInside, {RowKind::kUnits, "/b.service"}, 0s);
  const auto first = stream.next();
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::get<Reply>(*first).continues);
  host.files.add_cgroup("/b.service", 0);
  host.step();
  EXPECT_EQ(take(stream)->at("row").at("state"), "running");
}

TEST_F(Streams, MeasureTakesASampleAtOnceForACallerWithFullAccessAndThenKeepsItsInterval) {
  MeasureStream stream(reports, kInside, {RowKind::kUnits, "/b.service"}, 5s);
  EXPECT_EQ(reports.hurried, std::vector{true});
  take(stream);
  host.step(10ms);
  EXPECT_TRUE(take(stream));
  host.step(1s);
  EXPECT_FALSE(take(stream));
  host.step(4s);
  EXPECT_TRUE(take(stream));
}

TEST_F(Streams, MeasureForOthersKeepsItsIntervalFromTheStart) {
  MeasureStream stream(reports, {.user = 1000}, {RowKind::kUnits, "/b.service"}, 5s);
  take(stream);
  host.step(1s);
  EXPECT_FALSE(take(stream));
}

TEST_F(Streams, AMeasuredUnitIsWatchedForAsLongAsItsOwnerOrRootMeasuresIt) {
  EXPECT_TRUE(reports.watches().units().empty());
  {
    MeasureStream roots(reports, kInside, {RowKind::kUnits, "/b.service"}, 0s);
    MeasureStream users(reports, {.user = 1000}, {RowKind::kUnits, "/c.service"}, 0s);
    MeasureStream vms(reports, kInside, {RowKind::kVms, "web"}, 0s);
    const auto watched = reports.watches().units();
    ASSERT_EQ(watched.size(), 2u);
    EXPECT_EQ(watched[0].id, "/b.service");
    EXPECT_EQ(watched[0].user, std::nullopt);
    EXPECT_EQ(watched[1].user, Uid{1000});
  }
  EXPECT_TRUE(reports.watches().units().empty());
}

TEST_F(Streams, ManyRowsComeInPartsOfOneInstant) {
  for (int i = 0; i < 1000; ++i) host.files.add_cgroup("/u" + std::to_string(i), 0);
  host.step();
  MonitorStream stream(reports, kInside, RowKind::kUnits, {0s});
  std::size_t rows = 0;
  int parts = 0;
  while (true) {
    const auto part = take(stream);
    ASSERT_TRUE(part);
    ++parts;
    rows += part->at("rows").size();
    EXPECT_EQ(part->at("sequence"), 2);
    if (parts == 1) host.step();  // what arrives meanwhile must wait
    if (!part->value("partial", false)) break;
  }
  EXPECT_EQ(rows, 1003u);
  EXPECT_GT(parts, 1);
  EXPECT_EQ(take(stream)->at("sequence"), 3);
}

RowSequence rows(std::vector<std::size_t> indices) {
  const std::size_t size = indices.size();
  return {std::make_shared<const std::vector<std::size_t>>(std::move(indices)), size};
}

TEST_F(Streams, ListSendsOneRowPerReplyAndEndsWithTheLast) {
  ListStream stream(reports.latest(kInside, RowKind::kUnits), RowKind::kUnits, rows({2, 0}));
  const Reply first = std::get<Reply>(*stream.next());
  EXPECT_EQ(parameters_of(first).at("row").at("id"), "/c.service");
  EXPECT_TRUE(first.continues);
  const Reply last = std::get<Reply>(*stream.next());
  EXPECT_EQ(parameters_of(last).at("row").at("id"), "/a.service");
  EXPECT_FALSE(last.continues);
}

TEST_F(Streams, AnEmptyListIsOneReplyWithoutARow) {
  ListStream stream(reports.latest(kInside, RowKind::kUnits), RowKind::kUnits, rows({}));
  const Reply only = std::get<Reply>(*stream.next());
  EXPECT_TRUE(parameters_of(only).empty());
  EXPECT_FALSE(only.continues);
}

}  // namespace
}  // namespace keplerd
