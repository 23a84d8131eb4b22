// SPDX-License-Identifier: Apache-2.0
#include "exporter/exporter.h"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <sys/utsname.h>
#include <systemd/sd-daemon.h>

#include "base/barrier.h"
#include "base/parse.h"
#include "exporter/http/listen.h"
#include "exporter/log.h"

namespace keplerd::exporter {
namespace {

constexpr std::chrono::seconds kLongestWait{7};  // a window, and a bit more; a scrape times out after 10 s
constexpr char kNoSource[] = "none";
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
      processes_(options_.processes),
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
  streams_.reset();
  signals_.clear();
  sd_event_unref(event_);
}

// If callers are not authenticated, only what everyone may see is requested in full.
client::Streams::Plan Exporter::make_plan() const {
  client::Streams::Plan plan{
      .address = options_.varlink, .wanted = {}, .pace = kPace, .program = "the exporter"};
  const Kinds in_full = web_.authenticates() ? Kinds().set() : options_.serve;
  const auto add = [&](Kind kind) { plan.wanted.push_back({kind, in_full.test(index_of(kind))}); };
  add(Kind::kZones);  // first: the host comes with them
  for (const client::KindInfo& info : client::kKinds) {
    const bool is_wanted = info.kind != Kind::kProcesses || options_.processes > 0;
    if (info.kind != Kind::kZones && is_wanted) add(info.kind);
  }
  return plan;
}

client::Streams::Events Exporter::events() {
  return {.reply =
              [this](Kind kind, varlink::Json reply) {
                ticks_.add(kind, std::move(reply));
                if (kind == Kind::kZones) keep_step();
              },
          .lost =
              [this](Kind kind) {
                ticks_.forget(kind);
                if (kind == Kind::kProcesses) processes_.forget();
                snapshot_.forget(kind);
              },
          .changed =
              [this](bool up, const std::string& reason) {
                decided_ = true;
                if (up) {
                  log_info("keplerd answers");
                } else {
                  log_warning("keplerd does not answer: " + reason);
                }
              }};
}

// Whether the kind is followed in the same way as the zones: at public ticks too, or neither of them.
bool Exporter::is_like_zones(Kind kind) const {
  const auto wanted = std::ranges::find(plan_.wanted, kind, &client::Streams::Plan::Wanted::kind);
  return wanted != plan_.wanted.end() && wanted->in_full == plan_.wanted.front().in_full;
}

// Called just after a sample: a stream opened now gets this one, and then the same ones as the zones.
void Exporter::keep_step() {
  const Kinds late = ticks_.out_of_step();
  for (const client::KindInfo& info : client::kKinds) {
    if (late.test(index_of(info.kind)) && is_like_zones(info.kind)) streams_->reopen(info.kind);
  }
}

void Exporter::take(Kind kind, const varlink::Json& reply) {
  snapshot_.apply(kind, reply);
  if (kind == Kind::kProcesses && snapshot_.has(kind)) processes_.take(snapshot_.processes());
  const bool may_balance = kind == Kind::kProcesses || kind == Kind::kZones;
  if (may_balance && snapshot_.are_processes_current()) processes_.balance(snapshot_.active());
}

Result<Done> Exporter::start() {
  if (const int code = sd_event_default(&event_); code < 0) return system_error("sd_event_default", -code);
  set_barrier_log([](const std::string& where, const std::string& what) {
    log_error("exception while " + where + ": " + what);
  });
  if (const auto added = add_signals(); !added) return added;
  streams_ = std::make_unique<client::Streams>(event_, plan_, events());
  Contents& contents = *this;
  pages_ = std::make_unique<Pages>(contents, http::Passwords(web_.users), web_.headers);
  server_ = std::make_unique<http::Server>(
      event_, [this](const http::Request& request) { return pages_->answer(request); });
  if (web_.has_tls) {
    if (const auto used = server_->use_tls(web_.tls); !used) return used;
  }
  auto sockets = open_sockets();
  if (!sockets) return sockets.error();
  if (const auto started = streams_->start(); !started) return started;
  wait_for_numbers();
  for (UniqueFd& socket : *sockets) {
    if (const auto listening = server_->listen(std::move(socket)); !listening) return listening;
  }
  return Done{};
}

// Whether everything to be shown has arrived, or nothing is expected for now. A keplerd that has just been
// started has no power before its second sample.
bool Exporter::has_numbers() const {
  if (!decided_ || !streams_->is_up()) return decided_;
  for (const client::Streams::Plan::Wanted& wanted : plan_.wanted) {
    if (!snapshot_.has(wanted.kind)) return false;
  }
  if (is_like_zones(Kind::kProcesses) && processes_.others() == nullptr) return false;
  return snapshot_.host()->source == kNoSource || snapshot_.host()->all.power;
}

// So that the first client, whose connection may have started the exporter, gets numbers, too.
void Exporter::wait_for_numbers() {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (!has_numbers()) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) return;
    const auto usec = std::chrono::duration_cast<std::chrono::microseconds>(left).count();
    if (sd_event_run(event_, static_cast<std::uint64_t>(usec)) < 0) return;
  }
}

Result<Done> Exporter::add_signals() {
  for (const int signal : {SIGTERM, SIGINT}) {
    Signal& added = signals_.emplace_back();
    const auto attached = added.attach(event_, signal, "ending", [this] { sd_event_exit(event_, 0); });
    if (!attached) return attached;
  }
  // A client that disconnects must not end the process.
  ::signal(SIGPIPE, SIG_IGN);
  return Done{};
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
  Rendered rendered = render_metrics({.snapshot = snapshot_,
                                      .processes = processes_,
                                      .processors = processors_,
                                      .node_name = node_name_,
                                      .version = KEPLERD_VERSION,
                                      .architecture = architecture_,
                                      .up = streams_->is_up(),
                                      .own = {read_cpu_time(), read_resident_bytes(), started_}},
                                     format);
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
