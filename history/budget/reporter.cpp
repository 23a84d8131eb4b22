// SPDX-License-Identifier: Apache-2.0
#include "history/budget/reporter.h"

#include <cerrno>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>

#include "base/journal.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "event/stderr_log.h"
#include "history/budget/unit_name.h"

namespace keplerd::history {

using namespace stderr_log;

namespace {

constexpr const char* kMessageId = "MESSAGE_ID=b47d95783c4a4e7da73cf847ff48177c";  // keplerd-history(8)
constexpr int kNotice = 5, kWarning = 4;
constexpr double kMicrojoulesPerKilowattHour = 3.6e12;

std::string amounts(Microjoules used, Microjoules limit) {
  const auto of = [&](double unit, const char* name) {
    return fmt::format("{:.3f} of {:.3f} {}", static_cast<double>(used.value) / unit,
                       static_cast<double>(limit.value) / unit, name);
  };
  const bool is_large = static_cast<double>(limit.value) >= kMicrojoulesPerKilowattHour / 10;
  return is_large ? of(kMicrojoulesPerKilowattHour, "kWh") : of(1e6, "J");
}

void log_crossing(const BudgetUse& use, int percent) {
  const std::string message = crossing_message(use, percent);
  if (!stderr_is_journal()) {
    log_warning(message);
    return;
  }
  sd_journal_send(
      "MESSAGE=%s", message.c_str(), kMessageId, "PRIORITY=%i", percent < 100 ? kNotice : kWarning,
      "SYSLOG_IDENTIFIER=keplerd-history", "KEPLERD_BUDGET=%s", use.budget.text.c_str(),
      "KEPLERD_BUDGET_SUBJECT=%s", use.budget.subject().c_str(), "KEPLERD_BUDGET_PERCENT=%i", percent,
      "KEPLERD_BUDGET_USED_MICROJOULES=%lld", static_cast<long long>(use.used.value),
      "KEPLERD_BUDGET_LIMIT_MICROJOULES=%lld", static_cast<long long>(use.budget.limit.value), nullptr);
}

}  // namespace

std::string crossing_message(const BudgetUse& use, int percent) {
  return fmt::format("budget {}: {} % used ({})", escape_name(use.budget.text), percent,
                     amounts(use.used, use.budget.limit));
}

void CrossingReporter::report(const BudgetUse& use, int percent) {
  log_crossing(use, percent);
  if (bus_ == nullptr) return;
  if (const auto sent = bus_->announce(use, percent); !sent) {
    log_warning("the crossing of a budget cannot be announced: " + sent.error().message);
    return;
  }
  const std::string service = budget_service(use.budget);
  if (const auto oldest = waiting_.add({use, percent}))
    log_warning(service + " still runs: it is not started for budget " +
                escape_name(oldest->use.budget.text));
  save_waiting();
  try_to_start(service);
}

void CrossingReporter::start_waiting() {
  for (const std::string& service : waiting_.services()) try_to_start(service);
}

void CrossingReporter::save_waiting() {
  if (const auto saved = waiting_.save(); !saved)
    log_warning("crossings that wait for their services are forgotten at the next restart: " +
                saved.error().message);
}

// systemd does not start what runs, and its environment is that of another crossing.
void CrossingReporter::try_to_start(const std::string& service) {
  if (!checked_.insert(service).second) return;
  // For as long as an answer may come.
  const std::shared_ptr<void> asked(this, [this, service](void*) { checked_.erase(service); });
  const auto checked = bus_->check_unit(service, [this, service, asked](bool is_inactive) {
    if (is_inactive) start_next(service);
  });
  if (!checked) log_warning("cannot start " + service + ": " + checked.error().message);
}

void CrossingReporter::start_next(const std::string& service) {
  const auto crossing = waiting_.take(service);
  if (!crossing) return;
  save_waiting();
  auto result = write_environment(*crossing);
  if (result) {
    result = bus_->start_unit(service, [this](const std::string& unit, const Result<bool>& started) {
      if (!started) log_warning("cannot start " + unit + ": " + started.error().message);
      if (started && *started) log_info("started " + unit);
      if (waiting_.has(unit)) try_to_start(unit);
    });
  }
  if (!result) log_warning("cannot start " + service + ": " + result.error().message);
}

Result<Done> CrossingReporter::write_environment(const Crossing& crossing) const {
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return system_error(directory_, errno);
  const auto& [use, percent] = crossing;
  const auto written = replace_file(directory_ + "/" + escape_unit_name(use.budget.subject()) + ".env",
                                    budget_environment(use, percent), O_WRONLY, Sync::kLater);
  if (!written) return written.error();
  return Done{};
}

}  // namespace keplerd::history
