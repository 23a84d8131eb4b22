// SPDX-License-Identifier: Apache-2.0
// Measures the idle power of a quiet host, and has keplerd use it.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "cli/calibrate/busy_time.h"
#include "cli/calibrate/drop_in.h"
#include "cli/calibrate/idle_estimate.h"
#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/screens.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"
#include "host/host_root.h"

namespace keplerd::cli {
namespace {

using namespace calibrate;

constexpr char kChanged[] = "MESSAGE_ID=7c1d4f0a52b94a0ea8b3e0f6c6d2a917";  // keplerctl(1)

Microwatts to_power(double watts) { return {static_cast<std::int64_t>(watts * 1e6)}; }

// The zones whose idle power keplerd learns, except memory.
std::set<std::string> processor_zones(const Json& status) {
  std::set<std::string> zones;
  for (const Json& zone : client::elements(field(status, "zones"))) {
    const std::string id = client::text(zone, "id");
    if (field(zone, "model").is_object() && id.find(":dram:") == id.npos) zones.insert(id);
  }
  return zones;
}

class Watcher {
 public:
  Watcher(const Context& context, const HostRoot& host, std::set<std::string> zones)
      : context_(context), host_(host), zones_(std::move(zones)) {}

  // The windows of the time asked for.
  Result<std::vector<QuietWindow>> watch() {
    auto daemon = client::Daemon::connect(context_.options.address);
    if (!daemon) return daemon.error();
    constexpr auto kInterval = std::chrono::microseconds(std::chrono::seconds(1));
    const auto started = daemon->start_monitor({{"kind", "zones"}, {"intervalUsec", kInterval.count()}});
    if (!started) return started.error();
    std::optional<Instant> first;
    for (;;) {
      auto tick = daemon->next_tick();
      if (!tick) return tick.error();
      const auto now = take(*tick);
      if (!now) return now.error();
      if (!first) first = *now;
      const Nanoseconds watched = now->time - first->time;
      report_progress(watched);
      if (watched >= context_.options.calibrate.duration) return std::move(windows_);
    }
  }

 private:
  struct Instant {
    Nanoseconds time{0}, busy{0};
    Microjoules energy;  // of the processors
  };

  Result<Instant> take(const Json& tick) {
    const auto busy = read_busy_time(host_);
    if (!busy) return busy.error();
    for (const Json& row : client::elements(field(tick, "rows"))) {
      const std::string id = client::text(row, "id");
      if (zones_.contains(id)) energies_[id] = {integer_field(row, "energyMicrojoules").value_or(0)};
    }
    Instant now{std::chrono::microseconds(integer_field(tick, "monotonicUsec").value_or(0)), *busy, {}};
    for (const auto& [id, energy] : energies_) now.energy += energy;
    if (last_ && now.time > last_->time) add(*last_, now);
    last_ = now;
    return now;
  }

  void add(const Instant& before, const Instant& now) {
    const double seconds = std::chrono::duration<double>(now.time - before.time).count();
    const auto joules = static_cast<double>((now.energy - before.energy).value) / 1e6;
    const double busy = std::chrono::duration<double>(now.busy - before.busy).count();
    windows_.push_back({joules / seconds, busy / seconds});
  }

  void report_progress(Nanoseconds watched) {
    if (context_.options.quiet || windows_.empty() || isatty(STDERR_FILENO) == 0) return;
    const auto seconds = [](Nanoseconds span) {
      return std::chrono::round<std::chrono::seconds>(span).count();
    };
    context_.err << fmt::format("\r{} of {} s: {}, {:.2f} CPUs busy \033[K", seconds(watched),
                                seconds(context_.options.calibrate.duration),
                                format_power(to_power(windows_.back().watts)), windows_.back().busy)
                 << std::flush;
    if (watched >= context_.options.calibrate.duration) context_.err << "\r\033[K";
  }

