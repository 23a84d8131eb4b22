// SPDX-License-Identifier: Apache-2.0
// What counters of cgroups say, and when they say nothing. The counters are the test's: the kernel's are
// tried in tests/integration/perf_test.py.
#include <cerrno>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "meters/perf/reader.h"
#include "support/fake_host.h"
#include "usage/count_file.h"

namespace keplerd::perf {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PerfEvents, AreThoseThatAreUsed) {
  const auto names = [](ShareRule share, std::string_view vendor) {
    std::vector<std::string> found;
    for (const Event& event : events_for(share, vendor)) found.emplace_back(event.name);
    return found;
  };
  EXPECT_THAT(names(ShareRule::kAuto, "GenuineIntel"), ElementsAre("cache misses"));
  EXPECT_THAT(names(ShareRule::kInstructions, "GenuineIntel"), ElementsAre("cache misses", "instructions"));
  EXPECT_THAT(names(ShareRule::kCycles, "AuthenticAMD"), ElementsAre("cycles"))
      << "whose cache misses are those of another cache";
  EXPECT_THAT(names(ShareRule::kLearned, ""), IsEmpty());
  EXPECT_THAT(names(ShareRule::kCpuTime, "GenuineIntel"), IsEmpty());
}

TEST(Extrapolation, IsWhatWasCountedIfItWasCountedAllTheTime) {
  EXPECT_EQ(extrapolate({.count = 50, .enabled = 20, .running = 20}), Count{50});
  EXPECT_EQ(extrapolate({.count = 0, .enabled = 0, .running = 0}), Count{0}) << "nothing ran";
}

TEST(Extrapolation, IsInProportionToTheTimeThatWasNotCounted) {
  EXPECT_EQ(extrapolate({.count = 100, .enabled = 40, .running = 10}), Count{400});
  EXPECT_EQ(extrapolate({.count = 100, .enabled = 10, .running = 11}), Count{100}) << "never less";
}

TEST(Extrapolation, IsUnknownIfLessThanAQuarterOfTheTimeWasCounted) {
  EXPECT_EQ(extrapolate({.count = 100, .enabled = 40, .running = 9}), std::nullopt);
  EXPECT_EQ(extrapolate({.count = 0, .enabled = 10'000'000, .running = 0}), std::nullopt);
  EXPECT_EQ(extrapolate({.count = std::uint64_t{1} << 63, .enabled = 1, .running = 1}), std::nullopt)
      << "more than hardware can count";
}

class PerfReader : public testing::Test {
 protected:
  PerfReader() {
    for (const char* const cgroup : {"/a.service", "/b.service", "/c.service"}) {
      fake_.add_cgroup(cgroup);
      fake_.set_cgroup_usage(cgroup, 0);
    }
    fake_.write("sys/devices/system/cpu/online", "0-3\n");
    for (int cpu = 0; cpu < 4; ++cpu) {
      const std::string topology = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      fake_.write(topology + "physical_package_id", std::to_string(cpu / 2) + "\n");
      fake_.write(topology + "die_id", "0\n");
      fake_.write(topology + "thread_siblings_list", std::to_string(cpu) + "\n");
    }
  }

  // Of the test: what counters read, by the identity of the cgroup (0: all that runs) and the CPU.
  using Place = std::pair<std::uint64_t, int>;
  struct State {
    std::map<Place, PerfReading> readings;
    std::set<Place> broken;
    std::map<std::uint64_t, int> errors;           // of opening, by the event
    int cgroup_error = 0;                          // likewise, of cgroups
    int open = 0;                                  // counters
    std::set<std::pair<int, std::uint64_t>> pmus;  // CPUs of events, and their PMUs
  };
  class Counter final : public PerfCounter {
   public:
    Counter(std::shared_ptr<State> state, Place place)
        : state_(std::move(state)), place_(place), begin_(state_->readings[place]) {
      ++state_->open;
    }
    ~Counter() override { --state_->open; }
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;
    Result<PerfReading> read() override {
      if (state_->broken.contains(place_)) return Error{.message = "gone", .code = ENODEV};
      PerfReading reading = state_->readings[place_];
      // All that runs on a CPU is counted all the time.
      if (place_.first == 0) {
        reading.enabled += static_cast<std::uint64_t>(++reads_);
        reading.running += static_cast<std::uint64_t>(reads_);
      }
      return {
          {reading.count - begin_.count, reading.enabled - begin_.enabled, reading.running - begin_.running}};
    }

   private:
    std::shared_ptr<State> state_;
    Place place_;
    PerfReading begin_;
    int reads_ = 0;
  };

