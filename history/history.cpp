// SPDX-License-Identifier: Apache-2.0
#include "history/history.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/barrier.h"
#include "base/text.h"
#include "event/priority.h"
#include "event/stderr_log.h"
#include "history/interface.h"

namespace keplerd::history {

using namespace stderr_log;

namespace {

constexpr char kEnvironments[] = "/budgets";
constexpr char kWaiting[] = "/waiting-crossings";
constexpr char kSocket[] = "/org.keplerd.History";
constexpr mode_t kSocketMode = 0666;  // who sees what is decided by Access

// As in keplerd: for callers without full access a quarter of a processor.
constexpr FairQueue::Limits kLimitedWork{
    .share = TimeBudget::Limits{
        .share = 4, .most_saved = std::chrono::milliseconds(250), .most_wait = std::chrono::seconds(1)}};

Nanoseconds monotonic() { return std::chrono::steady_clock::now().time_since_epoch(); }

Time realtime() {
  return std::chrono::duration_cast<Time>(std::chrono::system_clock::now().time_since_epoch());
}

std::optional<gid_t> group_of_keplerd() {
  const group* const found = ::getgrnam("keplerd");
  if (found == nullptr) return std::nullopt;
  return found->gr_gid;
}

// systemd creates them; their parents must exist.
Result<Done> make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return system_error(path, errno);
  return Done{};
}

}  // namespace

History::History(Options options, const Settings& settings)
    : options_(std::move(options)),
      settings_(settings),
      access_{::geteuid(), group_of_keplerd()},
      full_queue_({}, monotonic),
      limited_queue_(kLimitedWork, monotonic),
      budgets_(
          settings_.budgets, [this](const BudgetUse& use, int percent) { reporter_->report(use, percent); },
          [](const Budget& budget, const std::string& reason) {
            log_warning(fmt::format("budget {}: it is not known what was used: {}", escape_name(budget.text),
                                    reason));
          }) {}

History::~History() {
  set_barrier_log({});
  follower_.reset();
  server_.reset();
  bus_.reset();
  full_queue_.detach();
  limited_queue_.detach();
  signals_.reset();
  if (!socket_path_.empty()) ::unlink(socket_path_.c_str());
  sd_event_unref(event_);
}

Result<Done> History::start() {
  if (const int code = sd_event_default(&event_); code < 0) return system_error("sd_event_default", -code);
  set_barrier_log([](const std::string& where, const std::string& what) {
    log_error("exception while " + where + ": " + what);
  });
  if (const auto attached = signals_.attach(event_); !attached) return attached;
  update_time_zone();
  if (const auto opened = open_database(); !opened) return opened;
  if (const auto serving = serve(); !serving) return serving;
  watch_budgets();
  follower_ = std::make_unique<Follower>(
      event_, Follower::Target{options_.varlink, options_.interval},
      [this](const Reading& reading) { recorder_->take(reading); },
      [this](bool up, const std::string& reason) {
        keplerd_ = up ? std::string() : reason;
        up ? log_info("following keplerd") : log_warning("keplerd does not answer: " + reason);
      });
  return follower_->start();
}

Result<Done> History::open_database() {
  if (const auto made = make_directory(options_.state_directory, 0700); !made) return made;
  lock_ = UniqueFd(::open(options_.state_directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_) return system_error(options_.state_directory, errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(options_.state_directory, errno);
    return Error{options_.state_directory + ": another keplerd-history uses this directory", EWOULDBLOCK};
  }
  const std::string path = options_.state_directory + kDatabase;
  auto store = Store::open(path, settings_, realtime());
  if (!store) return store.error();
  if (!store->set_aside().empty())
    log_error(path + " is damaged: it is kept as " + store->set_aside() + ", and a new one is begun");
  recorder_.emplace(*std::move(store), [](bool failed, const std::string& message) {
    failed ? log_error(message) : log_info(message);
  });
  return Done{};
}

void History::watch_budgets() {
  if (options_.bus != "none")
    bus_.emplace(event_, options_.bus, std::bind_front(&History::up_to_date_budgets, this));
  WaitingCrossings waiting(options_.state_directory + kWaiting);
  if (const auto loaded = waiting.load(settings_.budgets); !loaded)
    log_warning("crossings that wait for their services: " + loaded.error().message);
  reporter_.emplace(bus_ ? &*bus_ : nullptr, options_.runtime_directory + kEnvironments, std::move(waiting));
  recorder_->on_written([this](Time reading) { check_budgets(reading); });
  if (const auto& baseline = recorder_->store().baseline())
    check_budgets(std::max(baseline->time, realtime()));
  if (!bus_) return;
  if (const auto connected = bus_->connect(); !connected)
    log_warning("the bus cannot be reached: " + connected.error().message);
}

const std::vector<BudgetUse>& History::up_to_date_budgets() {
  recorder_->flush();
  return budgets_.uses();
}

void History::check_budgets(Time reading) {
  if (bus_ && bus_->connect()) reporter_->start_waiting();  // connects again if the bus was restarted
  std::string problem;
  try {
    budgets_.check(recorder_->store(), reading);
  } catch (const DatabaseError& error) {
    problem = error.what();
  }
  if (!problem.empty() && problem != budgets_problem_) log_error("budgets cannot be checked: " + problem);
  budgets_problem_ = std::move(problem);
}

Result<Done> History::serve() {
  if (const auto attached = full_queue_.attach(event_, priority::kLongAnswers); !attached) return attached;
  if (const auto attached = limited_queue_.attach(event_, priority::kLimitedAccess); !attached)
    return attached;
  server_ = std::make_unique<varlink::Server>(
      event_, varlink::Queues{.full = full_queue_, .limited = limited_queue_},
      varlink::ServiceInfo{"keplerd", "keplerd-history", KEPLERD_VERSION, "man:keplerd-history(8)"},
      varlink::ServerLimits{}, [this](const varlink::Peer& peer) {
        const Viewer viewer = access_.identify(peer.uid, peer.groups);
        return varlink::Admission{.full = viewer.full, .account = peer.uid};
      });
  const auto identify = [this](const varlink::Peer& peer) { return access_.identify(peer.uid, peer.groups); };
  const auto added =
      add_history_interface(*server_, event_,
                            {*recorder_, identify, std::bind_front(&History::up_to_date_budgets, this),
                             keplerd_, settings_.project, options_.cost_config});
  if (!added) return added;
  if (const auto made = make_directory(options_.runtime_directory, 0755); !made) return made;
  const std::string path = options_.runtime_directory + kSocket;
  auto socket = varlink::bind_unix_socket(path, kSocketMode);
  if (!socket) return socket.error();
  socket_path_ = path;
  return server_->listen(*std::move(socket));
}

int History::run() {
  sd_notify(0, "READY=1");
  const int status = sd_event_loop(event_);
  sd_notify(0, "STOPPING=1");
  recorder_->on_written({});  // a crossing is reported after the next start
  recorder_->flush();
  return status < 0 || !recorder_->problem().empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace keplerd::history
