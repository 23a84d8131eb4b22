// SPDX-License-Identifier: Apache-2.0
// Who may see what: one table for all callers, and the rules of the public ticks.
#include "daemon/access/access.h"

#include <array>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/unit_name.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uid_t kDaemon = 990, kJoe = 1000, kEve = 1001;
constexpr gid_t kGroup = 991, kUsers = 100;

std::shared_ptr<const UnitInfo> unit_info(const std::string& id) {
  return std::make_shared<UnitInfo>(UnitInfo{.id = id, .name = id.substr(id.rfind('/') + 1), .parent = {}});
}

// A host of joe, eve and the system. Every energy is `energy`, of which a third is idle.
class ReportMaker {
 public:
  explicit ReportMaker(Nanoseconds time, Microjoules energy = {1'234'567}, std::uint64_t sequence = 1)
      : energy_(energy) {
    report_->monotonic = time;
    report_->sequence = sequence;
    report_->source = {.name = "powercap", .quality = Quality::kMeasured, .reason = {}};
    fill(report_->host);
    report_->host.energy = energy;
    report_->accounts = {.idle = report_->host.idle, .kernel = {1}, .workloads = {2}, .unattributed = {3}};
    report_->outside_other = {4};
    add_zone();
    for (const char* id :
         {"/machine.slice/vm.scope", "/system.slice", "/system.slice/cron.service", "/user.slice",
          "/user.slice/user-1000.slice", "/user.slice/user-1000.slice/app.scope",
          "/user.slice/user-1000.sliced", "/user.slice/user-10001.slice", "/user.slice/user-1001.slice"})
      add_unit(id);
    add_container("joes", "/user.slice/user-1000.slice/libpod-joes.scope", report_->containers);
    add_container("systems", "/system.slice/docker-systems.scope", report_->containers);
    add_container("pod", "/kubepods/pod", report_->pods);
    const auto mine = add_vm("by-process", 11, "/system.slice/cron.service", kJoe);
    add_vm("in-slice", 99, "/user.slice/user-1000.slice/qemu.scope", kJoe);
    add_vm("nobodys", 98, "/user.slice/user-1000.slice/qemu.scope", std::nullopt);
    const auto systems = add_vm("systems", 12, "/machine.slice/vm.scope", 0);
    add_process(10, kJoe);
    add_process(11, kJoe, mine);
    add_process(12, 0, systems);
    add_process(13, kEve, mine);  // helps to run it, and is not what runs it
    add_process(14, std::nullopt);
    report_->vm_events = events_;
  }

  Report& operator*() { return *report_; }
  ProcessRows& processes() { return *processes_; }
  ReportView take() { return {std::move(report_), std::move(processes_)}; }

 private:
  template <class Row>
  void fill(Row& row) {
    row.idle = {energy_.value / 3};
    row.active = energy_ - row.idle;
    row.power = Microwatts{77};
  }

  template <class Row>
  Row& fill_workload(Row& row) {
    fill(row);
    row.zones = shares_;
    return row;
  }

  void add_zone() {
    ZoneRow& zone = report_->zones.emplace_back();
    zone.zone = {.id = "powercap:package:0", .name = "package", .in_total = true};
    fill(zone);
    zone.energy = energy_;
  }

  void add_unit(const std::string& id) {
    UnitRow& row = fill_workload(report_->units.emplace_back());
    row.info = unit_info(id);
    row.owner = slice_user(id).value_or(0);
    row.own = row.other = energy_;
  }

  void add_container(const std::string& id, const std::string& unit, std::vector<ContainerRow>& rows) {
    ContainerRow& row = fill_workload(rows.emplace_back());
    row.own = row.other = row.in_parent = energy_;
    row.owner = slice_user(unit).value_or(0);
    row.info = std::make_shared<ContainerInfo>(
        ContainerInfo{.id = id, .name = id, .runtime = "x", .parent = {}, .pod = {}, .unit = unit});
  }