  static std::vector<Event> cycles() {
    return {{CountKind::kCycles, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}};
  }
  Reader make(std::vector<std::string> patterns, std::size_t descriptors = 1000,
              std::vector<Event> events = cycles()) {
    const auto open = [state = state_](const PerfEvent& event) -> Result<std::unique_ptr<PerfCounter>> {
      state->pmus.insert({event.cpu, event.config >> 32});
      if (const auto error = state->errors.find(event.config); error != state->errors.end())
        return Error{.message = "refused", .code = error->second};
      if (event.cgroup >= 0 && state->cgroup_error != 0)
        return Error{.message = "no", .code = state->cgroup_error};
      const std::uint64_t identity = event.cgroup < 0 ? 0 : *read_identity(event.cgroup, ".");
      return std::unique_ptr<PerfCounter>(std::make_unique<Counter>(state, Place(identity, event.cpu)));
    };
    return Reader(host_, {.patterns = std::move(patterns),
                          .descriptors = descriptors,
                          .events = std::move(events),
                          .open = open});
  }
  std::uint64_t identity(const std::string& path) const {
    const auto found = read_identity(*host_.cgroupfs(), path.c_str());
    return found ? *found : 1;  // of none
  }
  // It ran on a CPU for a microsecond, and all of that was counted.
  void count(std::uint64_t cgroup, int cpu, std::uint64_t count) {
    PerfReading& reading = state_->readings[{cgroup, cpu}];
    reading.enabled += 1000;
    reading.running += 1000;
    reading.count += count;
  }
  // It ran, but others used the counters.
  void miss(std::uint64_t cgroup, int cpu, std::uint64_t nanoseconds = 1000) {
    state_->readings[{cgroup, cpu}].enabled += nanoseconds;
  }
  std::map<std::string, std::string> read(Reader& reader, Nanoseconds after = 1s) {
    now_ += after;
    return reader.read(now_);
  }
  // "ALL" and the counts of the cgroups, in the order of their names.
  std::vector<std::int64_t> counts(const std::map<std::string, std::string>& texts, const std::string& file) {
    const auto reading = parse_count_file(texts.at(file));
    EXPECT_TRUE(reading) << texts.at(file);
    std::vector<std::int64_t> found{reading->all.value};
    for (const char* const path : {"a.service", "b.service", "c.service"}) {
      const auto group = reading->groups.find(identity(path));
      if (group != reading->groups.end()) found.push_back(group->second.count.value);
    }
    return found;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  std::shared_ptr<State> state_ = std::make_shared<State>();
  Nanoseconds now_ = 100s;
};

TEST_F(PerfReader, AddsUpTheCpusOfEachDie) {
  Reader reader = make({"a.service", "b.service"});
  EXPECT_THAT(counts(read(reader), "cycles-0"), ElementsAre(0, 0, 0));
  count(identity("a.service"), 0, 100);
  count(identity("a.service"), 1, 10);
  count(identity("a.service"), 3, 7);
  count(identity("b.service"), 1, 1);
  count(0, 0, 150);
  count(0, 1, 11);
  count(0, 3, 9);
  const auto texts = read(reader);
  EXPECT_THAT(counts(texts, "cycles-0"), ElementsAre(161, 110, 1));
  EXPECT_THAT(counts(texts, "cycles-1"), ElementsAre(9, 7, 0));
  EXPECT_EQ(reader.problem(), "");
}

TEST_F(PerfReader, AllIsNeverLessThanTheCgroupsTogether) {
  Reader reader = make({"a.service", "b.service"});
  read(reader);
  count(identity("a.service"), 0, 100);
  count(identity("b.service"), 0, 50);
  count(0, 0, 120);
  EXPECT_THAT(counts(read(reader), "cycles-0"), ElementsAre(150, 100, 50));
}

TEST_F(PerfReader, ACgroupThatComesLaterIsCountedFromThenOn) {
  Reader reader = make({"*.service"});
  for (const char* const cgroup : {"/b.service", "/c.service"}) fake_.remove_cgroup(cgroup);
  read(reader);
  fake_.add_cgroup("/b.service");
  count(identity("b.service"), 0, 1000);
  count(0, 0, 1000);
  read(reader);
  EXPECT_EQ(reader.measured(), 1U);
  read(reader, 10s);
  EXPECT_EQ(reader.measured(), 2U);
  count(identity("b.service"), 0, 5);
  count(0, 0, 6);
  EXPECT_THAT(counts(read(reader), "cycles-0"), ElementsAre(1006, 0, 5));
  const auto reading = parse_count_file(read(reader).at("cycles-0"));
  EXPECT_LT(reading->since, reading->groups.at(identity("b.service")).since);
}

TEST_F(PerfReader, ACgroupThatIsRemovedHasNoCountersAnyMore) {
  Reader reader = make({"*.service"});
  read(reader);
  EXPECT_EQ(state_->open, 4 + 3 * 4);
  fake_.remove_cgroup("/a.service");
  read(reader, 10s);
  EXPECT_EQ(reader.measured(), 2U);
  EXPECT_EQ(state_->open, 4 + 2 * 4);
}

TEST_F(PerfReader, ACgroupThatWasHardlyCountedForAWhileBeginsAgain) {
  Reader reader = make({"a.service", "b.service"});
  read(reader);
  miss(identity("a.service"), 2);
  count(identity("b.service"), 2, 4);
  count(0, 2, 10);
  EXPECT_THAT(counts(read(reader), "cycles-1"), ElementsAre(10, 4));
  for (int i = 0; i < 2; ++i) {
    count(identity("a.service"), 2, 3);
    count(0, 2, 3);
    EXPECT_THAT(counts(read(reader), "cycles-1"), ElementsAre(13 + 3 * i, 3 * i, 4));
  }
}

TEST_F(PerfReader, ACpuOnWhichItWasNotCountedIsTakenToBeLikeTheOthersOfItsDie) {
  Reader reader = make({"a.service"});
  read(reader);
  count(identity("a.service"), 2, 30);
  miss(identity("a.service"), 3, 500);
  count(0, 2, 100);
  EXPECT_THAT(counts(read(reader), "cycles-1"), ElementsAre(100, 45));
}

TEST_F(PerfReader, IfOthersUseTheCountersNothingIsKnown) {
  Reader reader = make({"a.service"});
  read(reader);
  count(0, 2, 10);
  EXPECT_THAT(counts(read(reader), "cycles-1"), ElementsAre(10, 0));
  for (int i = 0; i < 3; ++i) {
    miss(0, 2, 1'000'000);
    const auto texts = read(reader);
    if (i < 2) {
      EXPECT_THAT(counts(texts, "cycles-1"), ElementsAre(0, 0)) << "a new beginning";
      EXPECT_EQ(reader.problem(), "");
    } else {
      EXPECT_THAT(texts.at("cycles-1"), HasSubstr("unknown others use the hardware counters"));
      EXPECT_EQ(reader.problem(), "cycles: others use the hardware counters");
    }
  }
  count(0, 2, 10);
  EXPECT_THAT(counts(read(reader), "cycles-1"), ElementsAre(10, 0));
}

TEST_F(PerfReader, CountersThatAreLostAreOpenedAgain) {
  Reader reader = make({"a.service"});
  read(reader);
  count(0, 0, 5);
  EXPECT_THAT(counts(read(reader), "cycles-0"), ElementsAre(5, 0));
  state_->broken.insert({0, 3});  // the CPU was offline for a moment
  read(reader);
  state_->broken.clear();
  EXPECT_THAT(counts(read(reader), "cycles-0"), ElementsAre(0, 0));
  count(0, 0, 7);
  count(identity("a.service"), 0, 2);
  EXPECT_THAT(counts(read(reader), "cycles-0"), ElementsAre(7, 2));
  EXPECT_EQ(reader.problem(), "");
  EXPECT_EQ(state_->open, 4 + 4);
}

TEST_F(PerfReader, CpusThatComeAndLeaveBeginANewCount) {
  Reader reader = make({"a.service"});
  read(reader);
  count(0, 2, 10);
  fake_.write("sys/devices/system/cpu/online", "0-2\n");
  EXPECT_THAT(counts(read(reader), "cycles-1"), ElementsAre(0, 0)) << "at once";
  EXPECT_EQ(state_->open, 3 + 3);
  count(0, 2, 10);
  EXPECT_THAT(counts(read(reader), "cycles-1"), ElementsAre(10, 0));
}

TEST_F(PerfReader, OfAHybridProcessorEachCoreIsCountedByItsPmu) {
  for (const auto& [name, type, cpus] :
       {std::tuple("cpu_core", "4\n", "0-1\n"), {"cpu_atom", "10\n", "2-3\n"}, {"power", "9\n", "0\n"}}) {
    fake_.write(std::string("sys/bus/event_source/devices/") + name + "/type", type);
    fake_.write(std::string("sys/bus/event_source/devices/") + name + "/cpus", cpus);
  }
  Reader reader = make({"a.service"});
  read(reader);
  EXPECT_THAT(state_->pmus,
              ElementsAre(std::pair(0, 4), std::pair(1, 4), std::pair(2, 10), std::pair(3, 10)));
}

TEST_F(PerfReader, AnEventThatThereIsNotIsAReasonAndLeavesTheOthers) {
  state_->errors = {{PERF_COUNT_HW_INSTRUCTIONS, EOPNOTSUPP}};
  auto events = cycles();
  events.push_back(
      {CountKind::kInstructions, "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS});
  Reader reader = make({"a.service"}, 1000, events);
  const auto texts = read(reader);
  EXPECT_THAT(counts(texts, "cycles-0"), ElementsAre(0, 0));
  EXPECT_THAT(texts.at("instructions-0"),
              testing::StartsWith("unknown instructions: the kernel has no hardware counter for this here"));
  EXPECT_THAT(reader.problem(), HasSubstr("instructions: the kernel has no hardware counter"));
}

TEST_F(PerfReader, WithoutCountersItIsTriedAgainLater) {
  state_->errors = {{PERF_COUNT_HW_CPU_CYCLES, ENOENT}};
  Reader reader = make({"a.service"});
  EXPECT_THAT(read(reader).at("cycles-0"), HasSubstr("as in most virtual machines"));
  state_->errors.clear();
  EXPECT_THAT(read(reader).at("cycles-0"), HasSubstr("unknown"));
  EXPECT_THAT(counts(read(reader, 10s), "cycles-0"), ElementsAre(0, 0));
  EXPECT_EQ(reader.problem(), "");
}

TEST_F(PerfReader, WithoutPermissionTheReasonSaysWhatIsNeeded) {
  state_->errors = {{PERF_COUNT_HW_CPU_CYCLES, EACCES}};
  Reader reader = make({"a.service"});
  read(reader);
  EXPECT_THAT(reader.problem(), HasSubstr("refused (needs CAP_PERFMON, and kernel.perf_event_paranoid"));
}

TEST_F(PerfReader, ACgroupThatCannotBeCountedLeavesTheOthersTheirs) {
  for (const int error : {EMFILE, ENOENT}) {  // ENOENT: perf_event is a controller of cgroup v1
    state_->cgroup_error = error;
    Reader reader = make({"a.service"});
    EXPECT_THAT(counts(read(reader), "cycles-0"), ElementsAre(0));
    EXPECT_EQ(reader.problem(), "/a.service is not measured: no");
    EXPECT_EQ(reader.measured(), 0U);
  }
}

TEST_F(PerfReader, TheNameOfACgroupCannotForgeALineOfTheLog) {
  fake_.add_cgroup("/x\n<3>y.service");
  state_->cgroup_error = EMFILE;
  Reader reader = make({"x*"});
  read(reader);
  EXPECT_EQ(reader.problem(), "/x\\x0a<3>y.service is not measured: no");
}

TEST_F(PerfReader, TakesNoMoreDescriptorsThanItMay) {
  Reader reader = make({"a.service", "b.service", "c.service"}, 4 + 2 * 4);
  read(reader);
  EXPECT_EQ(reader.measured(), 2U);
  EXPECT_EQ(reader.problem(), "1 of the listed cgroups are not measured: increase Descriptors=");
  EXPECT_EQ(state_->open, 4 + 2 * 4);
  Reader few = make({"largest"}, 4 + 4 - 1);
  read(few);
  EXPECT_EQ(few.problem(), "") << "none is known yet";
  read(few, 10s);
  EXPECT_EQ(few.measured(), 0U);
  EXPECT_EQ(few.problem(), "3 of the listed cgroups are not measured: increase Descriptors=");
}

TEST_F(PerfReader, TheLargestTakeWhatTheNamedOnesLeave) {
  Reader reader = make({"b.service", "largest"}, 4 + 2 * 4);
  read(reader);
  EXPECT_EQ(reader.measured(), 1U) << "which ones are large is not known yet";
  fake_.set_cgroup_usage("/c.service", 5'000'000);
  EXPECT_THAT(counts(read(reader, 10s), "cycles-0"), ElementsAre(0, 0, 0));
  EXPECT_EQ(reader.measured(), 2U);
  EXPECT_TRUE(parse_count_file(read(reader).at("cycles-0"))->groups.contains(identity("c.service")));
  EXPECT_EQ(reader.problem(), "");
}

}  // namespace
}  // namespace keplerd::perf
