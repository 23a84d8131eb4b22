// SPDX-License-Identifier: Apache-2.0
// Idle policies that are not in effect: what they would have placed is what they place if they are in effect,
// and nothing of it is booked.
#include <memory>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daemon/publish/energy_streams.h"
#include "daemon/vm_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using varlink::Json;

constexpr IdlePlacing kTried[] = {IdlePlacing::kSeparate, IdlePlacing::kEqual, IdlePlacing::kSize,
                                  IdlePlacing::kUsage};
constexpr const char* kTrialSession = "/user.slice/user-1000.slice/session-3.scope";
constexpr const char* kTrialLimited = "/system.slice/limited.service";
constexpr const char* kTrialPlain = "/system.slice/plain.service";
const std::string kTrialContainer =
    "/kubepods.slice/kubepods-pod0a0b0c0d_1111_2222_3333_444455556666.slice/"
    "cri-containerd-" +
    std::string(64, 'c') + ".scope";

// Eight CPUs and 32 GiB; VMs with a cgroup of their own, with that of a session, and with none; a container
// in a pod; services with limits and without.
class TrialHost {
 public:
  TrialHost() {
    host.cpus.resize(8);
    host.files.write("proc/meminfo", "MemTotal: 33554432 kB\n");
    host.files.add_cgroup(kScope);
    add_vm(20, kScope, kUuid);
    host.files.add_cgroup(kTrialSession);
    add_vm(21, kTrialSession, kOther);
    add_vm(22, "", "7f1c8b1e-0000-4000-8000-00000000000b");
    for (const std::string& unit : {std::string(kTrialLimited), std::string(kTrialPlain), kTrialContainer})
      host.files.add_cgroup(unit);
    host.files.write(std::string("cgroup") + kTrialLimited + "/cpu.max", "150000 100000\n");
    host.files.write("cgroup" + kTrialContainer + "/memory.max", "4294967296\n");
    host.begin();
  }

  // A window with random use; the same for each host that has taken the same steps.
  const Report& step() {
    std::uniform_int_distribution<std::int64_t> any(0, 40);
    for (const auto& [pid, group] :
         std::map<pid_t, std::string>{{20, kScope}, {21, kTrialSession}, {22, ""}}) {
      const std::int64_t ticks = any(random_);
      host.files.set_process_time(pid, used_[pid] += ticks);
      if (!group.empty()) use(group, ticks);
    }
    for (const std::string& group : {std::string(kTrialLimited), std::string(kTrialPlain), kTrialContainer})
      use(group, any(random_));
    host.draw(20'000'000 + any(random_) * 123'457, 1'000'001);
    return host.step();
  }

  MeterHost host;

 private:
  void add_vm(pid_t pid, const std::string& cgroup, const char* uuid) {
    host.files.add_process(
        {.pid = pid,
         .comm = "qemu-system-x86",
         .cgroup = cgroup,
         .cmdline = command({"qemu-system-x86_64", "-uuid", uuid, "-smp", "2", "-m", "3G"})});
  }
  void use(const std::string& group, std::int64_t ticks) {
    host.files.set_cgroup_usage(group, (group_used_[group] += ticks) * 10'000);
  }

  std::mt19937_64 random_{19};
  std::map<pid_t, std::int64_t> used_;
  std::map<std::string, std::int64_t> group_used_;
};

const IdleTrial& trial_of(const Report& report, IdlePlacing policy) {
  return *std::ranges::find(report.idle_trials, policy, &IdleTrial::placing);
}

// What was placed in the window that ended with `now`.
template <class Row>
std::vector<std::int64_t> placed_between(const std::vector<Row>& before, const std::vector<Row>& now) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < now.size(); ++i) out.push_back((now[i].idle - before[i].idle).value);
  return out;
}
std::vector<std::int64_t> trial_energies(const std::vector<IdleTrial::Part>& parts) {
  std::vector<std::int64_t> out;
  for (const IdleTrial::Part& part : parts) out.push_back(part.energy.value);
  return out;
}

