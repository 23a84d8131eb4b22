// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.h"

#include <cerrno>
#include <csignal>

#include <grp.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/barrier.h"
#include "daemon/convert_settings.h"
#include "daemon/log.h"
#include "daemon/notify.h"
#include "daemon/publish/energy_interface.h"
#include "daemon/publish/metrics_interface.h"
#include "event/priority.h"
#include "version.h"

namespace keplerd {
namespace {

constexpr char kSocketName[] = "org.keplerd.Energy";
constexpr mode_t kSocketMode = 0666;  // everyone may connect; Access decides what they see
constexpr char kNoHelper[] =
    "keplerd-libvirt is not installed: some names of VMs, and the reasons why they ended, are unknown";
constexpr char kGroup[] = "keplerd";  // its members have full access

constexpr Nanoseconds kSavingPeriod = std::chrono::seconds(60);
constexpr Nanoseconds kStatusPeriod = std::chrono::seconds(30);
constexpr Nanoseconds kFirstStatus = std::chrono::seconds(2);  // the first sample has no power
constexpr Nanoseconds kSamplingAccuracy = std::chrono::microseconds(100);
constexpr Nanoseconds kRestingAccuracy =
    std::chrono::milliseconds(250);  // to coalesce wake-ups with other timers
constexpr Nanoseconds kLazyAccuracy = std::chrono::seconds(1);

Result<Done> check(int result, const char* what) {
  if (result < 0) return system_error(what, -result);
  return Done{};
}

Nanoseconds read_monotonic() { return read_clock(CLOCK_MONOTONIC); }

// CPU budget of callers with limited access: a quarter of a processor in the long run, as for sampling, with
// a quarter of a second available at once.
constexpr FairQueue::Limits kLimitedWork{
    .share = TimeBudget::Limits{
        .share = 4, .most_saved = std::chrono::milliseconds(250), .most_wait = std::chrono::seconds(1)}};

void log_budget(bool exceeded) {
  exceeded ? log_warning("sampling takes more than a quarter of a CPU: fewer samples are taken")
           : log_info("samples are taken at the configured rate again");
}

// Creates our own directory if systemd has not. Its parent must exist.
void make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) log_warning(system_error(path, errno).message);
}

std::optional<gid_t> find_group() {
  const group* const entry = ::getgrnam(kGroup);
  if (entry == nullptr) return std::nullopt;
  return entry->gr_gid;
}

}  // namespace

Daemon::Daemon(Options options, Settings settings, HostRoot host, StateDirectory state_directory)
    : options_(std::move(options)),
      settings_(std::move(settings)),
      host_(std::move(host)),
      access_(::geteuid(), find_group(), [this] { return meter_->processes(); }),
      full_queue_({}, read_monotonic),
      limited_queue_(kLimitedWork, read_monotonic),
      sampler_({.now = read_monotonic,
                .realtime = [] { return read_clock(CLOCK_REALTIME); },
                .sample = [this] { return sample(); },
                .may_read_seldom = [this] { return meter_->may_read_seldom(); },
                .budget_changed = log_budget},
               settings_.sampling),
      group_events_({.descriptor = [this](CgroupQueue queue) { return meter_->group_descriptor(queue); },
                     .take = [this](CgroupQueue queue) { meter_->take_group_events(queue); },
                     .now = read_monotonic,
                     .cpu_time = [] { return read_clock(CLOCK_THREAD_CPUTIME_ID); }}) {
  access_.set_rule(settings_.access.public_access);
  const Realtime now = read_system_clocks().realtime;
  make_directory(log_directory(options_), 0700);
  state_keeper_ = std::make_unique<StateKeeper>(host_, std::move(state_directory), settings_.energy,
                                                log_directory(options_));
  StateKeeper::Restored restored = state_keeper_->restore(now);
  meter_ = std::make_unique<Meter>(host_, source_choice(settings_.energy), std::move(restored.ledger),
                                   std::move(restored.readings), read_system_clocks);
  meter_->set_model(make_model(model_rules(settings_.attribution)));
  meter_->restore_models(std::move(restored.models));
  if (restored.usage) meter_->resume(*restored.usage);
  meter_->set_limits(terminated_limits(settings_.workloads));
  meter_->set_idle_placing(idle_placing(settings_.attribution.idle));
  guests_ = std::make_unique<GuestTrees>(settings_.guests, log_warning);
}

Daemon::~Daemon() {
  set_barrier_log({});
  if (!bound_socket_.empty()) ::unlink(bound_socket_.c_str());
  server_.reset();
  bus_.reset();
  libvirt_.reset();
  for (auto* const queue : {&full_queue_, &limited_queue_}) queue->detach();
  names_.reset();
  state_keeper_.reset();
  sd_event_unref(loop_);
}

