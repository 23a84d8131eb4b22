// SPDX-License-Identifier: Apache-2.0
#include "exporter/exporter.h"

#include <cstdlib>
#include <ctime>
#include <utility>

#include <sys/utsname.h>
#include <systemd/sd-daemon.h>

#include "base/barrier.h"
#include "base/parse.h"
#include "event/stderr_log.h"
#include "exporter/http/listen.h"

namespace keplerd::exporter {

using namespace stderr_log;

namespace {

// Kepler's own pace: its dashboard uses rates over 20 s.
constexpr std::chrono::seconds kPace{5};

CpuTime read_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::duration_cast<CpuTime>(std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec));
}

// The second number of /proc/self/statm (proc(5)) is resident pages.
std::int64_t read_resident_bytes() {
  const auto statm = http::read_small_file("/proc/self/statm");
  if (!statm) return 0;
  std::string_view rest = *statm;
  take_word(rest);
  return parse_number<std::int64_t>(take_word(rest)).value_or(0) * ::sysconf(_SC_PAGESIZE);
}

std::chrono::microseconds read_realtime() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace

Exporter::Exporter(Options options, http::WebConfig web)
    : options_(std::move(options)),
      web_(std::move(web)),
      rates_(options_.cost_config),
      started_(read_realtime()) {
  // Their names do not change.
  if (const auto cpuinfo = http::read_small_file("/proc/cpuinfo")) processors_ = parse_processors(*cpuinfo);
  utsname name{};
  ::uname(&name);
  node_name_ = name.nodename;
  architecture_ = name.machine;
}

Exporter::~Exporter() {
  set_barrier_log({});
  server_.reset();
  budgets_.reset();
  follower_.reset();
  signals_.reset();
  sd_event_unref(event_);
}

// If callers are not authenticated, only what everyone may see is requested in full.
client::Streams::Plan Exporter::make_plan() const {
  client::Streams::Plan plan{
      .address = options_.varlink, .wanted = {}, .pace = kPace, .program = "the exporter"};
  const Kinds in_full = web_.authenticates() ? Kinds().set() : options_.serve.kinds;
  const auto add = [&](Kind kind) { plan.wanted.push_back({kind, in_full.test(index_of(kind))}); };
  add(Kind::kZones);  // first: the host comes with them
  for (const client::KindInfo& info : client::kKinds) {
    const bool is_wanted = info.kind != Kind::kProcesses || options_.processes > 0;
    if (info.kind != Kind::kZones && is_wanted) add(info.kind);
  }
  return plan;
}

Result<Done> Exporter::follow() {
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  if (options_.serve.budgets || web_.authenticates())
    budgets_.emplace(options_.history, BudgetReader::Means{event_, now});
  follower_ = std::make_unique<Follower>(make_plan(), options_.processes,
                                         Follower::Means{event_, now, [this] { server_->answer_waiting(); }});
  return follower_->start();
}

// A scrape after a pause waits.
bool Exporter::prepare() {
  follower_->scrape();
  if (budgets_) budgets_->scrape();
  return !follower_->is_waiting();
}

Result<Done> Exporter::start() {
  if (const int code = sd_event_default(&event_); code < 0) return system_error("sd_event_default", -code);
  set_barrier_log([](const std::string& where, const std::string& what) {
    log_error("exception while " + where + ": " + what);
  });
  if (const auto attached = signals_.attach(event_); !attached) return attached;
  rates_.at(read_realtime());  // an error is logged now, not when the first client connects
  Contents& contents = *this;
  pages_ = std::make_unique<Pages>(contents, http::Passwords(web_.users),
                                   Pages::Rules{web_.headers, web_.rate_limit});
  server_ = std::make_unique<http::Server>(
      event_, [this](const http::Request& request) { return pages_->answer(request); });
  if (web_.has_tls) {
    if (const auto used = server_->use_tls(web_.tls); !used) return used;
  }
  auto sockets = open_sockets();
  if (!sockets) return sockets.error();
  if (const auto followed = follow(); !followed) return followed;
  wait_for_numbers();
  for (UniqueFd& socket : *sockets) {
    if (const auto listening = server_->listen(std::move(socket)); !listening) return listening;
  }
  return Done{};
}

// So that the first client, whose connection may have started the exporter, gets numbers, too.
void Exporter::wait_for_numbers() {
  while (follower_->is_waiting()) {
    if (sd_event_run(event_, UINT64_MAX) < 0) return;
  }
}

// Those passed by systemd, else one of our own. Clients that connect wait until they are served.
Result<std::vector<UniqueFd>> Exporter::open_sockets() const {
  auto sockets = http::take_passed_sockets();
  if (!sockets || !sockets->empty()) return sockets;
  const auto place = http::parse_place(options_.listen);
  if (!place) return place.error();
  return http::listen_at(*place);
}

std::string Exporter::metrics(Format format) {
  Rendered rendered = render_metrics({.snapshot = follower_->snapshot(),
                                      .processes = follower_->processes(),
                                      .processors = processors_,
                                      .node_name = node_name_,
                                      .version = KEPLERD_VERSION,
                                      .architecture = architecture_,
                                      .up = follower_->is_up(),
                                      .rates = rates_.at(read_realtime()),
                                      .budgets = budgets_ ? budgets_->rows() : std::vector<BudgetRow>(),
                                      .own = {read_cpu_time(), read_resident_bytes(), started_},
                                      .expected_size = last_size_ + last_size_ / 16},
                                     format);
  last_size_ = rendered.text.size();
  report_left_out(rendered);
  return std::move(rendered.text);
}

// Logged once, until nothing is left out any more.
void Exporter::report_left_out(const Rendered& rendered) {
  std::string what;
  for (const client::KindInfo& kind : client::kKinds) {
    const std::size_t count = rendered.left_out[index_of(kind.kind)];
    if (count > 0) what += ' ' + std::to_string(count) + ' ' + std::string(kind.plural);
  }
  if (!what.empty() && !reported_left_out_) log_warning("too many series, not exported:" + what);
  reported_left_out_ = !what.empty();
}

int Exporter::run() {
  sd_notify(0, "READY=1");
  // It may have been asked to stop during start-up.
  const bool ended = sd_event_get_state(event_) == SD_EVENT_FINISHED;
  const int code = ended ? 0 : sd_event_loop(event_);
  sd_notify(0, "STOPPING=1");
  return code < 0 ? EXIT_FAILURE : code;
}

}  // namespace keplerd::exporter
