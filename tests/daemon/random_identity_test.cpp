// SPDX-License-Identifier: Apache-2.0
// Users, containers and root create and end cgroups and processes, which move, change their comm and user and
// claim each other's ids; a VM and keplerd are restarted in between. Each unit, container, pod and VM,
// whoever claims it, gets exactly what its own cgroups and processes used, and no user ever sees a microjoule
// or a character of another's. Every report adds up (MeterHost checks it).
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/access/access.h"
#include "daemon/ended_group.h"
#include "daemon/random_claims.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kTickEnergy = 1000;  // microjoules; so that nothing is rounded
constexpr char kCron[] = "/system.slice/cron.service";
constexpr char kRecord[] = "root/run/libvirt/qemu/secret-vm.xml";

class RandomIdentities {
 public:
  explicit RandomIdentities(unsigned seed) : random_(seed) {
    for (const Uid user : kUsers) {
      const std::string number = std::to_string(user);
      parties_.push_back({user, user, "/user.slice/user-" + number + ".slice/user@" + number + ".service",
                          "user-" + number + "/"});
    }
    const std::string rootless = parties_[0].base + "/rootless.service";
    parties_.push_back({kRootless, 1000, rootless, "user-1000/"});
    parties_.push_back({kRootless, 1000, "/system.slice/delegated.service", "user-1000/"});
    parties_.push_back({1000, 1000, "/system.slice/alices.service", "user-1000/"});
    parties_.push_back({kInBox, 0, "/lxc.payload.secret-box", "secret-box/"});
    for (const Party& party : parties_) add_group(party.base);
    host_.files.set_cgroup_owner("/system.slice/delegated.service", kRootless);
    host_.files.set_cgroup_owner("/system.slice/alices.service", 1000);
    host_.files.set_cgroup_owner("/lxc.payload.secret-box", kInBox);
    add_group(kCron);
    host_.files.write("root/etc/passwd", "root:x:0:0::/:\nalice:x:1000:1000::/:\nbob:x:1001:1001::/:\n");
    host_.files.write("root/etc/subuid", "root:1000:2\nalice:100000:65536\n");
    for (int i = 0; i < 3; ++i) {
      host_.files.write("root/var/lib/docker/containers/" + hex(i) + "/config.v2.json",
                        R"({"Name":"/secret-db"})");
      host_.files.write("root/var/log/pods/secret-ns_secret-pod_" + std::to_string(i) + "/x/0.log", "");
      host_.files.write("root/etc/pve/qemu-server/10" + std::to_string(i) + ".conf", "name: secret-guest\n");
    }
    host_.begin();
    host_.meter().set_limits(kLimits);
  }

  void step() {
    for (int i = pick(6); i > 0; --i) change();
    std::int64_t ticks = 0;
    in_scope_ = 0;
    for (auto& [pid, process] : processes_) ticks += use(pid, process, pick(10));
    host_.draw(2 * kTickEnergy * ticks);
    host_.step(std::chrono::seconds(1 + pick(3)));
    check();
    if (pick(12) == 0) restart();
  }

 private:
  struct Process {
    std::string group;
    Uid user = 0;   // effective
    Uid owner = 0;  // its owner so far; for a set-user-ID program: on whose behalf it acts
    std::optional<Uid> real;
    std::int64_t used = 0;
    std::uint64_t start = 0;
    std::int64_t known = 0;  // what it had used when keplerd was started
    Microjoules shown;       // by its row in the last report
  };
  static constexpr TerminatedLimits kLimits = {.max = {}, .min_energy = {}, .retention = {}};

  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void add_group(const std::string& path, Uid user = 0) {
    if (!groups_.emplace(path, 0).second) return;
    host_.files.add_cgroup(path);
    host_.files.set_cgroup_owner(path, user);
  }

  std::string claimed_name() {
    const std::string docker = "docker-" + hex(pick(3)) + ".scope";
    const std::string pod = "kubepods-pod" + std::to_string(pick(3)) + ".slice";
    switch (pick(8)) {
      case 0:
        return "libpod-conmon-" + hex(pick(3)) + ".scope";
      case 1:
        return pod;
      case 2:
        return "qemu.slice/10" + std::to_string(pick(3)) + ".scope";
      case 3:
        return "x.libvirt-qemu";
      case 4:
        return docker + "/docker-" + hex(pick(3)) + ".scope";
      case 5:
        return pod + "/" + docker;
      default:
        return docker;
    }
  }

  std::string claimed_command() {
    if (pick(3) == 0) return helper();
    if (pick(2) == 0) return command({"qemu-system-x86_64", "-id", "100", "-name", "forged"});
    return qemu("forged", kUuid);
  }

  pid_t start_process(const std::string& group, Uid user, Uid owner, const std::string& comm,
                      const std::string& line) {
    const pid_t pid = next_pid_++;
    processes_[pid] = {
        .group = group, .user = user, .owner = owner, .start = static_cast<std::uint64_t>(pid)};
    write_process(pid, comm, line);
    return pid;
  }

