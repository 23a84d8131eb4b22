// SPDX-License-Identifier: Apache-2.0
// Samples made of numbers, as on a live host: only processes that have run are included. Measures what
// follows: the division, the report, and what readers receive.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "attribution/attributor.h"
#include "attribution/make_model.h"
#include "daemon/access/access.h"
#include "daemon/publish/energy_streams.h"
#include "ledger/ledger.h"
#include "scenarios.h"
#include "workloads/vm_finder.h"

namespace keplerd {
namespace {

constexpr int kProcessesPerUnit = 10, kUsers = 10;
constexpr uid_t kFirstUser = 1000;
constexpr Nanoseconds kWork = std::chrono::milliseconds(10);  // of an active process, in a step

struct Size {
  int units = 200;
  int active = 10;  // units whose processes are all active
  int vms = 0;      // all of them active
};

constexpr Size kVms{.units = 0, .active = 0, .vms = 100};

std::vector<Zone> zones() {
  Zone package{.id = "powercap:package:0",
               .name = "package",
               .in_total = true,
               .range = {262'143'328'850},
               .largest_limit = {200'000'000}};
  Zone dram = package;
  dram.id = "powercap:dram:0";
  dram.name = "dram";
  dram.resource = Resource::kDram;
  return {package, dram};
}

// Each user has a slice and a tenth of the units; active ones are spread over them.
class Host {
 public:
  explicit Host(Size size) : size_(size) {
    const std::size_t vms = add_group(kNoGroup, "/machine.slice");
    for (int i = 0; i < size.vms; ++i) add_vm(vms, i);
    const std::size_t users = add_group(kNoGroup, "/user.slice");
    for (int i = 0; i < kUsers; ++i)
      add_group(users, fmt::format("/user.slice/user-{}.slice", kFirstUser + i));
    for (int i = 0; i < size.units; ++i) {
      const std::size_t slice = users + static_cast<std::size_t>(1 + i % kUsers);
      add_group(slice, fmt::format("{}/app-{}.service", paths_[slice], i));
      for (int j = 0; j < kProcessesPerUnit; ++j) add_process(i, j);
    }
    for (std::size_t i = 0; i < paths_.size(); ++i) sample_.usage.groups[i].path = paths_[i];
  }

  // The VMs that are new in the last step.
  const FoundVms& found() const { return found_; }

  // A second later.
  const Sample& step() {
    ++step_;
    sample_.at.monotonic += std::chrono::seconds(1);
    sample_.at.boottime += std::chrono::seconds(1);
    sample_.at.realtime += std::chrono::seconds(1);
    sample_.readings.assign({Microjoules{50'000'000 * step_}, Microjoules{5'000'000 * step_}});
    sample_.usage.ticks.busy += 50;
    sample_.usage.ticks.idle += 50;
    if (step_ > 1) work();
    return sample_;
  }

 private:
  std::size_t add_group(std::size_t parent, std::string path) {
    paths_.push_back(std::move(path));
    sample_.usage.groups.push_back(
        {.incarnation = paths_.size(), .parent = parent, .path = {}, .before = {}});
    return paths_.size() - 1;
  }
  // As libvirt lays it out.
  void add_vm(std::size_t slice, int number) {
    UsageSample& usage = sample_.usage;
    const std::size_t scope =
        add_group(slice, fmt::format("/machine.slice/machine-qemu\\x2d{0}\\x2dvm{0}.scope", number));
    const std::size_t domain = add_group(scope, paths_[scope] + "/libvirt");
    for (const char* part : {"emulator", "vcpu0", "vcpu1", "vcpu2", "vcpu3"})
      usage.parts.push_back({.group = domain, .process = {}, .name = part});
    found_.vms.push_back({.process = usage.processes.size(),
                          .command = {.name = fmt::format("vm{}", number),
                                      .name_given = true,
                                      .uuid = fmt::format("00000000-0000-4000-8000-{:012x}", number),
                                      .number = {},
                                      .helper_sockets = {}}});
    usage.processes.push_back({.id = {5000 + number, 100},
                               .parent = 1,
                               .comm = "qemu-system-x86",
                               .fresh = true,
                               .user = 64055,
                               .group = domain,
                               .before = {}});
  }
  void add_process(int unit, int number) {
    const std::size_t group = paths_.size() - 1;
    sample_.usage.processes.push_back({.id = {10'000 + unit * kProcessesPerUnit + number, 100},
                                       .parent = 1,
                                       .comm = "task",
                                       .fresh = true,
                                       .user = kFirstUser + static_cast<uid_t>(unit % kUsers),
                                       .group = group,
                                       .before = {}});
  }
  // Only active ones are reported from now on.
  void work() {
    UsageSample& usage = sample_.usage;
    found_.vms.clear();
    usage.processes.resize(static_cast<std::size_t>(size_.vms + size_.active * kProcessesPerUnit));
    for (PartUsage& part : usage.parts) part.time = kWork / 5;
    for (GroupUsage& group : usage.groups) group.before = group.usage;
    for (ProcessUsage& process : usage.processes) {
      process.fresh = false;
      process.before = {usage.groups[process.group].incarnation, process.usage};
      process.usage += kWork;
      for (std::size_t i = process.group; i != kNoGroup; i = usage.groups[i].parent)
        usage.groups[i].usage += kWork;
    }
  }

  Size size_;
  std::vector<std::string> paths_;  // of the groups
  Sample sample_;
  FoundVms found_;
  std::int64_t step_ = 0;
};

class NumberPiece : public Piece, private Reports {
 public:
  explicit NumberPiece(Size size)
      : host_(size), ledger_("bench", Realtime(0)), access_(0, {}, [this] { return processes(); }) {
    attributor_.set_zones(zones());
    ledger_.set_zones(zones(), Realtime(0));
  }

 protected:
  void step() { sample_ = &host_.step(); }
  void divide() {
    access_.keep_processes(sample_->at.monotonic);
    ledger_.apply(*sample_, attributor_.attribute(*sample_), {.found = host_.found()});
    report_ = ledger_.report();
    processes_.reset();
  }
  void publish() { access_.add(report_); }
  Reports& reports() { return *this; }

 private:
  std::shared_ptr<const ProcessRows> processes() {
    if (!processes_) processes_ = ledger_.process_rows();
    return processes_;
  }
  Caller identify(uid_t, std::span<const gid_t>) const override { return kInside; }
  ReportView latest(const Caller& caller, std::optional<RowKind> kind) override {
    return access_.view_for(caller, kind);
  }
  ReportView fresh(const Caller& caller, std::optional<RowKind> kind) override {
    return latest(caller, kind);
  }
  void hurry(const Caller&) override {}
  std::shared_ptr<const Listener> listen(const Listener&) override { return nullptr; }
  const Settings& settings() const override { return settings_; }

  Host host_;
  const Sample* sample_ = nullptr;
  Attributor attributor_{make_model()};
  Ledger ledger_;
  std::shared_ptr<const Report> report_;
  std::shared_ptr<const ProcessRows> processes_;
  Access access_;
  Settings settings_;
};

class Divide : public NumberPiece {
 public:
  using NumberPiece::NumberPiece;
  void prepare() override { step(); }
  void run() override { divide(); }
};

class Monitor : public NumberPiece {
 public:
  explicit Monitor(std::optional<RowKind> kind, Size size = {})
      : NumberPiece(size), stream_(reports(), kInside, kind, MonitorStream::Rhythm{}) {}
  void prepare() override {
    step();
    divide();
    publish();
  }
  void run() override {
    while (auto next = stream_.next()) text_ = varlink::encode(std::get<varlink::Reply>(*std::move(next)));
  }

 private:
  MonitorStream stream_;
  std::string text_;
};

class PublicView : public NumberPiece {
 public:
  PublicView() : NumberPiece({}) {}
  void prepare() override {
    step();
    divide();
    publish();
    reports().latest(kInside, RowKind::kProcesses);  // made once for all: what is counted is the view
  }
  void run() override { view_ = reports().latest({.user = kFirstUser}, RowKind::kProcesses); }

 private:
  ReportView view_;
};

}  // namespace

std::unique_ptr<Piece> divide_idle() { return std::make_unique<Divide>(Size{.active = 0}); }
std::unique_ptr<Piece> divide_moved() { return std::make_unique<Divide>(Size{}); }
std::unique_ptr<Piece> divide_large() { return std::make_unique<Divide>(Size{.units = 2000}); }
std::unique_ptr<Piece> divide_vms() { return std::make_unique<Divide>(kVms); }
std::unique_ptr<Piece> monitor_host() { return std::make_unique<Monitor>(std::nullopt); }
std::unique_ptr<Piece> monitor_units() { return std::make_unique<Monitor>(RowKind::kUnits); }
std::unique_ptr<Piece> monitor_processes() { return std::make_unique<Monitor>(RowKind::kProcesses); }
std::unique_ptr<Piece> monitor_vms() { return std::make_unique<Monitor>(RowKind::kVms, kVms); }
std::unique_ptr<Piece> public_view() { return std::make_unique<PublicView>(); }

}  // namespace keplerd
