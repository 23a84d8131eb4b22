// SPDX-License-Identifier: Apache-2.0
#include "exporter/metrics/exposition.h"

#include <algorithm>
#include <array>
#include <charconv>

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

bool is_plain(char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; }

void append_value(std::string& out, std::string_view value) {
  while (!value.empty()) {
    const auto plain = static_cast<std::size_t>(std::ranges::find_if_not(value, is_plain) - value.begin());
    out += value.substr(0, plain);
    value.remove_prefix(plain);
    if (value.empty()) return;
    std::size_t length = 1;
    if (const char c = value[0]; c == '\n') {
      out += "\\n";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      const std::size_t found = character_length(value);
      length = std::max<std::size_t>(found, 1);
      out += found == 0 ? kReplacement : value.substr(0, length);
    }
    value.remove_prefix(length);
  }
}

void append_number(std::string& out, std::uint64_t number, std::size_t digits = 1) {
  std::array<char, 20> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  const auto size = static_cast<std::size_t>(end - text.data());
  if (size < digits) out.append(digits - size, '0');
  out.append(text.data(), size);
}

// "12.345678", without trailing zeros.
void append_decimal(std::string& out, std::int64_t millionths) {
  constexpr std::uint64_t kMillion = 1'000'000;
  constexpr std::size_t kDigits = 6;
  const bool negative = millionths < 0;
  const std::uint64_t amount =
      negative ? ~static_cast<std::uint64_t>(millionths) + 1 : static_cast<std::uint64_t>(millionths);
  if (negative) out += '-';
  append_number(out, amount / kMillion);
  if (amount % kMillion == 0) return;
  out += '.';
  append_number(out, amount % kMillion, kDigits);
  out.erase(out.find_last_not_of('0') + 1);
}

}  // namespace

std::string label_text(std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
  constexpr std::size_t kPunctuation = 4;
  std::string out;
  std::size_t size = 0;
  for (const auto& [name, value] : labels) size += name.size() + value.size() + kPunctuation;
  out.reserve(size);
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

void Exposition::write_name_and_labels(std::string_view labels, std::string_view more) {
  if (!has_head_) write_head();
  text_ += family_.name;
  text_ += suffix(family_.type);
  if (!labels.empty() || !more.empty()) {
    text_ += '{';
    text_ += labels;
    if (!labels.empty() && !more.empty()) text_ += ',';
    text_ += more;
    text_ += '}';
  }
  text_ += ' ';
}

void Exposition::add(std::string_view labels, std::string_view more, std::int64_t millionths) {
  write_name_and_labels(labels, more);
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