  std::shared_ptr<const VmInfo> add_vm(const std::string& id, std::int32_t pid, const std::string& unit,
                                       std::optional<uid_t> user) {
    VmRow& row = fill_workload(report_->vms.emplace_back());
    row.owner = user;
    row.parts = {{"vcpu0", energy_}};
    VmInfo info{};
    info.id = info.name = id;
    info.pid = pid;
    info.unit = unit;
    row.info = std::make_shared<VmInfo>(std::move(info));
    events_->push_back({.number = events_->size() + 1,
                        .at = Realtime(1),
                        .id = id,
                        .name = id,
                        .owner = user,
                        .event = "started",
                        .reason = {}});
    return row.info;
  }

  void add_process(std::int32_t pid, std::optional<std::uint32_t> user,
                   std::shared_ptr<const VmInfo> vm = nullptr) {
    ProcessRow& row = fill_workload(processes_->rows.emplace_back());
    row.in_unit = energy_;
    row.vm = std::move(vm);
    row.info = std::make_shared<ProcessInfo>(ProcessInfo{.id = {pid, 7}, .comm = "x", .user = user});
    row.owner = user;
  }

  static constexpr std::array<ZoneShare, 1> shares_ = {};
  Microjoules energy_;
  std::shared_ptr<std::vector<VmEvent>> events_ = std::make_shared<std::vector<VmEvent>>();
  std::shared_ptr<Report> report_ = std::make_shared<Report>();
  std::shared_ptr<ProcessRows> processes_ = std::make_shared<ProcessRows>();
};

// What there is to be seen in a report.
struct Seen {
  bool anything = false, accounts = false, zones = false;
  std::vector<std::string> units, vms, containers, pods, processes, events;
  bool operator==(const Seen&) const = default;
  friend void PrintTo(const Seen& seen, std::ostream* out) {
    *out << (seen.anything ? "seen" : "nothing") << (seen.accounts ? " accounts" : "")
         << (seen.zones ? " zones" : "") << " " << testing::PrintToString(seen.units)
         << testing::PrintToString(seen.vms) << testing::PrintToString(seen.containers)
         << testing::PrintToString(seen.pods) << testing::PrintToString(seen.processes)
         << testing::PrintToString(seen.events);
  }
};

template <class Row>
std::vector<std::string> ids(const std::vector<Row>& rows) {
  std::vector<std::string> ids;
  for (const Row& row : rows) {
    if constexpr (std::is_same_v<Row, ProcessRow>) {
      ids.push_back(std::to_string(row.info->id.pid));
    } else {
      ids.push_back(row.info->id);
    }
  }
  return ids;
}

std::vector<std::string> vms_with_events(const Report& report) {
  std::vector<std::string> ids;
  if (!report.vm_events) return ids;
  for (const VmEvent& event : *report.vm_events) ids.push_back(event.id);
  return ids;
}

Seen seen_in(const ReportView& view) {
  const auto& report = view.report;
  if (!report) return {};
  return {true,
          report->full,
          !report->zones.empty(),
          ids(report->units),
          ids(report->vms),
          ids(report->containers),
          ids(report->pods),
          ids(processes_of(view)),
          vms_with_events(*report)};
}

// Access to samples as keplerd takes them.
class SampledAccess : public Access {
 public:
  explicit SampledAccess(std::optional<gid_t> group = kGroup)
      : Access(kDaemon, group, [this] {
          ++made;
          return processes_;
        }) {}

  void sample(ReportMaker maker) {
    const ReportView sampled = maker.take();
    keep_processes(sampled.report->monotonic);
    processes_ = sampled.processes;
    add(sampled.report);
  }

  int made = 0;  // how often processes were

 private:
  std::shared_ptr<const ProcessRows> processes_;
};

