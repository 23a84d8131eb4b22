// SPDX-License-Identifier: Apache-2.0
// Users, containers and root make and end cgroups and processes, which move, change their comm and claim each
// other's ids; a VM and keplerd are started again in between. What root has made gets exactly what it used,
// and no user ever sees a microjoule or a character of another's. Every report adds up (MeterHost checks it).
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/access/access.h"
#include "daemon/vm_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kTickEnergy = 1000;  // microjoules; so that nothing is rounded
const std::vector<Uid> kUsers = {1000, 1001};

std::string hex(int n) { return std::string(64, static_cast<char>('a' + n)); }

// Who may make what where: a user, a service of the system's, or what runs in a container of root's.
struct Party {
  Uid user = 0;
  std::string base;   // the cgroup that is theirs
  std::string front;  // of the ids that they claim
};

class RandomIdentities {
 public:
  explicit RandomIdentities(unsigned seed) : random_(seed) {
    for (const Uid user : kUsers) {
      const std::string number = std::to_string(user);
      parties_.push_back({user, "/user.slice/user-" + number + ".slice/user@" + number + ".service",
                          "user-" + number + "/"});
    }
    parties_.push_back({1000, "/system.slice/alices.service", "user-1000/"});
    parties_.push_back({101'000, "/lxc.payload.secret-box", "secret-box/"});
    for (const Party& party : parties_) add_group(party.base);
    host_.files.set_cgroup_owner("/system.slice/alices.service", 1000);
    host_.files.set_cgroup_owner("/lxc.payload.secret-box", 101'000);
    add_group("/system.slice/cron.service");
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
    for (auto& [pid, process] : processes_) ticks += use(pid, process, pick(10));
    host_.draw(2 * kTickEnergy * ticks);
    host_.step(std::chrono::seconds(1 + pick(3)));
    check();
    if (pick(12) == 0) restart();
  }

 private:
  struct Process {
    std::string group;
    Uid user = 0;
    std::int64_t used = 0;
    std::uint64_t start = 0;
  };
  static constexpr TerminatedLimits kLimits = {.max = {}, .min_energy = {}, .retention = {}};

  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void add_group(const std::string& path) {
    if (!groups_.emplace(path, 0).second) return;
    host_.files.add_cgroup(path);
  }

  void end_group(const std::string path) {
    const auto inside = [&](const std::string& other) {
      return other == path || other.starts_with(path + "/");
    };
    std::erase_if(processes_, [&](const auto& entry) {
      if (!inside(entry.second.group)) return false;
      host_.files.remove_process(entry.first);
      return true;
    });
    host_.files.remove_cgroup(path);
    std::erase_if(groups_, [&](const auto& entry) { return inside(entry.first); });
  }

  std::string claimed_name() {
    switch (pick(6)) {
      case 0:
        return "libpod-conmon-" + hex(pick(3)) + ".scope";
      case 1:
        return "kubepods-pod" + std::to_string(pick(3)) + ".slice";
      case 2:
        return "qemu.slice/10" + std::to_string(pick(3)) + ".scope";
      case 3:
        return "x.libvirt-qemu";
      default:
        return "docker-" + hex(pick(3)) + ".scope";
    }
  }

  std::string claimed_command() {
    if (pick(3) == 0) return command({"swtpm", "socket", std::string("dir=/x/") + kUuid + "/tpm2"});
    if (pick(2) == 0) return command({"qemu-system-x86_64", "-id", "100", "-name", "forged"});
    return qemu("forged", kUuid);
  }

  void start_process(const std::string& group, Uid user, const std::string& comm, const std::string& line) {
    const pid_t pid = next_pid_++;
    processes_[pid] = {group, user, 0, static_cast<std::uint64_t>(pid)};
    write_process(pid, comm, line);
  }

  void write_process(pid_t pid, const std::string& comm, const std::string& line) {
    const Process& process = processes_.at(pid);
    host_.files.add_process({.pid = pid,
                             .comm = comm,
                             .start = process.start,
                             .utime = process.used,
                             .cgroup = process.group,
                             .cmdline = line,
                             .user = process.user});
  }

  void change() {
    const Party& party = parties_[static_cast<std::size_t>(pick(static_cast<int>(parties_.size())))];
    switch (pick(7)) {
      case 0:
      case 1: {
        const std::string path = party.base + "/" + claimed_name();
        add_group(path.substr(0, path.rfind('/')));
        add_group(path);
        return start_process(path, party.user, "task", "");
      }
      case 2:
        return start_process(pick(2) == 0 ? party.base : cron_of(party), party.user, "qemu-system-x86",
                             claimed_command());
      case 3:
        return rename_or_end(party);
      case 4:
        return toggle("/system.slice/docker-" + hex(pick(3)) + ".scope", "secret-task", "");
      case 5:
        return toggle("/kubepods.slice/kubepods-pod" + std::to_string(pick(3)) + ".slice", "secret-task", "");
      default:
        return toggle(kScope, "qemu-system-x86", qemu("secret-vm", kUuid));
    }
  }

  // Users have crontabs, what is in a container has not.
  static std::string cron_of(const Party& party) {
    return party.user > 1001 ? party.base : "/system.slice/cron.service";
  }

  void toggle(const std::string& path, const std::string& comm, const std::string& line) {
    if (groups_.contains(path)) return end_group(path);
    add_group(path);
    start_process(path, 0, comm, line);
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
      const auto group = groups_.find(path);
      if (group != groups_.end()) host_.files.set_cgroup_usage(path, (group->second += ticks) * 10'000);
    }
    spent_[process.user] += ticks;
    expect(process, ticks);
    return ticks;
  }

  // What root has made is told apart from all the rest to the tick.
  void expect(const Process& process, std::int64_t ticks) {
    if (process.user != 0) return;
    if (process.group == kScope) {
      expected_vm_ += ticks;
    } else {
      expected_[process.group] += ticks;
    }
  }

  void check() {
    const auto report = host_.meter().report();
    for (const auto* const rows : {&report->containers, &report->pods}) {
      for (const ContainerRow& row : *rows) {
        const auto expected = expected_.find(row.info->unit);
        if (row.info->id.find('/') != std::string::npos || row.info->id == "secret-box") continue;
        ASSERT_NE(expected, expected_.end()) << row.info->id << " is in " << row.info->unit;
        EXPECT_EQ(row.active.value, expected->second * kTickEnergy) << row.info->id;
        EXPECT_EQ(row.owner, 0U) << row.info->id;
      }
    }
    const VmRow* const vm = host_.vm(kUuid);
    if (vm != nullptr) {
      EXPECT_EQ(vm->active.value, expected_vm_ * kTickEnergy);
      EXPECT_EQ(vm->owner, 0U);
      EXPECT_EQ(vm->info->name, "secret-vm");
      EXPECT_EQ(vm->running, groups_.contains(kScope));
    } else {
      EXPECT_EQ(expected_vm_, 0);
    }
    for (const Uid user : kUsers) check_view(user);
  }

  void check_view(Uid user) {
    Access access(990, std::nullopt, [this] { return host_.view().processes; });
    access.add(host_.view().report);
    const ReportView shown = access.view_for(access.identify(user, {}), RowKind::kProcesses);
    const auto& view = shown.report;
    const std::string other = std::to_string(user == 1000 ? 1001 : 1000);
    const auto expect_own = [&](const std::string& text) {
      EXPECT_EQ(text.find("secret"), std::string::npos) << user << ": " << text;
      EXPECT_EQ(text.find(other), std::string::npos) << user << ": " << text;
    };
    const auto expect_share = [&](const WorkloadRow& row, const std::string& id) {
      EXPECT_LE((row.active + row.idle).value, spent_[user] * kTickEnergy) << user << ": " << id;
    };
    std::int64_t processes = 0;
    for (const ProcessRow& row : shown.processes->rows) {
      expect_own(row.info->comm);
      if (row.container) expect_own(row.container->id + row.container->name);
      if (row.vm) expect_own(row.vm->id + row.vm->name);
      processes += row.active.value;
    }
    EXPECT_LE(processes, spent_[user] * kTickEnergy);
    for (const auto* const rows : {&view->containers, &view->pods}) {
      for (const ContainerRow& row : *rows) {
        expect_own(row.info->id + row.info->name + row.info->name_space + row.info->unit);
        expect_share(row, row.info->id);
      }
    }
    std::int64_t vms = 0;
    for (const VmRow& row : view->vms) {
      expect_own(row.info->id + row.info->name + row.info->title);
      vms += row.active.value;
    }
    EXPECT_LE(vms, spent_[user] * kTickEnergy) << user;
    for (const UnitRow& row : view->units) {
      expect_own(row.info->id);
      expect_share(row, row.info->id);
    }
  }

  void restart() {
    const auto state = parse_state(format_state(host_.meter().state()));
    ASSERT_TRUE(state.ok()) << state.error().message;
    host_.begin({}, Ledger(*state, "another"), state->readings);
    host_.meter().set_limits(kLimits);
  }

  std::mt19937 random_;
  MeterHost host_;
  std::vector<Party> parties_;
  std::map<std::string, std::int64_t> groups_;
  std::map<pid_t, Process> processes_;
  std::map<std::string, std::int64_t> expected_;  // of root's containers and pods, by cgroup
  std::int64_t expected_vm_ = 0;
  std::map<Uid, std::int64_t> spent_;
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
