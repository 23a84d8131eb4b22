// SPDX-License-Identifier: Apache-2.0
#include "exporter/metrics/exposition.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace keplerd::exporter {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::string_view type_name(MetricType type, Format format) {
  constexpr std::array<std::string_view, 3> kNames = {"counter", "gauge", "info"};
  // The older format has no info metrics.
  if (type == MetricType::kInfo && format == Format::kText) return "gauge";
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view suffix(MetricType type) {
  constexpr std::array<std::string_view, 3> kSuffixes = {"_total", "", "_info"};
  return kSuffixes[static_cast<std::size_t>(type)];
}

// Length of the character at the front of `text`, 0 if it is not UTF-8 or not printable.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return is_plain_name(text.substr(0, length)) ? length : 0;
}

// FNV-1a: the same in every run, so that a series keeps its identity.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

void append_value(std::string& out, std::string_view value) {
  while (!value.empty()) {
    const char c = value[0];
    if (c == '\n') {
      out += "\\n";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c >= ' ' && c < 0x7f) {
      out += c;
    } else {
      const std::size_t length = character_length(value);
      out += length == 0 ? kReplacement : value.substr(0, length);
      value.remove_prefix(length == 0 ? 1 : length);
      continue;
    }
    value.remove_prefix(1);
  }
}

// "12.345678", without trailing zeros.
void append_decimal(std::string& out, std::int64_t millionths) {
  constexpr std::uint64_t kMillion = 1'000'000;
  const bool negative = millionths < 0;
  const std::uint64_t amount =
      negative ? ~static_cast<std::uint64_t>(millionths) + 1 : static_cast<std::uint64_t>(millionths);
  if (negative) out += '-';
  fmt::format_to(std::back_inserter(out), "{}", amount / kMillion);
  if (amount % kMillion == 0) return;
  fmt::format_to(std::back_inserter(out), ".{:06}", amount % kMillion);
  out.erase(out.find_last_not_of('0') + 1);
}

}  // namespace

std::string label_text(std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ',';
    out += name;
    out += "=\"";
    append_value(out, value.substr(0, kLongestLabel));
    // Values with the same start stay distinct: a duplicate series would invalidate the whole scrape.
    if (value.size() > kLongestLabel) fmt::format_to(std::back_inserter(out), "...{:016x}", hash_of(value));
    out += '"';
  }
  return out;
}

void Exposition::begin(const Family& family) {
  family_ = family;
  has_head_ = false;
}

void Exposition::write_head() {
  has_head_ = true;
  // OpenMetrics describes families, the older format their samples.
  std::string name(family_.name);
  if (format_ == Format::kText) name += suffix(family_.type);
  fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, family_.help, name,
                 type_name(family_.type, format_));
  if (format_ == Format::kOpenMetrics && !family_.unit.empty()) {
    fmt::format_to(std::back_inserter(text_), "# UNIT {} {}\n", name, family_.unit);
  }
}

void Exposition::write_name_and_labels(std::string_view labels) {
  if (!has_head_) write_head();
  text_ += family_.name;
  text_ += suffix(family_.type);
  if (!labels.empty()) {
    text_ += '{';
    text_ += labels;
    text_ += '}';
  }
  text_ += ' ';
}

void Exposition::add(std::string_view labels, std::int64_t millionths) {
  write_name_and_labels(labels);
  append_decimal(text_, millionths);
  text_ += '\n';
}

void Exposition::add_count(std::string_view labels, std::int64_t count) {
  write_name_and_labels(labels);
  fmt::format_to(std::back_inserter(text_), "{}\n", count);
}

std::string Exposition::finish() {
  if (format_ == Format::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace keplerd::exporter
