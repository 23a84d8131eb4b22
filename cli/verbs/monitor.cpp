// SPDX-License-Identifier: Apache-2.0
// Follows the daemon's live stream, also across a restart of keplerd. A terminal shows a kind's table again
// each tick, or one line per tick for the host; otherwise a table is shown once, unless --count is given.
// JSON output is an endless sequence (RFC 7464).
#include "cli/verbs/monitor.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/host_lines.h"
#include "cli/output/csv.h"
#include "cli/output/width.h"
#include "cli/rows.h"
#include "cli/screens.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"
#include "cli/wall.h"
#include "client/row_set.h"

namespace keplerd::cli {
namespace {

constexpr std::string_view kClear = "\033[H\033[2J";
constexpr std::size_t kEventsShown = 3;
// With --count, the command is expected to end.
constexpr std::chrono::seconds kPatience{30};

bool as_sequence(const Options& options) { return options.framing != Framing::kLines; }

// The consumer of ticks. Returns false if the tick is not counted.
class TickWriter {
 public:
  virtual ~TickWriter() = default;
  virtual Result<bool> write(const Json& tick) = 0;
  // The next tick is the first of a new connection.
  virtual void restart() {}
};

// Monitor's reply lacks parts of the status; GetStatus's is complete, and all from one instant.
class StatusSequence : public TickWriter {
 public:
  explicit StatusSequence(const Context& context) : context_(context) {}

  Result<bool> write(const Json&) override {
    if (!daemon_) {
      auto daemon = client::Daemon::connect(context_.options.address);
      if (!daemon) return daemon.error();
      daemon_ = std::move(*daemon);
    }
    auto status = daemon_->status();
    if (!status) return status.error();
    const auto sequence = integer_field(*status, "sequence");
    if (sequence && sequence == last_) return false;
    last_ = sequence;
    context_.out << framed_json_text(status_json(std::move(*status)), context_.options.json,
                                     as_sequence(context_.options));
    return true;
  }

  void restart() override {
    daemon_.reset();
    last_.reset();
  }

 private:
  const Context& context_;
  std::optional<client::Daemon> daemon_;
  std::optional<std::int64_t> last_;
};

class HostLineWriter : public TickWriter {
 public:
  explicit HostLineWriter(const Context& context) : context_(context), lines_(context.table_style().width) {}

  Result<bool> write(const Json& tick) override {
    const std::string quality = string_field(field(tick, "source"), "quality").value_or("none");
    if (quality != last_quality_) write_head(tick);
    last_quality_ = quality;
    context_.out << lines_.line(tick);
    return true;
  }

 private:
  void write_head(const Json& tick) {
    warn_without_legend(context_, tick);
    if (!context_.options.legend) return;
    const bool colour = context_.terminal.colour;
    context_.out << wrap_words(source_line(tick, colour) + "\n", context_.table_style().width) << "\n"
                 << paint(lines_.header(), Paint::kBold, colour) << "\n";
  }

  const Context& context_;
  HostLines lines_;
  std::optional<std::string> last_quality_;
};

class HostCsv : public TickWriter {
 public:
  explicit HostCsv(const Context& context) : context_(context) {
    if (context.options.legend) context.out << csv_host_header();
  }

  Result<bool> write(const Json& tick) override {
    if (!std::exchange(warned_, true)) warn_unless_measured(context_, tick);
    context_.out << csv_host_line(tick);
    return true;
  }

 private:
  const Context& context_;
  bool warned_ = false;
};

class KindTicks : public TickWriter {
 public:
  explicit KindTicks(const Context& context) : context_(context), options_(context.options) {}

  Result<bool> write(const Json& tick) override {
    if (!set_.apply(tick)) return false;  // more rows of the same instant follow
    std::vector<Json> rows;
    for (const auto& [id, row] : set_.rows()) rows.push_back(row);
    if (const auto added = add_wall(tick, rows); !added) return added.error();
    sort_rows(rows, context_.options.sort.empty() ? "energy" : context_.options.sort);
    for (const Json& event : field(tick, "events")) events_.push_back(event);
    if (context_.wants_json()) {
      write_json(std::move(rows));
      return true;
    }
    if (context_.options.csv) {
      write_csv(tick, rows);
      return true;
    }
    while (events_.size() > kEventsShown) events_.erase(events_.begin());
    if (context_.terminal.is_terminal && !context_.terminal.dumb) context_.out << kClear;
    if (!warned_) warn_without_legend(context_, tick);
    warned_ = true;
    context_.out << fitting_screen(tick, rows);
    write_events();
    return true;
  }

  void restart() override { set_ = {}; }

 private:
  // Fails before the first tick only: later, keplerd may be learning again.
  Result<Done> add_wall(const Json& tick, std::vector<Json>& rows) {
    if (!options_.wall) return Done{};
    auto wall = Wall::of(tick);
    if (!wall && !warned_) return wall.error();
    wall_.reset();
    if (wall) wall_ = *std::move(wall);
    if (wall_) wall_->add_to(rows);
    return Done{};
  }