  void write_process(pid_t pid, const std::string& comm, const std::string& line) {
    const Process& process = processes_.at(pid);
    host_.files.add_process({.pid = pid,
                             .comm = comm,
                             .start = process.start,
                             .utime = process.used,
                             .cgroup = process.group,
                             .cmdline = line,
                             .user = process.user,
                             .real_user = process.real});
  }

  void change() {
    const Party& party = parties_[static_cast<std::size_t>(pick(static_cast<int>(parties_.size())))];
    switch (pick(11)) {
      case 0:
      case 1: {
        const std::string path = party.base + "/" + claimed_name();
        for (auto at = party.base.size(); at != path.npos; at = path.find('/', at + 1))
          add_group(path.substr(0, at), party.user);
        add_group(path, party.user);
        start_process(path, party.user, party.owner, "task", "");
        return;
      }
      case 2:
        start_process(pick(2) == 0 ? party.base : cron_of(party), party.user, party.owner, "qemu-system-x86",
                      claimed_command());
        return;
      case 3:
        return rename_or_end(party);
      case 4:
        return toggle("/system.slice/docker-" + hex(pick(3)) + ".scope");
      case 5:
        return toggle("/kubepods.slice/kubepods-pod" + std::to_string(pick(3)) + ".slice");
      case 6:
        return run_set_user_id(party);
      case 7:
        start_process(kCron, 0, 0, "swtpm", helper());
        return;
      case 8:  // root's program is the VM until there is better evidence
        if (host_.vm(kUuid) != nullptr)
          start_process(kCron, 0, 0, "qemu-system-x86", qemu("secret-rival", kUuid));
        return;
      case 9:
        return claim_in_session(party);
      default:
        return toggle_vm();
    }
  }

  // Users have crontabs; processes in a container do not.
  static std::string cron_of(const Party& party) { return party.user > 1001 ? party.base : kCron; }

  void toggle(const std::string& path) {
    if (groups_.contains(path)) return end_group(host_.files, path, groups_, processes_);
    add_group(path);
    start_process(path, 0, 0, "secret-task", "");
  }

  // libvirt's record may be present, missing, or stale.
  void toggle_vm() {
    const bool runs = groups_.contains(kScope);
    if (pick(3) != 0) host_.files.write(kRecord, "");
    if (runs) return end_group(host_.files, kScope, groups_, processes_);
    add_group(kScope);
    const pid_t pid = start_process(kScope, 0, 0, "qemu-system-x86", qemu("secret-vm", kUuid));
    if (pick(2) == 0) host_.files.write(kRecord, record("secret-vm", kUuid, pid));
  }

  // From a session libvirt whose files the user may have written: about any process.
  void claim_in_session(const Party& party) {
    const pid_t pid = processes_.empty()
                          ? 1
                          : std::next(processes_.begin(), pick(static_cast<int>(processes_.size())))->first;
    host_.files.write("root/run/user/" + std::to_string(party.user) + "/libvirt/qemu/run/x.xml",
                      record("forged", pick(2) == 0 ? kUuid : kOther, pid));
  }

  // A process that then acts as root still makes the user's claims.
  void run_set_user_id(const Party& party) {
    for (auto& [pid, process] : processes_) {
      if (process.user != party.user || !is_user(party.user) || pick(3) != 0) continue;
      process.real = std::exchange(process.user, 0);
      const bool helps = pick(2) == 0;
      write_process(
          pid, helps ? "swtpm" : "passwd",
          helps ? helper() : command({"qemu-system-x86_64", "-name", "x,process=passwd", "-uuid", kUuid}));
      return;
    }
  }

  void rename_or_end(const Party& party) {
    for (auto& [pid, process] : processes_) {
      if (process.user != party.user || pick(3) != 0) continue;
      if (process.group.ends_with("cron.service") && pick(2) == 0) {
        host_.files.remove_process(pid);
        processes_.erase(pid);
      } else if (pick(2) == 0 && process.group.starts_with(party.base)) {
        process.group = party.base;
        host_.files.move_process(pid, party.base);
      } else {
        write_process(pid, pick(2) == 0 ? "qemu-system-x86" : "swtpm", claimed_command());
      }
      return;
    }
  }

