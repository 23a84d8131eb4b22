// SPDX-License-Identifier: Apache-2.0
// Follows the host or one workload for a status bar: a line for each sample. A bar is started with the
// session and runs as long as that: outages, also at the beginning, are shown and waited for.
#include <utility>

#include <unistd.h>

#include "cli/backoff.h"
#include "cli/fields.h"
#include "cli/output/bar.h"
#include "cli/resolve.h"
#include "cli/screens.h"
#include "cli/verbs/monitor.h"
#include "client/row_set.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

// What is shown.
struct Subject {
  std::string kind, id;  // empty: the host
};

class Bar {
 public:
  Bar(const Context& context, Follow::Clock clock)
      : context_(context), clock_(std::move(clock)), left_(context.options.count) {}

  int run();

 private:
  Result<Subject> find_subject(int& status);
  int follow(const Subject& subject);
  // False if nothing more is wanted.
  bool write(const BarItem& item);
  bool wait_after(const Error& error);

  const Context& context_;
  Follow::Clock clock_;
  std::optional<std::size_t> left_;
  Backoff backoff_;
};

bool Bar::write(const BarItem& item) {
  context_.out << bar_line(context_.options.bar, item);
  if (!context_.out.flush()) return false;  // the reader is gone
  return !left_ || --*left_ > 0;
}

bool Bar::wait_after(const Error& error) {
  if (!write(bar_item_of_outage(error.message))) return false;
  clock_.wait(-1, backoff_.next());
  return true;
}

// Fails with the code of a lost connection if it is worth another attempt.
Result<Subject> Bar::find_subject(int& status) {
  const std::string& wanted = context_.options.of;
  if (wanted.empty()) return Subject{};
  if (wanted == "session") return Subject{"units", "/user.slice/user-" + std::to_string(getuid()) + ".slice"};
  auto daemon = client::Daemon::connect(context_.options.address);
  if (!daemon) return daemon.error();
  const auto matches = resolve(*daemon, wanted, false);
  if (!matches) return matches.error();
  status = kNothingSuch;
  if (matches->ids.empty()) return Error{nothing_such(wanted, true, !context_.options.quiet)};
  if (!is_unique(*matches)) return Error{ambiguity(wanted, *matches)};
  const client::KindInfo* const kind = kind_of(matches->rows.front());
  if (kind == nullptr) return Error{nothing_such(wanted, true, false)};
  return Subject{std::string(kind->plural), client::text(matches->rows.front(), "id")};
}

int Bar::run() {
  for (;;) {
    int status = kFailed;
    const auto subject = find_subject(status);
    if (subject) return follow(*subject);
    if (!Follow::is_loss(subject.error()))
      return context_.fail(subject.error().message, static_cast<ExitStatus>(status));
    if (!wait_after(subject.error())) return kFine;
  }
}

int Bar::follow(const Subject& subject) {
  Json parameters = Json::object();
  if (!subject.kind.empty()) parameters["kind"] = subject.kind;
  if (context_.options.interval) parameters["intervalUsec"] = context_.options.interval->count() / 1000;
  bool is_lost = false, wanted = true;
  Follow follow({.address = context_.options.address,
                 .parameters = std::move(parameters),
                 .report =
                     [&](const std::string& message) {
                       is_lost = !is_lost;  // the begin of an outage, then its end
                       if (is_lost) wanted = write(bar_item_of_outage(message));
                     }},
                clock_);
  for (auto opened = follow.open(); !opened; opened = follow.open()) {
    if (!Follow::is_loss(opened.error())) return context_.fail(opened.error().message);
    if (!wait_after(opened.error())) return kFine;
  }
  client::RowSet rows;
  while (wanted) {
    const auto reply = follow.next();
    if (!reply) return context_.fail(reply.error().message);
    if (!wanted) break;
    if (subject.kind.empty()) {
      wanted = write(bar_item_of_host(reply->tick));
      continue;
    }
    if (reply->is_first) rows = {};
    if (!rows.apply(reply->tick)) continue;  // more rows of the same instant follow
    const auto row = rows.rows().find(subject.id);
    wanted = write(bar_item_of_row(reply->tick, row == rows.rows().end() ? Json() : row->second));
  }
  return kFine;
}

}  // namespace

int follow_for_bar(const Context& context, Follow::Clock clock) {
  return Bar(context, std::move(clock)).run();
}

}  // namespace keplerd::cli
