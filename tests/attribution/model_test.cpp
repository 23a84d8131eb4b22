// SPDX-License-Identifier: Apache-2.0
// The seam between the Attributor and its model: a model's input, and what holds whatever it returns.
#include "attribution/model.h"

#include <gtest/gtest.h>

#include "attribution/attributor.h"
#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/number_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMost = INT64_MAX;

// What a test makes the model return, and the input that the model received.
struct Script {
  bool divides = true;
  Microjoules idle;
  std::int64_t kernel = 1, outside = 1, process = 1, other = 1;
  std::int64_t own = 1;            // of each group,
  std::vector<std::int64_t> owns;  // except for the first ones

  int begun = 0;
  std::size_t contenders = 0;
  TickStep ticks;
  struct Zone {
    std::string id;
    Microjoules energy;
    Nanoseconds span{0};
    TickStep ticks;
  };
  std::vector<Zone> weighed;
};

// All contenders weigh the same, even without CPU time, and nothing is idle; unless the script says
// otherwise.
class ScriptedModel final : public Model {
 public:
  explicit ScriptedModel(Script& script) : script_(&script) {}

  void begin(const UsageSample& usage, const Contenders& contenders) override {
    ++script_->begun;
    script_->contenders = contenders.size();
    script_->ticks = contenders.ticks;
    contenders_.assign(1, script_->kernel);
    contenders_.insert(contenders_.end(), script_->owns.begin(), script_->owns.end());
    contenders_.resize(1 + contenders.own.size(), script_->own);
    contenders_.resize(contenders.size(), script_->outside);
    process_.assign(usage.processes.size(), script_->process);
    other_.assign(usage.groups.size(), script_->other);
  }

  std::optional<Weighing> weigh(const DrawnEnergy& drawn) override {
    script_->weighed.push_back({drawn.zone.id, drawn.energy, drawn.span, drawn.ticks});
    if (!script_->divides) return std::nullopt;
    return Weighing{.idle = script_->idle, .contenders = contenders_, .process = process_, .other = other_};
  }

 private:
  Script* script_;
  std::vector<std::int64_t> contenders_, process_, other_;
};

// A package, memory, a graphics card and a platform's meter. Contenders: the kernel, a slice and
// the unit inside it, and one process outside any group. The unit has the only two running
// processes.
class ModelTest : public testing::Test {
 protected:
  ModelTest()
      : host({package_zone(), dram_zone(), zone_of("gpu", Resource::kGpu),
              zone_of("platform", Resource::kNone)}) {
    attributor.set_zones(host.zones());
    sample = host.sample();
    attributor.attribute(sample);
  }

  static Zone zone_of(const std::string& name, Resource resource) {
    return {.id = zone_id("test", name, 0), .name = name, .resource = resource};
  }

  // A window in which each zone draws `energy`.
  const Attribution& window(Microjoules energy) {
    for (const int process : {first, second, outside}) host.run(process, 100ms);
    host.run_ticks(30, 70);
    for (std::size_t zone = 0; zone < host.zones().size(); ++zone) host.draw(energy, zone);
    sample = host.sample();
    const Attribution& result = attributor.attribute(sample);
    expect_exact_sums(result, sample, std::vector(host.zones().size(), energy));
    return result;
  }
  Microjoules own(const ZoneAttribution& zone, int group) const { return zone.own[host.group_index(group)]; }
  Microjoules of(const ZoneAttribution& zone, int process) const {
    return zone.process[host.process_index(process)];
  }

  Script script;
  NumberHost host;
  int slice = host.add_group();
  int unit = host.add_group(slice);
  int first = host.add_process(unit);
  int second = host.add_process(unit);
  int outside = host.add_process();
  Attributor attributor{std::make_unique<ScriptedModel>(script)};
  Sample sample;
};

TEST_F(ModelTest, SharesAreByItsWeightsAndNotByCpuTime) {
  const Attribution& result = window({120});
  for (const std::size_t zone : {0U, 1U, 2U}) {
    const ZoneAttribution& shares = result.zones[zone];
    EXPECT_EQ(shares.idle, Microjoules{0});
    EXPECT_EQ(shares.unattributed, Microjoules{0});
    EXPECT_EQ(shares.kernel, Microjoules{30});
    EXPECT_EQ(own(shares, slice), Microjoules{30}) << "which used no CPU time itself";
    EXPECT_EQ(own(shares, unit), Microjoules{30});
    EXPECT_EQ(of(shares, outside), Microjoules{30});
    EXPECT_EQ(of(shares, first), Microjoules{10});
    EXPECT_EQ(of(shares, second), Microjoules{10});
    EXPECT_EQ(shares.other[host.group_index(unit)], Microjoules{10});
    EXPECT_EQ(shares.group[host.group_index(slice)], Microjoules{60});
  }
}

TEST_F(ModelTest, SumsAreExactWhereSharesAreNotWhole) {
  script.idle = {7};
  for (const std::int64_t energy : {7, 8, 9, 10, 11, 101, 1'000'003}) {
    const Attribution& result = window({energy});
    EXPECT_EQ(result.zones[0].idle, Microjoules{7});
    EXPECT_EQ(result.zones[0].unattributed, Microjoules{0});
  }
}

