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
constexpr mode_t kSocketMode = 0666;  // everybody may ask; Access decides what is told
constexpr char kGroup[] = "keplerd";  // whose members have full access

constexpr Nanoseconds kSavingPeriod = std::chrono::seconds(60);
constexpr Nanoseconds kStatusPeriod = std::chrono::seconds(30);
constexpr Nanoseconds kSamplingAccuracy = std::chrono::microseconds(100);
constexpr Nanoseconds kRestingAccuracy = std::chrono::milliseconds(250);  // to wake up together with others
constexpr Nanoseconds kLazyAccuracy = std::chrono::seconds(1);

// As sd-event takes it.
std::uint64_t event_usec(Nanoseconds span) { return static_cast<std::uint64_t>(to_usec(span)); }

Result<Done> check(int result, const char* what) {
  if (result < 0) return system_error(what, -result);
  return Done{};
}

Nanoseconds read_monotonic() { return read_clock(CLOCK_MONOTONIC); }

// What callers with limited access may cost: a quarter of a processor in the long run, as sampling may, and a
// quarter of a second at once.
constexpr FairQueue::Limits kLimitedWork{
    .share = TimeBudget::Limits{
        .share = 4, .most_saved = std::chrono::milliseconds(250), .most_wait = std::chrono::seconds(1)}};

