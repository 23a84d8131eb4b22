// SPDX-License-Identifier: Apache-2.0
#include "exporter/metrics/exposition.h"

#include <gtest/gtest.h>

namespace keplerd::exporter {
namespace {

constexpr Family kJoules = {"x_joules", MetricType::kCounter, "joules", "Energy"};

std::string value_of(std::int64_t millionths) {
  Exposition out(Format::kText);
  out.begin({"x", MetricType::kGauge, "", "h"});
  out.add("", millionths);
  const std::string text = out.finish();
  return text.substr(text.rfind(' ') + 1);
}

TEST(Exposition, TextNamesSamplesAndOpenMetricsFamilies) {
  for (const auto& [format, expected] :
       {std::pair(Format::kText,
                  "# HELP x_joules_total Energy\n# TYPE x_joules_total counter\n"
                  "x_joules_total{a=\"b\"} 1.5\n# HELP y_info I\n# TYPE y_info gauge\ny_info 1\n"),
        std::pair(Format::kOpenMetrics,
                  "# HELP x_joules Energy\n# TYPE x_joules counter\n# UNIT x_joules joules\n"
                  "x_joules_total{a=\"b\"} 1.5\n# HELP y I\n# TYPE y info\ny_info 1\n# EOF\n")}) {
    Exposition out(format);
    out.begin(kJoules);
    out.add("a=\"b\"", 1'500'000);
    out.begin({"y", MetricType::kInfo, "", "I"});
    out.add_count("", 1);
    EXPECT_EQ(out.finish(), expected);
  }
}

TEST(Exposition, AFamilyWithoutSamplesDoesNotAppear) {
  Exposition out(Format::kText);
  out.begin(kJoules);
  EXPECT_EQ(out.finish(), "");
}

TEST(Exposition, NumbersAreExact) {
  EXPECT_EQ(value_of(0), "0\n");
  EXPECT_EQ(value_of(1), "0.000001\n");
  EXPECT_EQ(value_of(20), "0.00002\n");
  EXPECT_EQ(value_of(1'000'000), "1\n");
  EXPECT_EQ(value_of(10'000'000), "10\n");
  EXPECT_EQ(value_of(-1'500'000), "-1.5\n");
  EXPECT_EQ(value_of(INT64_MAX), "9223372036854.775807\n");
  EXPECT_EQ(value_of(INT64_MIN), "-9223372036854.775808\n");
}

TEST(Labels, EscapeWhatTheFormatNeedsEscaped) {
  EXPECT_EQ(label_text({{"a", "q\"b\\n\nx"}, {"b", ""}}), R"(a="q\"b\\n\nx",b="")");
  EXPECT_EQ(label_text({{"a", "machine-qemu\\x2d1"}}), R"(a="machine-qemu\\x2d1")");
  EXPECT_EQ(label_text({}), "");
}

TEST(Labels, ReplaceInvalidText) {
  EXPECT_EQ(label_text({{"a", "\xff\xc3"}}), "a=\"\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(label_text({{"a", std::string_view("x\0\x1b\x7f\r", 5)}}),
            "a=\"x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(label_text({{"a", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x8b"}}),
            "a=\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x8b\"");
  EXPECT_EQ(label_text({{"a", "\xed\xa0\x80"}}), "a=\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"")
      << "a surrogate";
}

TEST(Labels, LongOnesAreCutAndStayDifferent) {
  const std::string longest(kLongestLabel, 'x');
  EXPECT_EQ(label_text({{"a", longest}}), "a=\"" + longest + "\"");
  const std::string one = label_text({{"a", longest + "1"}}), two = label_text({{"a", longest + "2"}});
  EXPECT_NE(one, two);
  EXPECT_EQ(one.size(), kLongestLabel + 4 + 3 + 16);
  EXPECT_TRUE(one.starts_with("a=\"" + longest + "..."));
}

}  // namespace
}  // namespace keplerd::exporter