TEST(IdleTrial, IsWhatThePolicyPlacesIfItIsInEffect) {
  for (const IdlePlacing policy : kTried) {
    TrialHost tried, used;
    tried.host.meter().set_idle_trials({policy});
    used.host.meter().set_idle_placing(policy);
    std::shared_ptr<const Report> before;
    for (int i = 0; i < 6; ++i) {
      tried.step();
      used.step();
      const auto report = used.host.meter().report();
      // Afterwards, it is known which VM each process is.
      if (i >= 2) {
        const IdleTrial& trial = trial_of(*tried.host.meter().report(), policy);
        EXPECT_EQ(trial_energies(trial.units), placed_between(before->units, report->units));
        EXPECT_EQ(trial_energies(trial.vms), placed_between(before->vms, report->vms));
        EXPECT_EQ(trial_energies(trial.containers), placed_between(before->containers, report->containers));
        EXPECT_EQ(trial_energies(trial.pods), placed_between(before->pods, report->pods));
        EXPECT_EQ(trial.host.energy, report->accounts.idle - before->accounts.idle);
        EXPECT_EQ(trial.vms.size(), 3u);
        EXPECT_EQ(trial.pods.size(), 1u);
        for (std::size_t row = 0; row < report->vms.size(); ++row)
          EXPECT_EQ(*trial.vms[row].power, report->vms[row].idle_power.value_or(Microwatts{}));
      }
      before = report;
    }
  }
}

TEST(IdleTrial, AddsUpToTheIdleEnergyOfTheWindow) {
  TrialHost tried;
  tried.host.meter().set_idle_trials({std::begin(kTried), std::end(kTried)});
  Microjoules before;
  for (int i = 0; i < 20; ++i) {
    const Report& report = tried.step();
    for (const IdlePlacing policy : kTried) {
      const IdleTrial& trial = trial_of(report, policy);
      Microjoules sum = trial.host.energy;
      for (std::size_t unit = 0; unit < report.units.size(); ++unit)
        if (!report.units[unit].info->parent) sum += trial.units[unit].energy;
      for (std::size_t vm = 0; vm < report.vms.size(); ++vm)
        if (!report.vms[vm].info->unit) sum += trial.vms[vm].energy;
      EXPECT_EQ(sum, report.host.idle - before);
    }
    before = report.host.idle;
  }
}

TEST(IdleTrial, ChangesNoTotalWhileItIsRequestedAndAfterwards) {
  for (const IdlePlacing in_effect : kTried) {
    TrialHost tried, plain;
    for (TrialHost* const one : {&tried, &plain}) one->host.meter().set_idle_placing(in_effect);
    for (int i = 0; i < 12; ++i) {
      if (i == 3) tried.host.meter().set_idle_trials({std::begin(kTried), std::end(kTried)});
      if (i == 9) tried.host.meter().set_idle_trials({});
      const Report& a = tried.step();
      const Report& b = plain.step();
      EXPECT_EQ(a.idle_trials.size(), i >= 3 && i < 9 ? 4u : 0u);
      EXPECT_EQ(a.accounts.idle, b.accounts.idle);
      EXPECT_EQ(a.accounts.workloads, b.accounts.workloads);
      const auto compare = [](const auto& of_a, const auto& of_b) {
        ASSERT_EQ(of_a.size(), of_b.size());
        for (std::size_t row = 0; row < of_a.size(); ++row) {
          EXPECT_EQ(of_a[row].active, of_b[row].active);
          EXPECT_EQ(of_a[row].idle, of_b[row].idle);
        }
      };
      compare(a.units, b.units);
      compare(a.vms, b.vms);
      compare(a.containers, b.containers);
    }
  }
}

// Connects requests with samples, as the daemon does.
class TrialReports : public Reports {
 public:
  explicit TrialReports(MeterHost& host) : host_(host) {}
  Caller identify(uid_t, std::span<const gid_t>) const override { return kInside; }
  ReportView latest(const Caller&, std::optional<RowKind>) override { return {host_.meter().report(), {}}; }
  ReportView fresh(const Caller& caller, std::optional<RowKind> kind) override {
    return latest(caller, kind);
  }
  void hurry(const Caller&) override { ++hurried; }
  std::shared_ptr<const Listener> listen(const Listener& listener) override {
    auto held = std::make_shared<const Listener>(listener);
    listener_ = held;
    return held;
  }
  bool is_followed() const { return !listener_.expired(); }
  const Settings& settings() const override { return settings_; }
  void step() {
    host_.meter().set_idle_trials(idle_requests().placings());
    host_.draw(16'000'000);
    host_.step();
  }

  int hurried = 0;

 private:
  MeterHost& host_;
  std::weak_ptr<const Listener> listener_;
  Settings settings_;
};