// A directory of our own, where systemd has not made it. Its parent must exist.
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
      access_(::geteuid(), find_group()),
      full_queue_({}, read_monotonic),
      limited_queue_(kLimitedWork, read_monotonic) {
  access_.set_rule(settings_.access.public_access);
  pace_.set(settings_.sampling);
  const Realtime now = read_system_clocks().realtime;
  state_keeper_ = std::make_unique<StateKeeper>(host_, std::move(state_directory), settings_.energy);
  StateKeeper::Restored restored = state_keeper_->restore(now);
  meter_ = std::make_unique<Meter>(host_, source_choice(settings_.energy), std::move(restored.ledger),
                                   std::move(restored.readings), read_system_clocks);
  meter_->set_model(make_model(model_rules(settings_.attribution)));
  meter_->set_limits(terminated_limits(settings_.workloads));
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
  for (auto* source : {&sampling_timer_, &saving_timer_, &watchdog_timer_, &status_timer_}) source->reset();
  signals_.clear();
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
  libvirt_ = std::make_unique<LibvirtHelper>(loop_, find_libvirt_helper(),
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
  sample();
  pace_.ask(sampled_);  // who starts it will look
  period_ = pace_.period(sampled_, meter_->may_read_seldom());
  // From here on this run's numbers are seen: a crash must not look like a clean end.
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
  const auto stop = [](sd_event_source* source, const signalfd_siginfo*, void*) {
    return sd_event_exit(sd_event_source_get_event(source), 0);
  };
  const auto hangup = [](sd_event_source*, const signalfd_siginfo*, void* daemon) {
    behind_barrier("reloading", [daemon] { static_cast<Daemon*>(daemon)->reload(); });
    return 0;
  };
  for (const int signal : {SIGTERM, SIGINT}) {
    if (const auto added = add_signal(signal, stop); !added) return added;
  }
  if (const auto added = add_signal(SIGHUP, hangup); !added) return added;
  return Done{};
}

Result<Done> Daemon::add_timers() {
  const auto on_sampling = [](sd_event_source* source, std::uint64_t planned, void* self) {
    auto* const daemon = static_cast<Daemon*>(self);
    behind_barrier("taking a sample", [daemon] { daemon->sample(); });
    behind_barrier("choosing the pace", [daemon] { daemon->choose_period(); });
    daemon->repeat(source, planned, daemon->period_);
    daemon->await_budget();
    return 0;
  };
  const auto on_saving = [](sd_event_source* source, std::uint64_t planned, void* self) {
    behind_barrier("saving", [self] { static_cast<Daemon*>(self)->save(); });
    static_cast<Daemon*>(self)->repeat(source, planned, kSavingPeriod);
    return 0;
  };
  const auto on_status = [](sd_event_source* source, std::uint64_t planned, void* self) {
    behind_barrier("writing the status", [self] { static_cast<Daemon*>(self)->notify_status(); });
    static_cast<Daemon*>(self)->repeat(source, planned, kStatusPeriod);
    return 0;
  };
  const auto on_watchdog = [](sd_event_source* source, std::uint64_t planned, void* self) {
    behind_barrier("answering the watchdog", [self] { static_cast<Daemon*>(self)->on_watchdog(); });
    static_cast<Daemon*>(self)->repeat(source, planned, *watchdog_period() / 3);
    return 0;
  };
  if (const auto added = add_timer(sampling_timer_, period_, kSamplingAccuracy, on_sampling); !added)
    return added;
  sd_event_source_set_priority(sampling_timer_.get(), priority::kSampling);
  if (const auto added = add_timer(saving_timer_, kSavingPeriod, kLazyAccuracy, on_saving); !added)
    return added;
  // Soon, because the first sample has no window and so no power.
  if (const auto added = add_timer(status_timer_, std::chrono::seconds(2), kLazyAccuracy, on_status); !added)
    return added;
  if (const auto period = watchdog_period())
    return add_timer(watchdog_timer_, *period / 3, kLazyAccuracy, on_watchdog);
  return Done{};
}

int Daemon::run() {
  notify_status();
  notify_ready();
  const int result = sd_event_loop(loop_);
  notify_stopping();
  server_.reset();
  bus_.reset();
  sample();
  state_keeper_->save(meter_->state(), true);
  if (result < 0) log_error(system_error("event loop", -result).message);
  return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

Result<Done> Daemon::open_socket() {
  const int passed = sd_listen_fds(1);
  for (int i = 0; i < passed; ++i) {
    const int fd = SD_LISTEN_FDS_START + i;
    if (sd_is_socket_unix(fd, SOCK_STREAM, 1, nullptr, 0) <= 0)
      return Error{"the socket from systemd is no listening AF_UNIX stream"};
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

Result<Done> Daemon::add_signal(int signal, sd_event_signal_handler_t handler) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  sd_event_source* source = nullptr;
  const auto added = check(sd_event_add_signal(loop_, &source, signal, handler, this), "sd_event_add_signal");
  if (added) signals_.emplace_back(source);
  return added;
}

Result<Done> Daemon::add_timer(EventSource& source, Nanoseconds period, Nanoseconds accuracy,
                               sd_event_time_handler_t handler) {
  sd_event_source* added = nullptr;
  const auto result = check(sd_event_add_time_relative(loop_, &added, CLOCK_MONOTONIC, event_usec(period),
                                                       event_usec(accuracy), handler, this),
                            "sd_event_add_time_relative");
  source.reset(added);
  return result;
}

// At the planned time plus `period`, so that delays do not add up; after a long stall from now on.
void Daemon::repeat(sd_event_source* source, std::uint64_t planned, Nanoseconds period) {
  // Not the loop's time, which is that before all of this began.
  const std::uint64_t now = event_usec(read_monotonic());
  const std::uint64_t next = planned + event_usec(period);
  sd_event_source_set_time(source, next > now ? next : now + event_usec(period));
  sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

void Daemon::choose_period() {
  period_ = pace_.period(read_monotonic(), meter_->may_read_seldom());
  const bool resting = settings_.sampling.interval > Nanoseconds{0} && period_ > settings_.sampling.interval;
  sd_event_source_set_time_accuracy(sampling_timer_.get(),
                                    event_usec(resting ? kRestingAccuracy : kSamplingAccuracy));
}

// The next sample is due a period after the last one, which is at once where that was long ago.
void Daemon::replan() {
  choose_period();
  sd_event_source_set_time(sampling_timer_.get(), event_usec(sampled_ + period_));
  await_budget();
}

// Puts the next sample off until it may begin.
void Daemon::await_budget() {
  const Nanoseconds now = read_monotonic();
  const std::uint64_t earliest = event_usec(now + sample_budget_.wait(now));
  std::uint64_t next = 0;
  sd_event_source_get_time(sampling_timer_.get(), &next);
  if (next < earliest) sd_event_source_set_time(sampling_timer_.get(), earliest);
}

void Daemon::sample() {
  sampled_ = read_monotonic();
  const Nanoseconds begun = read_clock(CLOCK_THREAD_CPUTIME_ID);
  const auto before = meter_->last_report(Rows::kWithoutProcesses);
  const auto report = meter_->sample();
  if (access_.wants_processes(*report)) meter_->last_report(Rows::kAll);
  // The first one is of everything.
  if (sampling_timer_) charge(read_clock(CLOCK_THREAD_CPUTIME_ID) - begun);
  access_.add(report);
  update_libvirt();
  if (report == before) return;  // the meter has not moved yet
  if (server_) server_->wake();
  if (bus_) bus_->update();
  guests_->update(*report);
}

void Daemon::charge(Nanoseconds cost) {
  charged_ = read_monotonic();
  sample_budget_.spend(charged_, cost);
  if (const auto exceeded = sample_budget_.notice(charged_)) {
    *exceeded ? log_warning("samples cost more than a quarter of a processor: fewer are taken")
              : log_info("samples are taken as often as before");
  }
}

// Only on the very host: another root's libvirt is not there to be asked.
void Daemon::update_libvirt() {
  if (host_.paths().root != "/" || !host_.has_own_procfs()) return;
  libvirt_->update(running_drivers(host_, meter_->libvirt_drivers()), sampled_);
  meter_->set_libvirt_connected(libvirt_->is_connected());
}

Caller Daemon::identify(uid_t user, std::span<const gid_t> groups) const {
  Caller caller = access_.identify(user, groups);
  if (const auto account = meter_->logins().account_of(user)) caller.account = *account;
  return caller;
}

std::shared_ptr<const Report> Daemon::latest(const Caller& caller, Rows rows) {
  if (rows == Rows::kAll && access_.needs_processes(caller)) meter_->last_report(rows);
  return access_.report_for(caller, rows);
}

std::shared_ptr<const Report> Daemon::fresh(const Caller& caller, Rows rows) {
  if (!caller.full) return latest(caller, rows);
  const Nanoseconds now = read_monotonic();
  pace_.ask(now);
  if (period_ > settings_.sampling.interval) {
    const bool on_demand = settings_.sampling.interval == Nanoseconds{0};
    const auto last = meter_->last_report(Rows::kWithoutProcesses);
    const bool stale =
        now - last->monotonic >= (on_demand ? settings_.sampling.staleness : settings_.sampling.interval);
    if (stale && sample_budget_.wait(now) == Nanoseconds{0}) sample();
    replan();
  }
  return latest(caller, rows);
}

std::shared_ptr<const Listener> Daemon::listen(const Caller& caller, Nanoseconds wanted) {
  auto listener = pace_.listen({.full = caller.full, .wanted = wanted});
  const Nanoseconds before = period_;
  choose_period();
  if (period_ < before) replan();
  return listener;
}

// systemctl shows it to everybody.
void Daemon::notify_status() {
  const auto shown = latest(kInside.as_public(), Rows::kWithoutProcesses);
  keplerd::notify_status(*meter_->last_report(Rows::kWithoutProcesses),
                         shown ? shown->host.power : std::nullopt);
}

// Withheld where samples stall, so that systemd starts the daemon again.
void Daemon::on_watchdog() {
  const Nanoseconds since = read_monotonic() - std::max(sampled_, charged_);
  if (since <= 2 * period_ + SampleBudget::kLongestWait + std::chrono::seconds(5)) notify_watchdog();
}

void Daemon::save() {
  state_keeper_->save_in_background(loop_, meter_->state());
  meter_->give_back_memory();
}

void Daemon::reload() {
  notify_reloading();
  const auto loaded = load_effective_settings(options_);
  if (!loaded) {
    log_error("not reloaded, the running settings stay: " + loaded.error().message);
  } else {
    const Settings old = std::exchange(settings_, loaded->settings);
    if (old.energy != settings_.energy) {
      log_warning("Source=, Zones=, IdleWatts=, MaxWatts= and GuestMeter= take effect at the next start");
      settings_.energy = old.energy;
    }
    const ModelRules rules = model_rules(settings_.attribution);
    // The same rules keep their model, and so what it has learned.
    if (rules != model_rules(old.attribution)) meter_->set_model(make_model(rules));
    meter_->set_limits(terminated_limits(settings_.workloads));
    if (old.guests != settings_.guests) guests_ = std::make_unique<GuestTrees>(settings_.guests, log_warning);
    access_.set_rule(settings_.access.public_access);
    if (server_) server_->wake();  // streams of those who may see nothing any more
    if (bus_) bus_->update();
    pace_.set(settings_.sampling);
    replan();
    log_info("configuration reloaded");
  }
  notify_ready();
}

}  // namespace keplerd
