// SPDX-License-Identifier: Apache-2.0
#include "daemon/meter_log.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "daemon/log.h"

namespace keplerd {

void MeterLog::source(const std::string& missing, const std::optional<std::string>& change) {
  if (!std::exchange(has_no_source_, !missing.empty()) && has_no_source_)
    log_warning("no energy source: " + missing);
  if (!change) return;
  log_info(*change);
  zone_failed_.clear();
}

void MeterLog::cannot_sample(const std::string& reason) {
  if (!std::exchange(cannot_sample_, true)) log_warning("cannot sample: " + reason);
}

void MeterLog::sampled(const Sample& sample, const Attribution& attribution, const std::vector<Zone>& zones) {
  if (std::exchange(cannot_sample_, false)) log_info("sampling again");
  const Nanoseconds now = sample.at.monotonic;
  for (const std::string& line : faults_.summaries(now)) log_warning(line);
  for (const std::string& line : notes_.summaries(now)) log_info(line);
  zone_failed_.resize(zones.size());
  for (std::size_t i = 0; i < zones.size(); ++i) {
    const Result<Microjoules>& reading = sample.readings[i];
    if (reading.ok() == zone_failed_[i]) {
      zone_failed_[i] = !reading.ok();
      report(zones[i].id, reading ? "can be read again" : "cannot be read: " + reading.error().message,
             !reading.ok(), now);
    }
    const StepVerdict verdict = attribution.zones[i].verdict;
    if (verdict != StepVerdict::kCounted)
      report(zones[i].id, "energy of one window is not counted: " + std::string(verdict_text(verdict)), true,
             now);
  }
}

void MeterLog::refused(std::span<const RefusedClaim> claims, Nanoseconds now) {
  for (const RefusedClaim& claim : claims) {
    const std::string who = claim.container.empty() ? fmt::format("user {}", claim.owner)
                                                    : fmt::format("container {}", claim.container);
    const std::string what = claim.kind == "helper" ? "help VM" : claim.kind;
    const std::string which =
        fmt::format(" {}, which belongs to another owner: counted separately", claim.id);
    if (const auto line = notes_.report(who, "rejected claim to " + what, now, which)) log_info(*line);
  }
}

void MeterLog::left_out(const UsageReader& usage, Nanoseconds now) {
  report_limit(groups_left_out_, usage.groups_left_out() > 0, "cgroups",
               "too many, or nested too deeply: some have no rows and are counted in their parents",
               "all have rows again", now);
  report_limit(
      groups_unwatched_, usage.groups_unwatched() > 0, "cgroups",
      "more than can be watched (fs.inotify.max_user_watches): scanning all of them with each sample",
      "all are watched again", now);
  report_limit(
      ends_unwatched_, usage.misses_ends(), "cgroups",
      "more than can be watched for their end: what short-lived ones use last is counted in their parents",
      "the end of all is watched again", now);
  report_limit(processes_left_out_, usage.processes_left_out() > 0, "processes",
               "too many: some have no rows, and their energy is counted in the other account of their units",
               "all have rows again", now);
}

void MeterLog::usage_files(const UsageReader& usage) {
  const std::vector<std::string>& now = usage.devices().left_out();
  if (now == usage_files_left_out_) return;
  for (const std::string& line : now)
    if (std::ranges::find(usage_files_left_out_, line) == usage_files_left_out_.end())
      log_warning(fmt::format("/{}/{}", kUsageDirectories, line));
  usage_files_left_out_ = now;
}

void MeterLog::report_limit(bool& reported, bool is_over, const std::string& what, const std::string& fault,
                            const std::string& end, Nanoseconds now) {
  if (std::exchange(reported, is_over) == is_over) return;
  report(what, is_over ? fault : end, is_over, now);
}

void MeterLog::report(const std::string& what, const std::string& update, bool is_fault, Nanoseconds now) {
  const auto line = (is_fault ? faults_ : notes_).report(what, update, now);
  if (line) is_fault ? log_warning(*line) : log_info(*line);
}

}  // namespace keplerd