class PolicyList : public VmTest {
 protected:
  std::unique_ptr<PolicyListStream> list(IdlePlacing policy, RowKind kind = RowKind::kVms,
                                         Caller caller = kInside) {
    return std::make_unique<PolicyListStream>(reports, caller,
                                              PolicyListStream::Query{kind, RowOrder::kEnergy, 1000, policy});
  }
  static std::optional<Json> take(varlink::Stream& stream) {
    auto next = stream.next();
    if (!next) return std::nullopt;
    return Json::parse(std::get<varlink::Reply>(*next).parameters.text());
  }
  TrialReports reports{host};
};

TEST_F(PolicyList, IsOfTheNextSampleThatIsTakenAtOnce) {
  start_in_scope(20, command({"qemu-system-x86_64", "-uuid", kUuid, "-smp", "2"}));
  host.cpus.resize(8);
  host.begin();
  for (int i = 0; i < 2; ++i) reports.step();
  const auto stream = list(IdlePlacing::kSize);
  EXPECT_EQ(reports.hurried, 1);
  EXPECT_TRUE(reports.is_followed());
  EXPECT_FALSE(take(*stream)) << "limits are read with the next sample";
  use(20, kScope, 60);
  reports.step();
  const auto reply = take(*stream);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->at("policyIdleMicrowatts"), 2'000'000) << "2 of 8 CPUs, of 8 W";
  EXPECT_EQ(reply->at("policyPowerMicrowatts"), 10'000'000);
  EXPECT_EQ(reply->at("policyHostMicrowatts"), 6'000'000);
  EXPECT_EQ(reply->at("row").at("powerMicrowatts"), 8'000'000) << "the policy in effect";
  EXPECT_EQ(reply->at("row").at("idleMicrojoules"), 0);
  EXPECT_TRUE(reports.idle_requests().placings().empty()) << "later samples need not try it";
  EXPECT_FALSE(reports.is_followed());
}

TEST_F(PolicyList, OfAPolicyInEffectReplacesItsOwnIdleEnergy) {
  for (const char* const unit : {kTrialLimited, kTrialPlain}) host.files.add_cgroup(unit);
  host.begin();
  host.meter().set_idle_placing(IdlePlacing::kEqual);
  const auto stream = list(IdlePlacing::kSeparate, RowKind::kUnits);
  reports.step();
  const auto first = take(*stream), second = take(*stream);
  EXPECT_EQ(first->at("row").at("powerMicrowatts"), 8'000'000);
  EXPECT_EQ(first->at("policyPowerMicrowatts"), 0);
  EXPECT_EQ(second->at("policyIdleMicrowatts"), 0);
  EXPECT_EQ(second->at("policyHostMicrowatts"), 8'000'000);
}

TEST_F(PolicyList, WaitsUntilAllLimitsWereRead) {
  for (int i = 0; i < 300; ++i) host.files.add_cgroup(fmt::format("/system.slice/s{}.service", i));
  host.begin();
  const auto stream = list(IdlePlacing::kSize);
  reports.step();
  EXPECT_FALSE(take(*stream)) << "only 256 in a sample";
  reports.step();
  ASSERT_TRUE(take(*stream));
}

TEST_F(PolicyList, EndsIfLimitsAreNeverKnown) {
  host.begin();
  const auto stream = list(IdlePlacing::kSize);
  for (int i = 1; i < PolicyListStream::kMostAwaited; ++i) {
    host.step();  // without the policy, as if cgroups were created faster than their limits are read
    ASSERT_FALSE(take(*stream)) << i;
  }
  host.step();
  const auto reply = take(*stream);
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->contains("policyHostMicrowatts"));
}

TEST_F(PolicyList, RepliesAtOnceWithoutAMeter) {
  host.files.add_cgroup(kTrialPlain);
  host.begin({.source = "hwmon"});
  const auto stream = list(IdlePlacing::kEqual, RowKind::kUnits);
  host.meter().set_idle_trials(reports.idle_requests().placings());
  host.step();
  const auto reply = take(*stream);
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->contains("policyIdleMicrowatts"));
}

TEST_F(PolicyList, IsDeniedToCallersWithoutFullAccess) {
  host.begin();
  const auto stream = list(IdlePlacing::kEqual, RowKind::kVms, Caller{.user = 1000});
  reports.step();
  const auto next = stream->next();
  ASSERT_TRUE(next);
  EXPECT_TRUE(std::holds_alternative<varlink::Failure>(*next));
}

}  // namespace
}  // namespace keplerd