Result<Done> Daemon::start() {
  if (const auto made = check(sd_event_default(&loop_), "sd_event_default"); !made) return made;
  set_barrier_log([this](const std::string& where, const std::string& what) {
    const auto line = exceptions_.report("exception while " + where, what, read_monotonic());
    if (line) log_error(*line);
  });
  if (const auto attached = attach_queues(); !attached) return attached;
  if (const auto added = add_signals(); !added) return added;

  names_ = std::make_unique<BackgroundJob>(loop_, "reading names");
  meter_->set_background(names_.get());
  libvirt_ = std::make_unique<LibvirtHelper>(loop_, find_libvirt_helper,
                                             [this](const LibvirtUpdate& update) { meter_->learn(update); });
  server_ = std::make_unique<varlink::Server>(
      loop_, varlink::Queues{.full = full_queue_, .limited = limited_queue_},
      varlink::ServiceInfo{"keplerd", "keplerd", KEPLERD_VERSION, "man:keplerctl(1)"},
      varlink::ServerLimits{}, [this](const varlink::Peer& peer) {
        const Caller caller = identify(peer.uid, peer.groups);
        return varlink::Admission{.full = caller.full, .account = caller.account};
      });
  add_energy_interface(*server_, *this);
  add_metrics_interface(*server_, *this);
  sampler_.start();
  // Before this run's numbers are public: after a crash they continue from here and the write-ahead log.
  state_keeper_->save(meter_->state(), false);
  if (const auto listening = open_socket(); !listening) return listening;
  Reports& reports = *this;
  if (options_.bus != "none")
    bus_ = std::make_unique<BusPublisher>(loop_, options_.bus, reports, limited_queue_);
  return add_timers();
}

Result<Done> Daemon::attach_queues() {
  if (const auto attached = full_queue_.attach(loop_, priority::kNormal); !attached) return attached;
  return limited_queue_.attach(loop_, priority::kLimitedAccess);
}

Result<Done> Daemon::add_signals() {
  const auto end = [this] { sd_event_exit(loop_, 0); };
  if (const auto added = signals_[0].attach(loop_, SIGTERM, "ending", end); !added) return added;
  if (const auto added = signals_[1].attach(loop_, SIGINT, "ending", end); !added) return added;
  return signals_[2].attach(loop_, SIGHUP, "reloading", [this] { reload(); });
}

Result<Done> Daemon::add_timers() {
  const auto on_sampling = [this] {
    behind_barrier("taking a sample", [this] { sampler_.on_time(); });
    arm();
  };
  const auto on_saving = [this] {
    saving_timer_.set_after(kSavingPeriod);
    save();
  };
  const auto on_status = [this] {
    status_timer_.set_after(kStatusPeriod);
    notify_status();
  };
  const auto sampling = sampling_timer_.attach(loop_, "sampling", on_sampling, kSamplingAccuracy);
  if (!sampling) return sampling;
  sampling_timer_.set_priority(priority::kSampling);
  arm();
  const auto saving = saving_timer_.attach(loop_, "saving", on_saving, kLazyAccuracy);
  if (!saving) return saving;
  saving_timer_.set_after(kSavingPeriod);
  const auto status = status_timer_.attach(loop_, "writing the status", on_status, kLazyAccuracy);
  if (!status) return status;
  status_timer_.set_after(kFirstStatus);
  if (const auto attached = group_events_.attach(loop_); !attached) return attached;
  return watchdog_.attach(loop_, [this] { return !sampler_.is_stalled(); });
}