// As a test looks at it: most of the time at the report.
struct Sight : ReportView {
  const Report* operator->() const { return report.get(); }
  const Report& operator*() const { return *report; }
  const std::vector<ProcessRow>& rows_of_processes() const { return processes->rows; }
  friend bool operator==(const Sight& a, const Sight& b) { return a.report == b.report; }
};

Sight seen_by(Access& access, uid_t user, std::vector<gid_t> groups) {
  return {access.view_for(access.identify(user, groups), RowKind::kProcesses)};
}

const Seen kEverything = seen_in(ReportMaker(1s).take());
const Seen kRowsOfAll = [] {
  Seen seen = kEverything;
  seen.accounts = false;
  return seen;
}();
const Seen kHostAlone{.anything = true};
const Seen kJoes{.anything = true,
                 .units = {"/user.slice/user-1000.slice", "/user.slice/user-1000.slice/app.scope"},
                 .vms = {"by-process", "in-slice"},
                 .containers = {"joes"},
                 .pods = {},
                 .processes = {"10", "11"},
                 .events = {"by-process", "in-slice"}};
const Seen kEves{.anything = true, .units = {"/user.slice/user-1001.slice"}, .processes = {"13"}};

TEST(AccessTable, SaysWhoSeesWhat) {
  struct Row {
    const char* who;
    uid_t user;
    std::vector<gid_t> groups;
    Seen none, host, own, all;
  };
  const std::vector<Row> kTable = {
      {"root", 0, {0}, kEverything, kEverything, kEverything, kEverything},
      {"keplerd's own user", kDaemon, {kUsers}, kEverything, kEverything, kEverything, kEverything},
      {"a member of the group", kEve, {kUsers, kGroup}, kEverything, kEverything, kEverything, kEverything},
      {"whose only group it is", kEve, {kGroup}, kEverything, kEverything, kEverything, kEverything},
      {"joe", kJoe, {kUsers}, {}, kHostAlone, kJoes, kRowsOfAll},
      {"eve", kEve, {kUsers, 0}, {}, kHostAlone, kEves, kRowsOfAll},
      {"a user of nothing", 12345, {}, {}, kHostAlone, kHostAlone, kRowsOfAll},
      {"who is not known", static_cast<uid_t>(-1), {}, {}, kHostAlone, kHostAlone, kRowsOfAll},
  };
  for (const Row& row : kTable) {
    SampledAccess access;
    access.sample(ReportMaker(1s));
    EXPECT_EQ(seen_in(seen_by(access, row.user, row.groups)), row.own) << row.who << ", by default";
    for (const auto& [rule, seen] :
         {std::pair(PublicAccess::kNone, row.none), std::pair(PublicAccess::kHost, row.host),
          std::pair(PublicAccess::kOwn, row.own), std::pair(PublicAccess::kAll, row.all)}) {
      access.set_rule(rule);
      EXPECT_EQ(seen_in(seen_by(access, row.user, row.groups)), seen) << row.who << ", " << rule_name(rule);
    }
  }
}

TEST(AccessTable, WithoutTheGroupNobodyIsItsMember) {
  SampledAccess access(std::nullopt);
  EXPECT_FALSE(access.identify(kJoe, std::vector<gid_t>{0, kGroup}).full);
}

class Public : public testing::Test {
 protected:
  void tick(Nanoseconds time, Microjoules energy, Nanoseconds window = 1s) {
    ReportMaker report(time, energy, ++sequence_);
    (*report).window = window;
    access.sample(std::move(report));
  }
  Sight seen() { return seen_by(access, kJoe, {kUsers}); }

  SampledAccess access;

 private:
  std::uint64_t sequence_ = 0;
};

TEST_F(Public, TheEndOfOnesMachineIsToldThoughItIsNoLongerKept) {
  tick(1s, {1'000'000});
  ReportMaker report(2s, {1'000'000}, 2);
  std::erase_if((*report).vms, [](const VmRow& row) { return row.info->id == "by-process"; });
  access.sample(std::move(report));
  EXPECT_EQ(seen_in(seen()).vms, (std::vector<std::string>{"in-slice"}));
  EXPECT_EQ(seen_in(seen()).events, (std::vector<std::string>{"by-process", "in-slice"}));
}