  std::int64_t use(pid_t pid, Process& process, std::int64_t ticks) {
    host_.files.set_process_time(pid, process.used += ticks);
    for (std::string path = process.group; !path.empty(); path.resize(path.rfind('/'))) {
      expected_[path] += ticks;
      const auto group = groups_.find(path);
      if (group != groups_.end()) host_.files.set_cgroup_usage(path, (group->second += ticks) * 10'000);
    }
    for (const std::string& id : claims_of(parties_, process.group)) expected_[id] += ticks;
    if (process.group == kScope) in_scope_ += ticks;
    return ticks;
  }

  void check() {
    const auto report = host_.meter().report();
    for (const UnitRow& row : report->units) {
      EXPECT_EQ(row.active.value, expected_[row.info->id] * kTickEnergy) << row.info->id;
      expect_owner(row, row.info->id, user_of(parties_, row.info->id));
    }
    for (const auto* const rows : {&report->containers, &report->pods}) {
      for (const ContainerRow& row : *rows) {
        EXPECT_EQ(row.active.value, expected_[row.info->id] * kTickEnergy) << row.info->id;
        expect_owner(row, row.info->id, claimant(row.info->id));
      }
    }
    check_vms(*report);
    for (const Uid user : kUsers) check_view(user);
  }

  static void expect_owner(const WorkloadRow& row, const std::string& id, Uid owner) {
    EXPECT_EQ(row.owner, owner) << id;
  }

  // A VM's energy since the last report is that of its scope and its processes, all of its owner's.
  void check_vms(const Report& report) {
    std::map<std::string, std::int64_t> got;
    for (auto& [pid, process] : processes_) {
      const ProcessRow* const row = host_.process(pid);
      ASSERT_NE(row, nullptr) << pid;
      EXPECT_LE(row->active.value, (process.used - process.known) * kTickEnergy) << pid;
      EXPECT_EQ(row->owner, process.real ? 0 : process.owner) << pid;
      const Microjoules before = std::exchange(process.shown, row->active);
      if (!row->vm) continue;
      EXPECT_EQ(claimant(row->vm->id), process.owner) << pid << " is of " << row->vm->id;
      if (process.group != kScope) got[row->vm->id] += (row->active - before).value;
    }
    got[kUuid] += in_scope_ * kTickEnergy;
    std::int64_t in_box = 0;
    for (const VmRow& row : report.vms) {
      const std::string& id = row.info->id;
      expect_owner(row, id, claimant(id));
      const std::int64_t before = std::exchange(vms_[id], row.active.value);
      if (id.starts_with("secret-box/")) {  // has scopes, too, whose energy is pending until it is found
        in_box += row.active.value;
      } else {
        EXPECT_EQ(row.active.value - before, row.running ? got[id] : 0) << id;
      }
    }
    EXPECT_LE(in_box, expected_["secret-box"] * kTickEnergy);
    const VmRow* const vm = host_.vm(kUuid);
    EXPECT_TRUE(vm != nullptr || in_scope_ == 0);
    if (vm == nullptr) return;
    EXPECT_EQ(vm->info->name, "secret-vm");
    EXPECT_EQ(vm->running, groups_.contains(kScope));
  }

  void check_view(Uid user) {
    Access access(990, std::nullopt, [this] { return host_.view().processes; });
    access.add(host_.view().report);
    const ReportView shown = access.view_for(access.identify(user, {}), RowKind::kProcesses);
    const auto& view = shown.report;
    const std::string other = std::to_string(user == 1000 ? 1001 : 1000);
    const auto expect_own = [&](const WorkloadRow& row, const std::string& text) {
      EXPECT_EQ(row.owner, user) << text;
      EXPECT_EQ(text.find("secret"), std::string::npos) << user << ": " << text;
      EXPECT_EQ(text.find(other), std::string::npos) << user << ": " << text;
    };
    const auto expect_share = [&](const WorkloadRow& row, std::int64_t of) {
      EXPECT_LE((row.active + row.idle).value, of) << user;
    };
    for (const ProcessRow& row : shown.processes->rows) {
      expect_own(row, row.info->comm + (row.container ? row.container->id + row.container->name : "") +
                          (row.vm ? row.vm->id + row.vm->name : ""));
      if (const ProcessRow* const whole = host_.process(row.info->id.pid))
        expect_share(row, whole->active.value);
    }
    for (const auto* const rows : {&view->containers, &view->pods}) {
      for (const ContainerRow& row : *rows) {
        expect_own(row, row.info->id + row.info->name + row.info->name_space + row.info->unit);
        expect_share(row, expected_[row.info->id] * kTickEnergy);
      }
    }
    for (const VmRow& row : view->vms) {
      expect_own(row, row.info->id + row.info->name + row.info->title);
      expect_share(row, vms_[row.info->id]);
    }
    for (const UnitRow& row : view->units) {
      expect_own(row, row.info->id);
      expect_share(row, expected_[row.info->id] * kTickEnergy);
    }
  }

  void restart() {
    const auto state = parse_state(format_state(host_.meter().state()));
    ASSERT_TRUE(state.ok()) << state.error().message;
    host_.begin({}, Ledger(*state, "another"), state->readings);
    host_.meter().set_limits(kLimits);
    for (auto& [pid, process] : processes_) {
      process.known = process.used;
      process.shown = {};
    }
  }

  std::mt19937 random_;
  MeterHost host_;
  std::vector<Party> parties_;
  std::map<std::string, std::int64_t> groups_;
  std::map<pid_t, Process> processes_;
  std::map<std::string, std::int64_t> expected_;  // ticks, by cgroup and by id
  std::map<std::string, std::int64_t> vms_;       // as of the last report
  std::int64_t in_scope_ = 0;                     // ticks of the VM's scope in this window
  pid_t next_pid_ = 1000;
};

TEST(RandomIdentities, NeverShareAnythingWithTheirClaimants) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can write a host of several users";
  for (unsigned seed = 0; seed < 8 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomIdentities host(seed);
    for (int i = 0; i < 40 && !testing::Test::HasFailure(); ++i) host.step();
  }
}

}  // namespace
}  // namespace keplerd
