// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/negotiation.h"

#include <algorithm>
#include <optional>

#include "base/parse.h"

namespace keplerd::exporter::http {
namespace {

// Takes everything before the next `separator` outside quotes.
std::string_view take_element(std::string_view& rest, char separator) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < rest.size(); ++end) {
    const char c = rest[end];
    if (quoted && c == '\\') {
      ++end;  // the escaped character is not a quote
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      break;
    }
  }
  end = std::min(end, rest.size());
  const std::string_view element = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return trim(element);
}

// In thousandths: "0.75" is 750. Nothing if it is not a valid weight.
std::optional<int> parse_weight(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  int weight = text[0] == '1' ? 1000 : 0;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int place = 100;
  for (std::size_t i = 2; i < text.size(); ++i, place /= 10) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    weight += (text[i] - '0') * place;
  }
  return weight <= 1000 ? std::optional(weight) : std::nullopt;
}

// One element of a header's list.
struct Range {
  std::string_view name;     // "text/plain", "gzip"
  std::string_view version;  // empty if unspecified
  int weight = 1000;
};

Range parse_range(std::string_view element) {
  Range range;
  range.name = take_element(element, ';');
  while (!element.empty()) {
    std::string_view value = take_element(element, ';');
    const std::string_view name = trim(take_until(value, '='));
    value = trim(value);
    if (equals_ignoring_case(name, "q")) range.weight = parse_weight(value).value_or(range.weight);
    if (equals_ignoring_case(name, "version")) range.version = value;
  }
  return range;
}

// A weight and how specific it is; the most specific one wins.
struct Wish {
  int exactness = -1;
  int weight = 0;

  void take(int exact, int wanted) {
    if (exact < exactness) return;
    weight = exact == exactness ? std::max(weight, wanted) : wanted;
    exactness = exact;
  }
};

}  // namespace

Format choose_format(std::string_view accept) {
  Wish text, open_metrics;
  while (!accept.empty()) {
    const Range range = parse_range(take_element(accept, ','));
    const bool any_version = range.version.empty();
    if (range.name == "*/*") text.take(0, range.weight);
    if (equals_ignoring_case(range.name, "text/*")) text.take(1, range.weight);
    if (equals_ignoring_case(range.name, "text/plain") && (any_version || range.version == "0.0.4")) {
      text.take(any_version ? 2 : 3, range.weight);
    }
    // OpenMetrics 0.0.1 is identical for everything that is exposed here.
    if (equals_ignoring_case(range.name, "application/openmetrics-text") &&
        (any_version || range.version == "1.0.0" || range.version == "0.0.1")) {
      open_metrics.take(0, range.weight);
    }
  }
  const bool wanted = open_metrics.weight > 0 && open_metrics.weight >= text.weight;
  return wanted ? Format::kOpenMetrics : Format::kText;
}

bool accepts_gzip(std::string_view accept_encoding) {
  Wish gzip;
  while (!accept_encoding.empty()) {
    const Range range = parse_range(take_element(accept_encoding, ','));
    if (range.name == "*") gzip.take(0, range.weight);
    if (equals_ignoring_case(range.name, "gzip") || equals_ignoring_case(range.name, "x-gzip")) {
      gzip.take(1, range.weight);
    }
  }
  return gzip.weight > 0;
}

}  // namespace keplerd::exporter::http