TEST_F(Public, OfKeplerdItselfThereIsNoEnergyAndTheCpuTimeBetweenPublicTicks) {
  const auto tick_with = [&](Nanoseconds time, Nanoseconds cpu) {
    ReportMaker report(time);
    (*report).own_cost = {
        .cpu = cpu, .window_cpu = 1ms, .memory = 4096, .energy = Microjoules{5}, .power = {{6}}};
    access.sample(std::move(report));
  };
  tick_with(1s, 10ms);
  tick_with(1500ms, 14ms);
  tick_with(2s, 19ms);
  const OwnCost& cost = seen()->own_cost;
  EXPECT_EQ(cost.cpu, 19ms);
  EXPECT_EQ(cost.window_cpu, 9ms);
  EXPECT_EQ(cost.memory, 4096);
  EXPECT_FALSE(cost.energy);
  EXPECT_FALSE(cost.power);
}

TEST_F(Public, EnergyIsInStepsOfATenthOfAJoule) {
  access.set_rule(PublicAccess::kAll);
  tick(1s, {1'234'567});
  const Sight sight = seen();
  const Report& report = *sight;
  // Of 1234567, 411522 are idle and 823045 active.
  const auto expect_floored = [](const auto& row) {
    EXPECT_EQ(row.active, Microjoules{800'000});
    EXPECT_EQ(row.idle, Microjoules{400'000});
  };
  expect_floored(report.host);
  EXPECT_EQ(report.host.energy, Microjoules{1'200'000});
  for (const ZoneRow& zone : report.zones) {
    expect_floored(zone);
    EXPECT_EQ(zone.energy, Microjoules{1'200'000});
  }
  for (const UnitRow& row : report.units) {
    expect_floored(row);
    EXPECT_EQ(row.own, Microjoules{1'200'000});
    EXPECT_EQ(row.other, Microjoules{1'200'000});
    EXPECT_TRUE(row.zones.empty());
  }
  for (const VmRow& row : report.vms) {
    expect_floored(row);
    EXPECT_TRUE(row.parts.empty());
    EXPECT_TRUE(row.zones.empty());
  }
  for (const auto* rows : {&report.containers, &report.pods}) {
    for (const ContainerRow& row : *rows) {
      expect_floored(row);
      EXPECT_EQ(row.own, Microjoules{1'200'000});
      EXPECT_EQ(row.other, Microjoules{1'200'000});
      EXPECT_EQ(row.in_parent, Microjoules{1'200'000});
      EXPECT_TRUE(row.zones.empty());
    }
  }
  for (const ProcessRow& row : sight.rows_of_processes()) {
    expect_floored(row);
    EXPECT_EQ(row.in_unit, Microjoules{1'200'000});
    EXPECT_TRUE(row.zones.empty());
  }
  EXPECT_EQ(report.accounts.workloads, Microjoules{}) << "not told, not even inside";
  EXPECT_EQ(report.outside_other, Microjoules{});
}

TEST_F(Public, PowerIsThatOfTheToldEnergiesOverThePublicWindow) {
  tick(1s, {299'999});
  EXPECT_EQ(seen()->host.power, std::nullopt) << "one tick is no window";
  EXPECT_EQ(seen()->window, 0ns);
  tick(3s, {900'000});
  const Sight sight = seen();
  const Report& report = *sight;
  EXPECT_EQ(report.window, 2s);
  // Idle 99999 and then 300000, active 200000 and then 600000.
  EXPECT_EQ(report.host.power, Microwatts{350'000});
  EXPECT_EQ(report.host.idle_power, Microwatts{150'000});
  EXPECT_EQ(report.host.active_power, Microwatts{200'000});
  EXPECT_EQ(report.units.front().power, Microwatts{350'000});
  EXPECT_EQ(sight.rows_of_processes().front().power, Microwatts{350'000});
}

TEST_F(Public, EnergyThatStaysWithinItsStepIsNoPower) {
  tick(1s, {300'000});
  seen();
  tick(2s, {330'000});
  EXPECT_EQ(seen()->host.power, Microwatts{0});
  EXPECT_EQ(seen().rows_of_processes().front().power, Microwatts{0});
}

TEST_F(Public, WhatIsNewHadNothingBefore) {
  ReportMaker first(1s);
  first.processes().rows.erase(first.processes().rows.begin());
  access.sample(std::move(first));
  seen();
  tick(2s, {300'000});
  EXPECT_EQ(seen().rows_of_processes().front().power, Microwatts{300'000});
}

TEST_F(Public, WithoutEveryZoneOfTheTotalThereIsNoPower) {
  tick(1s, {});
  ReportMaker failed(2s, {3'000'000});
  (*failed).zones[0].problem = "cannot be read";
  access.sample(std::move(failed));
  EXPECT_EQ(seen()->host.power, std::nullopt);
  EXPECT_EQ(seen()->units.front().power, std::nullopt);
  ReportMaker more(3s, {3'000'000});
  (*more).zones.push_back((*more).zones[0]);
  access.sample(std::move(more));
  EXPECT_EQ(seen()->host.power, std::nullopt) << "the other zone is not known over the whole window";
  ReportMaker none(4s, {3'000'000});
  (*none).zones.clear();
  access.sample(std::move(none));
  EXPECT_EQ(seen()->host.power, std::nullopt);
}

TEST_F(Public, TicksAreASecondApartHoweverFastItSamples) {
  std::set<std::uint64_t> reported;
  for (int i = 0; i <= 1000; ++i) {
    tick(1s + i * 10ms, {i * 1000}, 10ms);
    reported.insert(seen()->sequence);
  }
  EXPECT_THAT(reported, ElementsAre(1, 101, 201, 301, 401, 501, 601, 701, 801, 901, 1001));
  EXPECT_EQ(seen()->window, 1s);
}

TEST_F(Public, ASampleThatIsALittleEarlyCountsAndTheNextIsNotEarlierForIt) {
  std::vector<std::uint64_t> reported;
  for (const Nanoseconds time :
       std::vector<Nanoseconds>{10s, 11s - 40ms, 12s - 40ms, 12s + 30ms, 13s - 80ms, 13s}) {
    tick(time, {});
    reported.push_back(seen()->sequence);
  }
  EXPECT_THAT(reported, ElementsAre(1, 2, 3, 3, 3, 6));
}

TEST_F(Public, SlowSamplesAreTicksAllOfThem) {
  for (int i = 1; i <= 3; ++i) {
    tick(i * 10s, {}, 10s);
    EXPECT_EQ(seen()->sequence, static_cast<std::uint64_t>(i));
  }
}

TEST_F(Public, IsOfOneTickForEverybody) {
  tick(1s, {});
  tick(2s, {1'000'000});
  const auto joes = seen();
  tick(2500ms, {2'000'000}, 500ms);
  const auto eves = seen_by(access, kEve, {});
  EXPECT_EQ(joes, seen()) << "the same object, however often it is asked for";
  EXPECT_EQ(eves->sequence, joes->sequence);
  EXPECT_EQ(eves->host.energy, joes->host.energy);
  EXPECT_EQ(seen_by(access, 0, {})->sequence, 3U) << "root sees the sample";
}

TEST_F(Public, AskingForManyUsersIsBounded) {
  tick(1s, {});
  for (uid_t user = 0; user < 1000; ++user) seen_by(access, 100'000 + user, {});
  EXPECT_EQ(seen()->sequence, 1U);
}

// A client that follows once an hour, or does not read, holds the report that it was sent last.
TEST_F(Public, AUserHoldsEightViewsAndThenSeesTheLastOfTheseUntilOneIsReleased) {
  std::vector<Sight> held;
  for (int i = 1; i <= 8; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back(seen());
    ASSERT_EQ(held.back(), seen());
    ASSERT_EQ(held.back()->sequence, static_cast<std::uint64_t>(i));
  }
  tick(9s, {9'000'000});
  EXPECT_EQ(seen(), held.back());
  EXPECT_EQ(seen_by(access, kEve, {kUsers})->sequence, 9U) << "another user has all of its own";
  held.erase(held.begin() + 3);
  EXPECT_EQ(seen()->sequence, 9U);
}

TEST_F(Public, ViewsThatAllShareAreCountedByLogin) {
  access.set_rule(PublicAccess::kAll);
  std::vector<Sight> held;
  const auto sub_user = [](int i) {
    return Caller{.user = 100'000U + static_cast<uid_t>(i), .account = 1000};
  };
  for (int i = 1; i <= 10; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back({access.view_for(sub_user(i))});
  }
  EXPECT_EQ(held[9]->sequence, 8U);
  EXPECT_EQ(seen()->sequence, 10U);
}

// Else whoever holds eight of these would freeze what all others see, and keplerd's own status.
TEST_F(Public, WhatEverybodySeesIsCountedForWhoAsks) {
  std::vector<Sight> held;
  const Caller joe{.user = kJoe, .account = kJoe};
  for (int i = 1; i <= 10; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back({access.view_for(joe.as_public())});
  }
  const auto sequence = [&](const Caller& caller) {
    return access.view_for(caller.as_public()).report->sequence;
  };
  EXPECT_EQ(sequence(joe), 8U);
  EXPECT_EQ(sequence({.user = kEve, .account = kEve}), 10U);
  EXPECT_EQ(sequence({.user = 70'001}), 10U) << "of a login that is not known";
  EXPECT_EQ(sequence(kInside), 10U);
  EXPECT_EQ(access.view_for(joe).report->sequence, 10U) << "his own are others";
}

// A view that is made again, because many users ask, is another object.
TEST_F(Public, AUsersViewOfATickIsOneHoweverManyAsk) {
  tick(1s, {1'000'000});
  const auto view = seen();
  for (uid_t user = 2000; user < 2200; ++user) seen_by(access, user, {kUsers});
  EXPECT_EQ(seen(), view);
}

// What a user holds was made by the rule that was; it is not what is given by another one.
TEST_F(Public, ViewsThatAreHeldAreNotGivenByAnotherRule) {
  access.set_rule(PublicAccess::kAll);
  std::vector<Sight> held;
  for (int i = 1; i <= 8; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back(seen());
  }
  access.set_rule(PublicAccess::kHost);
  EXPECT_EQ(seen_in(seen()), kHostAlone);
}

TEST_F(Public, AStalledSampleIsNoTick) {
  const auto report = ReportMaker(1s).take().report;
  access.add(report);
  const auto reported = seen();
  access.add(report);
  EXPECT_EQ(seen(), reported);
}

// Of processes there may be very many: nobody has them made who sees none of them.
TEST_F(Public, ProcessesAreMadeWhenSomebodyAsksWhoMaySeeSome) {
  const Caller joe = access.identify(kJoe, std::vector<gid_t>{kUsers});
  tick(1s, {1'000'000});
  for (const PublicAccess rule : {PublicAccess::kNone, PublicAccess::kHost}) {
    access.set_rule(rule);
    EXPECT_FALSE(seen().processes) << rule_name(rule);
  }
  access.set_rule(PublicAccess::kOwn);
  EXPECT_FALSE(access.view_for(joe).processes);
  EXPECT_EQ(access.made, 0);
  EXPECT_EQ(seen().rows_of_processes().size(), 2U);
  EXPECT_EQ(access.made, 1);
}

TEST_F(Public, ProcessesAreMadeOnceATickForAll) {
  tick(1s, {1'000'000});
  const auto joes = seen().processes;
  EXPECT_EQ(seen().processes, joes);
  EXPECT_NE(seen_by(access, kEve, {kUsers}).processes, joes);
  EXPECT_EQ(access.made, 1);
}

TEST_F(Public, ProcessesGoWithTheReportThatIsThere) {
  tick(1s, {1'000'000});
  seen();
  tick(2s, {2'000'000});
  const Caller joe = access.identify(kJoe, std::vector<gid_t>{kUsers});
  const ReportView view = access.view_for(joe);
  EXPECT_FALSE(view.processes);
  const Sight with_processes = seen();
  EXPECT_EQ(with_processes.report, view.report);
  EXPECT_TRUE(with_processes.rows_of_processes().front().power);
  EXPECT_FALSE(view.processes) << "what was given stays as it was";
}

TEST_F(Public, PowerOfProcessesIsNotKnownWhereNobodyAskedInTheTickBefore) {
  tick(1s, {1'000'000});
  tick(2s, {2'000'000});
  EXPECT_FALSE(seen().rows_of_processes().front().power);
  EXPECT_TRUE(seen()->units.front().power);
  tick(3s, {3'000'000});
  EXPECT_TRUE(seen().rows_of_processes().front().power);
}

TEST_F(Public, ProcessesOfTicksAreKeptForAMinuteAfterTheyWereAskedFor) {
  tick(1s, {});
  seen();
  for (int i = 2; i <= 100; ++i) tick(i * 1s, {});
  EXPECT_EQ(access.made, 60);
}

// They cannot be made of a tick after a later sample: until the next tick somebody may ask for them.
TEST_F(Public, ProcessesOfATickAreThereHoweverManySamplesFollow) {
  tick(1s, {1'000'000});
  for (int i = 1; i <= 9; ++i) tick(1s + i * 100ms, {2'000'000}, 100ms);
  EXPECT_EQ(seen()->sequence, 1U);
  EXPECT_EQ(seen().rows_of_processes().size(), 2U);
  EXPECT_EQ(access.made, 1);
}

TEST_F(Public, WhereTicksShowNoWorkloadsNoProcessesAreKept) {
  access.set_rule(PublicAccess::kHost);
  for (int i = 0; i <= 100; ++i) tick(1s + i * 100ms, {2'000'000}, 100ms);
  EXPECT_EQ(access.made, 0);
}

TEST_F(Public, AnotherRuleShowsTheProcessesOfTheLastSampleAtOnce) {
  access.set_rule(PublicAccess::kHost);
  tick(1s, {1'000'000});
  tick(1500ms, {2'000'000}, 500ms);
  EXPECT_EQ(seen()->sequence, 1U);
  access.set_rule(PublicAccess::kOwn);
  EXPECT_EQ(seen()->sequence, 2U);
  EXPECT_EQ(seen().rows_of_processes().size(), 2U);
}

TEST_F(Public, AUserHoldsEightViewsWithTheirProcesses) {
  std::vector<Sight> held;
  const Caller joe = access.identify(kJoe, std::vector<gid_t>{kUsers});
  for (int i = 1; i <= 8; ++i) {
    tick(i * 1s, {i * 1'000'000});
    held.push_back({access.view_for(joe)});
    held.push_back(seen());
  }
  tick(9s, {9'000'000});
  EXPECT_EQ(seen()->sequence, 8U);
  EXPECT_EQ(seen().processes, held.back().processes);
  for (Sight& sight : held) sight.report.reset();  // the processes alone count for the view
  EXPECT_EQ(seen()->sequence, 8U);
  held[0] = held[1] = {};
  EXPECT_EQ(seen()->sequence, 9U);
}

}  // namespace
}  // namespace keplerd
