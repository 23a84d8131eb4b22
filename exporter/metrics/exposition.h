// SPDX-License-Identifier: Apache-2.0
// Formats metrics as text: Prometheus' text format 0.0.4, and OpenMetrics 1.0.0. Pure.
//
// Every number here is an integer number of millionths, and is printed exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace keplerd::exporter {

enum class Format { kText, kOpenMetrics };

enum class MetricType { kCounter, kGauge, kInfo };

// A family of metrics. `name` excludes "_total" or "_info", which follow from the type. A unit is the end of
// the name.
struct Family {
  std::string_view name;
  MetricType type;
  std::string_view unit;  // "joules"; empty: none
  std::string_view help;  // one line
};

// Labels as text: `zone="package",state="running"`. Backslashes, quotes and newlines are escaped; invalid
// UTF-8 and control characters become U+FFFD. A value longer than kLongestLabel is cut, and ends with a hash
// of the whole value.
inline constexpr std::size_t kLongestLabel = 1024;
std::string label_text(std::initializer_list<std::pair<std::string_view, std::string_view>> labels);

class Exposition {
 public:
  // `expected_size`: of the text, if known: it then need not be copied as it grows.
  explicit Exposition(Format format, std::size_t expected_size = 0) : format_(format) {
    text_.reserve(expected_size);
  }

  // Starts a family for the samples that follow. A family without a sample does not appear.
  void begin(const Family& family);

  // `millionths`: joules from microjoules, watts from microwatts, seconds from microseconds.
  void add(std::string_view labels, std::int64_t millionths) { add(labels, {}, millionths); }
  // With `more` labels after the others.
  void add(std::string_view labels, std::string_view more, std::int64_t millionths);
  void add_count(std::string_view labels, std::int64_t count);

  // The whole text.
  std::string finish();

 private:
  void write_head();
  void write_name_and_labels(std::string_view labels, std::string_view more = {});

  Format format_;
  Family family_{};
  bool has_head_ = false;
  std::string text_;
};

}  // namespace keplerd::exporter
