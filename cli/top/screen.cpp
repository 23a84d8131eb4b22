// SPDX-License-Identifier: Apache-2.0
#include "cli/top/screen.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "cli/output/human.h"
#include "cli/screens.h"
#include "cli/top/columns.h"

namespace keplerd::cli::top {
namespace {

// The areas of the screen besides the list or the details.
struct Layout {
  bool warning = false;  // a problem of the source, in full
  int graph = 0;         // lines
  bool accounts = false;
  bool platform = false;
  bool plug = false;
  bool tabs = true;
  bool footer = true;
};

Layout layout_of(const State& state) {
  const int height = state.size.height;
  Layout layout;
  layout.warning = height >= 16 && !state.status.is_null() && source_warning(state.status).has_value();
  layout.graph = height >= 40 ? 6 : height >= 20 ? 3 : height >= 9 ? 1 : 0;
  const bool has_accounts = !sees_everything(state.status) || !was_never_measured(state.status);
  layout.accounts = height >= 20 && has_accounts;
  layout.platform = height >= 24 && !platform_line(state.status).empty();
  layout.plug = height >= 9 && state.plug && !state.status.is_null();
  layout.tabs = height >= 5;
  layout.footer = height >= 4;
  return layout;
}

int lines_around(const Layout& layout) {
  return 1 + layout.warning + layout.graph + layout.accounts + layout.platform + layout.plug + layout.tabs +
         layout.footer;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Painter {
 public:
  explicit Painter(const State& state) : state_(state), layout_(layout_of(state)) {}

  std::vector<Line> screen() {
    host();
    // A row's own power replaces the host's.
    if (state_.pane == Pane::kDetails) {
      const auto found = state_.histories.find(string_field(state_.details, "id").value_or(""));
      graph_lines(found == state_.histories.end() ? History() : found->second);
      details();
    } else {
      graph_lines(state_.host);
      if (state_.pane == Pane::kHelp) help();
      if (state_.pane == Pane::kList) list();
    }
    footer();
    for (Line& line : lines_) line = clip(std::move(line), width(), state_.unicode);
    if (lines_.size() > static_cast<std::size_t>(state_.size.height)) {
      lines_.resize(static_cast<std::size_t>(state_.size.height));
    }
    return std::move(lines_);
  }

 private:
  int width() const { return state_.size.width; }

  std::string fitted(std::string_view text, Keep keep = Keep::kStart) const {
    return fit(text, width(), keep, state_.unicode);
  }

  void add(std::string_view text, Style style = Style::kPlain) { lines_.push_back({{fitted(text), style}}); }

  void host() {
    if (state_.status.is_null()) return add("Waiting for keplerd");
    if (!state_.outage.empty()) {
      const std::string since = date_text(state_.status, "realtimeUsec");
      lines_.push_back({{"NO ANSWER", Style::kBad},
                        {fitted(" from keplerd, trying again. Values of " + since), Style::kBold}});
      return accounts();
    }
    const std::string text = host_line(state_.status);
    const auto warning = source_warning(state_.status);
    if (!warning) {
      add(text, Style::kBold);
    } else {
      // "LABEL: explanation. Host ...": the explanation only if it has a line of its own.
      const auto colon = warning->find(':');
      lines_.push_back({{warning->substr(0, colon), Style::kWarning}, {fitted(" " + text), Style::kBold}});
      if (layout_.warning) add(warning->substr(colon + 2), Style::kWarning);
    }
    accounts();
  }

  void accounts() {
    const bool all = sees_everything(state_.status);
    if (layout_.accounts) add(all ? accounts_line(state_.status) : std::string(kPublicView), Style::kDim);
    if (layout_.platform) add(platform_line(state_.status), Style::kDim);
    if (layout_.plug) add(plug_line(), state_.wall ? Style::kDim : Style::kWarning);
  }

  // What the rows draw at the plug, or why that is not known.
  std::string plug_line() const {
    if (!state_.wall) return state_.no_wall;
    const client::Kind kind = client::find_kind(tabs()[state_.tab].kind)->kind;
    if (kind == client::Kind::kZones)
      return state_.wall->text(state_.wall->host_sums(field(state_.status, "host")), "active");
    return state_.wall->text(state_.wall->sums(state_.rows, kind), "shown");
  }

  void graph_lines(const History& history) {
    if (layout_.graph == 0) return;
    constexpr int kLabel = 10;
    const int room = width() >= 2 * kLabel ? width() - kLabel : width();
    const std::int64_t most = history.most(static_cast<std::size_t>(room));
    const auto lines = graph(history, {room, layout_.graph}, most, state_.unicode);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Line line;
      if (room < width()) line.push_back({graph_label(most, i, lines.size()), Style::kDim});
      line.push_back({lines[i], Style::kGraph});
      lines_.push_back(std::move(line));
    }
  }

  // The maximum of the scale on the first line, 0 on the last.
  static std::string graph_label(std::int64_t most, std::size_t line, std::size_t lines) {
    if (line == 0) return fmt::format("{:>8}  ", most > 0 ? format_power({most}) : "-");
    return fmt::format("{:>8}  ", line + 1 == lines ? "0 W" : "");
  }

  // All tabs; on a narrow screen the selected one, with its position.
  Line tab_names() const {
    constexpr int kRoomBehind = 16;
    Line line;
    int length = 0;
    for (std::size_t i = 0; i < tabs().size(); ++i) {
      const bool chosen = i == state_.tab;
      const std::string kind(tabs()[i].kind);
      line.push_back({chosen ? "[" + kind + "]" : " " + kind + " ", chosen ? Style::kBold : Style::kPlain});
      length += static_cast<int>(line.back().text.size());
    }
    if (length + kRoomBehind <= width()) return line;
    return {line[state_.tab], {fmt::format(" {}/{}", state_.tab + 1, tabs().size())}};
  }

  void tabs_line() {
    if (!layout_.tabs) return;
    Line line = tab_names();
    std::string text = fmt::format("  by {}{}", state_.sort, state_.reverse ? ", reversed" : "");
    if (!state_.filter.empty()) text += fmt::format("  /{}", printable(state_.filter));
    text += state_.rows.size() == state_.total ? fmt::format("  {}", state_.total)
                                               : fmt::format("  {} of {}", state_.rows.size(), state_.total);
    if (state_.hidden > 0) text += fmt::format(" +{} hidden", state_.hidden);
    line.push_back({fitted(text), Style::kDim});
    lines_.push_back(std::move(line));
  }

  void list() {
    tabs_line();
    add(head_text(state_), Style::kBold);
    const auto room = static_cast<std::size_t>(std::max(list_room(state_), 0));
    if (state_.rows.empty()) {
      const client::KindInfo& kind = *client::find_kind(tabs()[state_.tab].kind);
      add(!state_.loaded           ? "Waiting for keplerd"
          : !state_.filter.empty() ? "Nothing matches the filter"
          : kind.guests            ? fmt::format("No {} are running", kind.words)
                                   : "None");
    }
    for (std::size_t i = state_.first; i < std::min(state_.rows.size(), state_.first + room); ++i) {
      const bool has_ended = string_field(state_.rows[i], "state") == "terminated";
      const Style style = i == state_.selected ? Style::kSelected : has_ended ? Style::kDim : Style::kPlain;
      lines_.push_back({{row_text(state_, state_.rows[i]), style}});
    }
  }

  void details() {
    const std::string name = name_text(state_.details, "name");
    std::string title = name_text(state_.details, "id");
    if (title.find(name) == std::string::npos) title = name + "  " + title;
    const std::string gone = state_.details_gone ? " (no longer kept)" : "";
    const int room = width() - static_cast<int>(gone.size());
    lines_.push_back({{fit(title, room, Keep::kEnd, state_.unicode), Style::kBold}, {gone, Style::kWarning}});
    const auto lines = details_lines(state_);
    const auto room_below = static_cast<std::size_t>(std::max(details_room(state_), 0));
    for (std::size_t i = state_.details_first; i < std::min(lines.size(), state_.details_first + room_below);
         ++i) {
      add(lines[i]);
    }
  }

  void help() {
    for (const std::string_view line :
         {"Keys", "  Tab, Left, Right, 1-6   another tab",
          "  p e c n                 sort by power, energy, CPU, name",
          "  r                       reverse the order", "  a                       show or hide ended rows",
          "  s                       show or hide slices and inner cgroups",
          "  /                       filter by a part of the name, unit, pod or an id",
          "  Esc                     clear the filter; back", "  Up, Down, j, k, PgUp, PgDn, Home, End",
          "                          move", "  Enter                   details of the selected row",
          "  * NAME                  device model only: guest CPU time not included",
          "  h ?                     this help", "  q                       quit"}) {
      add(line, line == "Keys" ? Style::kBold : Style::kPlain);
    }
  }

  // At the bottom, whatever is above.
  void footer() {
    if (!layout_.footer) return;
    lines_.resize(static_cast<std::size_t>(state_.size.height) - 1);
    if (!state_.outage.empty()) return add(printable(state_.outage) + " (q quits)", Style::kBad);
    if (state_.typing) {
      // Shows the end of the typed text.
      return add(fitted("/" + printable(state_.filter) + "_", Keep::kEnd));
    }
    if (state_.pane == Pane::kDetails) return add("Esc back  Up/Down scroll  h help  q quit", Style::kDim);
    if (state_.pane == Pane::kHelp) return add("Esc back  q quit", Style::kDim);
    add("q quit  h help  Tab kind  p/e/c/n sort  r reverse  / filter  Enter details", Style::kDim);
  }

  const State& state_;
  const Layout layout_;
  std::vector<Line> lines_;
};

}  // namespace

int list_room(const State& state) {
  constexpr int kHead = 1;
  return state.size.height - lines_around(layout_of(state)) - kHead;
}

int details_room(const State& state) {
  constexpr int kTitle = 1;
  Layout layout = layout_of(state);
  layout.tabs = false;
  return state.size.height - lines_around(layout) - kTitle;
}

std::vector<std::string> details_lines(const State& state) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(row_screen(state.details, {}))) {
    for (std::string& piece : wrap(line, state.size.width, state.unicode)) out.push_back(std::move(piece));
  }
  return out;
}

std::vector<Line> draw(const State& state) { return Painter(state).screen(); }

}  // namespace keplerd::cli::top