int Daemon::run() {
  notify_status();
  notify_ready();
  const int result = sd_event_loop(loop_);
  notify_stopping();
  server_.reset();
  bus_.reset();
  libvirt_.reset();
  is_ending_ = true;
  sampler_.finish();
  state_keeper_->save(meter_->state(), true);
  if (result < 0) log_error(system_error("event loop", -result).message);
  return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

Result<Done> Daemon::open_socket() {
  const int passed = sd_listen_fds(1);
  for (int i = 0; i < passed; ++i) {
    const int fd = SD_LISTEN_FDS_START + i;
    if (sd_is_socket_unix(fd, SOCK_STREAM, 1, nullptr, 0) <= 0)
      return Error{"the socket passed by systemd is not a listening AF_UNIX stream socket"};
    if (const auto listening = server_->listen(UniqueFd(fd)); !listening) return listening;
  }
  if (passed > 0) return Done{};

  make_directory(options_.runtime_directory, 0755);
  const std::string path = options_.runtime_directory + "/" + kSocketName;
  auto socket = varlink::bind_unix_socket(path, kSocketMode);
  if (!socket) return socket.error();
  bound_socket_ = path;
  return server_->listen(*std::move(socket));
}

void Daemon::arm() {
  sampling_timer_.set_accuracy(sampler_.due().may_be_late ? kRestingAccuracy : kSamplingAccuracy);
  sampling_timer_.set_at(sampler_.due().at);
}

Sampler::Sampled Daemon::sample() {
  const Nanoseconds begun = read_clock(CLOCK_THREAD_CPUTIME_ID);
  const auto before = meter_->report();
  access_.keep_processes(read_monotonic());
  meter_->set_problem(ProblemKind::kState, state_keeper_->problem());
  meter_->want_processes(wants_processes());
  meter_->set_recorded(recorder().is_active());
  meter_->set_watched(watches().units());
  meter_->set_idle_trials(idle_requests().placings());
  const auto report = meter_->sample();
  const Sampler::Sampled sampled{.reported = report->monotonic,
                                 .cost = read_clock(CLOCK_THREAD_CPUTIME_ID) - begun};
  if (report != before) state_keeper_->log(meter_->ledger(), meter_->readings(), meter_->changed_usage());
  if (state_keeper_->is_log_long()) save();
  access_.add(report);
  update_libvirt();
  if (report->host.power.has_value() != before->host.power.has_value()) notify_status();
  if (report == before) return sampled;  // the meter has not moved yet
  recorder().take(meter_->last_sample(), meter_->zones(), *report);
  if (server_) server_->wake();
  if (bus_) bus_->update();
  guests_->update(*report);
  return sampled;
}

// The last sample of a run has all, so that the next run continues from it.
bool Daemon::wants_processes() {
  return is_ending_ || sampler_.wants_processes() || !watches().units().empty();
}

// Only on this very host: the libvirt of another root cannot be reached from here.
void Daemon::update_libvirt() {
  if (!libvirt_) return;  // shutting down
  if (host_.paths().root != "/" || !host_.has_own_procfs()) return;
  const auto drivers = running_drivers(host_, meter_->libvirt_drivers());
  libvirt_->update(drivers, sampler_.last_tried());
  const bool is_missing = !drivers.empty() && !libvirt_->is_installed();
  meter_->set_problem(ProblemKind::kLibvirt,
                      is_missing ? std::optional<std::string>(kNoHelper) : std::nullopt);
  meter_->set_libvirt_connected(libvirt_->is_connected());
}

Caller Daemon::identify(uid_t user, std::span<const gid_t> groups) const {
  Caller caller = access_.identify(user, groups);
  if (const auto account = meter_->logins().account_of(user)) caller.account = *account;
  return caller;
}

ReportView Daemon::latest(const Caller& caller, std::optional<RowKind> kind) {
  ReportView view = access_.view_for(caller, kind);
  if (kind == RowKind::kProcesses && access_.may_see_processes(caller)) sampler_.ask_processes();
  return view;
}

ReportView Daemon::fresh(const Caller& caller, std::optional<RowKind> kind) {
  if (caller.full) {
    const bool of_processes = kind == RowKind::kProcesses;
    if (of_processes) sampler_.ask_processes();
    sampler_.refresh(of_processes && meter_->lacks_processes());
    arm();
  }
  return latest(caller, kind);
}

void Daemon::hurry(const Caller& caller) {
  if (!caller.full) return;
  sampler_.hurry();
  arm();
}

std::shared_ptr<const Listener> Daemon::listen(const Listener& listener) {
  auto held = sampler_.listen(listener);
  arm();
  return held;
}

// systemctl shows it to everyone.
void Daemon::notify_status() {
  const ReportView shown = latest(kInside.as_public(), {});
  const Report& report = *meter_->report();
  keplerd::notify_status(report, shown && report.host.power ? shown.report->host.power : std::nullopt);
}

void Daemon::save() {
  state_keeper_->save_in_background(loop_, meter_->state());
  meter_->give_back_memory();
}

void Daemon::reload() {
  notify_reloading();
  const auto loaded = load_effective_settings(options_);
  if (!loaded) {
    log_error("configuration not reloaded, the current settings stay in effect: " + loaded.error().message);
  } else {
    const Settings old = std::exchange(settings_, loaded->settings);
    if (!StateKeeper::share_totals(old.energy, settings_.energy)) {
      log_warning("Source=" + settings_.energy.source + " takes effect at the next start: " +
                  "invented and estimated energy have totals of their own");
      settings_.energy = old.energy;
    }
    if (old.energy != settings_.energy) meter_->set_source(source_choice(settings_.energy));
    const ModelRules rules = model_rules(settings_.attribution);
    // Unchanged rules keep their model, with what it has learned.
    if (rules != model_rules(old.attribution)) meter_->set_model(make_model(rules));
    meter_->set_limits(terminated_limits(settings_.workloads));
    meter_->set_idle_placing(idle_placing(settings_.attribution.idle));
    if (old.guests != settings_.guests) guests_ = std::make_unique<GuestTrees>(settings_.guests, log_warning);
    access_.set_rule(settings_.access.public_access);
    if (server_) server_->wake();  // ends streams of callers who may no longer see anything
    if (bus_) bus_->update();
    sampler_.set(settings_.sampling);
    arm();
    log_info("configuration reloaded");
  }
  notify_ready();
}

}  // namespace keplerd
