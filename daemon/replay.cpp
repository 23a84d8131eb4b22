// SPDX-License-Identifier: Apache-2.0
#include "daemon/replay.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "attribution/make_model.h"
#include "base/unique_fd.h"
#include "daemon/convert_settings.h"
#include "daemon/publish/report_json.h"
#include "daemon/publish/row_text.h"
#include "report/row_selection.h"
#include "varlink/json_text.h"

namespace keplerd {
namespace {

constexpr Microjoules kMostEnergy{std::int64_t{1} << 58};  // 9 years at 1 kW: sums of it fit

// {"units": [...]}
std::string rows_text(const char* name, const ReportView& view, RowKind kind) {
  RowOrders orders;
  const auto sequence = orders.first(view, kind, RowOrder::kEnergy, std::numeric_limits<std::size_t>::max());
  std::string text;
  {
    varlink::ObjectWriter object(text);
    varlink::ArrayWriter rows(object.member(name));
    for (std::size_t i = 0; i < sequence.size(); ++i) write_row(rows.element(), view, kind, sequence[i]);
  }
  return text;
}

// "powercap" of "powercap:package:0".
std::string source_of(const std::vector<Zone>& zones) {
  return zones.empty() ? "none" : zones.front().id.substr(0, zones.front().id.find(':'));
}

// The lines of a file, of which none is kept longer than it takes.
class LineFile {
 public:
  explicit LineFile(UniqueFd file) : file_(std::move(file)) {}

  // The next line, without its newline; unset at the end. Valid until the next call.
  Result<std::optional<std::string_view>> next() {
    text_.erase(0, taken_);
    taken_ = 0;
    for (std::size_t searched = 0;;) {
      const auto end = text_.find('\n', searched);
      if (end != text_.npos) {
        taken_ = end + 1;
        return std::optional(std::string_view(text_).substr(0, end));
      }
      if (text_.size() > kLongestTraceLine) return Error{"the line is too long"};
      searched = text_.size();
      const ssize_t count = ::read(file_.get(), buffer_.data(), buffer_.size());
      if (count == 0) return std::optional<std::string_view>();
      if (count < 0 && errno != EINTR) return system_error("cannot be read", errno);
      if (count > 0) text_.append(buffer_.data(), static_cast<std::size_t>(count));
    }
  }

  // After the end: whether the last line lacks its newline.
  bool is_torn() const { return !text_.empty(); }

 private:
  UniqueFd file_;
  std::array<char, 64 << 10> buffer_{};
  std::string text_;
  std::size_t taken_ = 0;
};

}  // namespace

Replay::Replay(const Settings& settings)
    : settings_(settings), attributor_(make_model(model_rules(settings.attribution))) {}

Result<bool> Replay::take(std::string_view line) {
  const auto taken = reader_.take(line);
  if (!taken) return taken.error();
  if (*taken == TraceReader::Line::kHeader) return false;
  const Sample& sample = reader_.sample();
  if (!ledger_) {
    ledger_.emplace("replay", sample.at.realtime);
    ledger_->set_limits(terminated_limits(settings_.workloads));
    ledger_->set_idle_placing(idle_placing(settings_.attribution.idle));
  }
  follow_zones(reader_, attributor_);
  if (reader_.zones_changed()) ledger_->set_zones(reader_.zones(), sample.at.realtime);
  const Attribution& attribution = attributor_.attribute(sample);
  for (const ZoneAttribution& zone : attribution.zones) {
    energy_ += zone.energy;
    if (energy_ > kMostEnergy) return Error{"more energy than any host draws"};
  }
  ledger_->apply(sample, attribution);
  left_out_ += std::min<std::int64_t>(reader_.left_out(), std::numeric_limits<std::int32_t>::max());
  return true;
}

std::shared_ptr<const Report> Replay::report() const {
  if (!ledger_) return nullptr;
  std::shared_ptr<Report> report = ledger_->report();
  report->source.name = source_of(reader_.zones());
  report->rules = attributor_.model().in_force();
  report->models = attributor_.model().states();
  return report;
}

void Replay::write(std::ostream& out) const {
  const ReportView view{report(), nullptr};
  if (!view.report) return;
  out << varlink::ReplyText(status_json(*view.report, settings_)).text() << '\n';
  out << rows_text("zones", view, RowKind::kZones) << '\n';
  out << rows_text("units", view, RowKind::kUnits) << '\n';
}

Result<Done> replay_file(const ReplayRequest& request, const Settings& settings, std::ostream& out,
                         std::ostream& warnings) {
  UniqueFd file(::open(request.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return system_error(request.path, errno);
  LineFile lines(std::move(file));
  Replay replay(settings);
  std::uint64_t number = 0, samples = 0;
  bool is_written = true;
  while (out) {
    ++number;
    const auto at = [&](const Error& error) {
      return Error{fmt::format("{}:{}: {}", request.path, number, error.message)};
    };
    const auto line = lines.next();
    if (!line) return at(line.error());
    if (!*line) break;
    const auto taken = replay.take(**line);
    if (!taken) return at(taken.error());
    if (!*taken) continue;
    is_written = request.every && ++samples % *request.every == 0;
    if (is_written) replay.write(out);
  }
  if (lines.is_torn())
    warnings << fmt::format("{}:{}: the line is incomplete, and is left out\n", request.path, number);
  if (replay.left_out() > 0)
    warnings << fmt::format("{}: {} samples were left out when it was recorded\n", request.path,
                            replay.left_out());
  if (out && !replay.report()) return Error{request.path + ": there is no sample in it"};
  if (!is_written) replay.write(out);
  out.flush();
  if (!out) return Error{"cannot write to standard output"};
  return Done{};
}

}  // namespace keplerd