TEST_F(ModelTest, AContenderOfWeightZeroGetsNothing) {
  script.owns = {5, 0};  // the unit runs, and weighs nothing
  script.kernel = 0;
  const Attribution& result = window({1'000});
  EXPECT_EQ(result.zones[0].kernel, Microjoules{0});
  EXPECT_EQ(own(result.zones[0], unit), Microjoules{0});
  EXPECT_EQ(of(result.zones[0], first), Microjoules{0});
  EXPECT_EQ(own(result.zones[0], slice), Microjoules{833});
  EXPECT_EQ(of(result.zones[0], outside), Microjoules{167});
}

TEST_F(ModelTest, IfAllWeightsAreZeroAllButTheIdleIsUnattributed) {
  script.kernel = script.own = script.outside = 0;
  script.idle = {300};
  const Attribution& result = window({1'000});
  EXPECT_EQ(result.zones[0].idle, Microjoules{300});
  EXPECT_EQ(result.zones[0].unattributed, Microjoules{700});
}

TEST_F(ModelTest, GroupWhoseWeightsAreAllZeroIsAllOther) {
  script.process = script.other = 0;
  const Attribution& result = window({120});
  EXPECT_EQ(own(result.zones[0], unit), Microjoules{30});
  EXPECT_EQ(result.zones[0].other[host.group_index(unit)], Microjoules{30});
}

TEST_F(ModelTest, WeightsMayBeAsLargeAsTheyGet) {
  script.kernel = script.own = script.outside = script.process = script.other = kMost;
  const Attribution& result = window({120});
  EXPECT_EQ(result.zones[0].kernel, Microjoules{30});
  EXPECT_EQ(of(result.zones[0], first), Microjoules{10});
}

TEST_F(ModelTest, ZoneThatItDoesNotDivideIsUnattributed) {
  script.divides = false;
  script.idle = {300};
  for (const ZoneAttribution& zone : window({1'000}).zones) {
    EXPECT_EQ(zone.idle, Microjoules{0});
    EXPECT_EQ(zone.unattributed, Microjoules{1'000});
  }
}

TEST_F(ModelTest, IsNotCalledForZonesThatAreNotDivided) {
  const Attribution& result = window({1'000});
  EXPECT_EQ(result.zones[3].unattributed, Microjoules{1'000});
  ASSERT_EQ(script.weighed.size(), 3U);
  EXPECT_EQ(script.weighed[0].id, "test:package:0");
  EXPECT_EQ(script.weighed[1].id, "test:dram:0");
  EXPECT_EQ(script.weighed[2].id, "test:gpu:0");
}

TEST_F(ModelTest, IsCalledOncePerWindowAndNotForTheFirstSample) {
  EXPECT_EQ(script.begun, 0);
  window({1'000});
  EXPECT_EQ(script.begun, 1);
  EXPECT_EQ(script.contenders, 4U);
  EXPECT_EQ(script.ticks.current.busy - script.ticks.previous.busy, 30);
  window({});
  EXPECT_EQ(script.begun, 2) << "though there is nothing to divide";
  EXPECT_EQ(script.weighed.size(), 3U);
}

TEST_F(ModelTest, SpanOfAZoneThatFailedIsLongerThanTheWindow) {
  host.fail(true);
  host.run_ticks(30, 70);
  sample = host.sample();
  attributor.attribute(sample);
  host.fail(false);
  window({1'000});
  const Script::Zone& package = script.weighed[0];
  EXPECT_EQ(package.span, 2s);
  EXPECT_EQ(package.ticks.current.busy - package.ticks.previous.busy, 60);
  EXPECT_EQ(script.weighed[1].span, 1s);
  EXPECT_EQ(script.weighed[1].ticks.current.busy - script.weighed[1].ticks.previous.busy, 30);
}

TEST_F(ModelTest, AnotherGoesOnWithTheBaselines) {
  window({1'000});
  Script others{.idle = {40}};
  attributor.set_model(std::make_unique<ScriptedModel>(others));
  EXPECT_EQ(window({1'000}).zones[0].idle, Microjoules{40});
  EXPECT_EQ(script.begun, 1);
  EXPECT_EQ(others.begun, 1);
}

TEST_F(ModelTest, OfKeplersRulesDividesProcessorsAndMemoryAndNothingElse) {
  attributor.set_model(
      make_model({.split = ModelRules::Split::kUsageRatio, .share = ModelRules::Share::kCpuTime}));
  const Attribution& result = window({1'000});
  for (const std::size_t zone : {0U, 1U}) {
    EXPECT_EQ(result.zones[zone].idle, Microjoules{700});
    EXPECT_EQ(own(result.zones[zone], slice), Microjoules{0});
    EXPECT_EQ(own(result.zones[zone], unit), Microjoules{200});
    EXPECT_EQ(of(result.zones[zone], first), Microjoules{100});
    EXPECT_EQ(of(result.zones[zone], outside), Microjoules{100});
  }
  for (const std::size_t zone : {2U, 3U}) {
    EXPECT_EQ(result.zones[zone].idle, Microjoules{0});
    EXPECT_EQ(result.zones[zone].unattributed, Microjoules{1'000});
  }
}

}  // namespace
}  // namespace keplerd