  const client::KindInfo& kind() const { return *client::find_kind(options_.kind); }

  void write_json(std::vector<Json> rows) {
    if (const auto limit = context_.options.limit; limit && rows.size() > *limit) rows.resize(*limit);
    Json object = Json::object();
    if (wall_) object["wall"] = wall_->json(wall_->sums(rows, kind().kind));
    object[std::string(kind().json_key)] = std::move(rows);
    warned_ = true;
    if (!events_.empty()) object["events"] = std::exchange(events_, Json::array());
    context_.out << framed_json_text(object, context_.options.json, as_sequence(context_.options));
  }

  void write_csv(const Json& tick, std::vector<Json>& rows) {
    if (!std::exchange(warned_, true)) {
      warn_unless_measured(context_, tick);
      if (context_.options.legend) context_.out << csv_rows_header(options_.wall);
    }
    if (const auto limit = context_.options.limit; limit && rows.size() > *limit) rows.resize(*limit);
    for (const Json& row : rows) context_.out << csv_row_line(tick, row, options_.wall);
  }

  std::string screen_of(const Json& tick, const std::vector<Json>& rows, std::optional<std::size_t> limit) {
    options_.limit = limit;
    return list_screen({kind(), tick, options_, context_.table_style(), wall_ ? &*wall_ : nullptr}, rows);
  }

  // On a terminal, as many rows as fit with what is above and below them.
  std::string fitting_screen(const Json& tick, const std::vector<Json>& rows) {
    const auto limit = context_.options.limit;
    if (!context_.terminal.is_terminal || limit) return screen_of(tick, rows, limit);
    const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
    constexpr int kCursor = 1;
    const auto events = events_.empty() ? 0 : static_cast<std::ptrdiff_t>(events_.size()) + 1;
    const std::ptrdiff_t room = context_.terminal.height - kCursor - events;
    const std::ptrdiff_t around = lines(screen_of(tick, rows, 1)) - 1;
    std::ptrdiff_t left = std::max<std::ptrdiff_t>(room - around, 1);
    std::string text = screen_of(tick, rows, static_cast<std::size_t>(left));
    // More digits may have made the footer longer.
    while (lines(text) > room && left > 1) text = screen_of(tick, rows, static_cast<std::size_t>(--left));
    return text;
  }

  // Recent events of VMs.
  void write_events() {
    if (!events_.empty()) context_.out << "\n";
    for (const Json& event : events_) {
      const auto reason = string_field(event, "reason");
      context_.out << fmt::format("{}  {} {}{}\n", date_text(event, "realtimeUsec"), name_text(event, "name"),
                                  name_text(event, "event"), reason ? " (" + printable(*reason) + ")" : "");
    }
  }

  const Context& context_;
  Options options_;
  client::RowSet set_;
  std::optional<Wall> wall_;     // --wall, of the last tick
  Json events_ = Json::array();  // JSON: since the last tick; otherwise the latest ones
  bool warned_ = false;
};

std::unique_ptr<TickWriter> make_writer(const Context& context) {
  if (!context.options.kind.empty()) return std::make_unique<KindTicks>(context);
  if (context.options.csv) return std::make_unique<HostCsv>(context);
  if (!context.wants_json()) return std::make_unique<HostLineWriter>(context);
  return std::make_unique<StatusSequence>(context);
}

Json monitor_parameters(const Options& options) {
  Json parameters = Json::object();
  if (!options.kind.empty()) parameters["kind"] = options.kind;
  if (options.interval) parameters["intervalUsec"] = options.interval->count() / 1000;
  return parameters;
}

}  // namespace

int run_monitor(const Context& context) {
  const bool for_bar = context.options.bar != BarFormat::kNone;
  return for_bar ? follow_for_bar(context, Follow::steady_clock())
                 : follow_daemon(context, Follow::steady_clock());
}

int follow_daemon(const Context& context, Follow::Clock clock) {
  std::optional<std::size_t> left = context.options.count;
  const bool endless = context.wants_json() || context.options.csv || context.terminal.is_terminal;
  if (!left && !endless) left = 1;
  Follow follow({.address = context.options.address,
                 .parameters = monitor_parameters(context.options),
                 .patience = left ? std::optional(kPatience) : std::nullopt,
                 .report = [&](const std::string& message) { context.fail(message); }},
                std::move(clock));
  if (const auto opened = follow.open(); !opened) return fail_to_connect(context, opened.error());
  const auto writer = make_writer(context);
  while (!left || *left > 0) {
    const auto reply = follow.next();
    if (!reply) return context.fail(reply.error().message);
    if (reply->is_first) writer->restart();
    const auto counted = writer->write(reply->tick);
    if (!counted) {
      if (!Follow::is_loss(counted.error())) return context.fail(counted.error().message);
      follow.lose(counted.error());
      continue;
    }
    if (!context.out.flush()) return kFine;  // the reader is gone
    if (left && *counted) --*left;
  }
  return kFine;
}

}  // namespace keplerd::cli