  const Context& context_;
  const HostRoot& host_;
  std::set<std::string> zones_;
  std::map<std::string, Microjoules> energies_;
  std::optional<Instant> last_;
  std::vector<QuietWindow> windows_;
};

std::string now_text() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return format_date(std::chrono::duration_cast<std::chrono::microseconds>(now));
}

std::string path_of(const CalibrateOptions& options) {
  return options.output.empty() ? kDropIn : options.output;
}

// Changes what everybody is shown: into the journal.
void log_change(const std::string& message, double watts) {
  sd_journal_send("MESSAGE=%s", message.c_str(), kChanged, "PRIORITY=5", "SYSLOG_IDENTIFIER=keplerctl",
                  "KEPLERD_IDLE_WATTS=%.3f", watts, nullptr);
}

// After the file was written or removed.
int apply(const Context& context, const std::string& message, double watts) {
  if (!context.options.calibrate.output.empty()) return kFine;
  log_change(message, watts);
  const auto reloaded = reload_daemon();
  if (reloaded) return kFine;
  return context.fail("keplerd could not be reloaded: " + reloaded.error().message +
                      "; run 'systemctl reload keplerd'");
}

int undo(const Context& context) {
  const std::string path = path_of(context.options.calibrate);
  if (const auto removed = remove_drop_in(path); !removed) return context.fail(removed.error().message);
  if (!context.options.quiet)
    context.err << printable(path) << " is removed: keplerd learns the idle power again\n";
  return apply(context, "The idle power of the processors is learned again", 0);
}

int set_idle(const Context& context, const IdleEstimate& idle) {
  const std::string path = path_of(context.options.calibrate);
  const auto written = write_drop_in(path, drop_in_text(idle, now_text()));
  if (!written) return context.fail(written.error().message);
  if (!context.options.quiet && !context.wants_json())
    context.err << "Written to " << printable(path) << "; 'keplerctl calibrate idle --undo' removes it\n";
  return apply(
      context,
      fmt::format("The idle power of the processors is set to {:.3f} W +-{:.3f} W", idle.watts, idle.error),
      idle.watts);
}

void show(const Context& context, const IdleEstimate& idle, std::size_t samples, std::size_t cpus) {
  if (context.wants_json()) {
    context.show_json({{"idleMicrowatts", to_power(idle.watts).value},
                       {"idleErrorMicrowatts", to_power(idle.error).value},
                       {"samples", samples},
                       {"busyCpus", idle.busy}});
    return;
  }
  context.out << fmt::format(
      "Idle power of the processors: {} +-{} ({} samples, {:.2f}% of the CPU time used)\n",
      format_power(to_power(idle.watts)), format_power(to_power(idle.error)), samples,
      100 * idle.busy / static_cast<double>(cpus));
}

}  // namespace

int run_calibrate(const Context& context) {
  const CalibrateOptions& options = context.options.calibrate;
  if (geteuid() != 0 && options.output.empty() && !options.dry_run)
    return context.fail("only root may change the idle power; --dry-run only measures it");
  if (options.undo) return undo(context);
  const auto host = HostRoot::open(context.options.host);
  if (!host) return context.fail(printable(host.error().message));
  auto daemon = client::Daemon::connect(context.options.address);
  if (!daemon) return fail_to_connect(context, daemon.error());
  const auto status = daemon->status();
  if (!status) return context.fail(status.error().message);
  if (!sees_everything(*status))
    return context.fail("only root and the members of the group keplerd may measure the idle power");
  const auto zones = processor_zones(*status);
  if (zones.empty())
    return context.fail("keplerd does not separate idle from active power by measurement here (Split=)");
  if (!context.options.quiet)
    context.err << "Measuring for "
                << format_time(std::chrono::ceil<std::chrono::microseconds>(options.duration))
                << "; leave the host alone\n";
  const auto windows = Watcher(context, *host, zones).watch();
  if (!windows) return context.fail(printable(windows.error().message));
  const auto cpus = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const auto idle = estimate_idle(*windows, cpus);
  if (!idle) return context.fail("not calibrated: " + idle.error().message);
  show(context, *idle, windows->size(), cpus);
  return options.dry_run ? kFine : set_idle(context, *idle);
}

}  // namespace keplerd::cli
