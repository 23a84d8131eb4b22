// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/negotiation.h"

#include <gtest/gtest.h>

namespace keplerd::exporter::http {
namespace {

TEST(Format, IsTextUnlessOpenMetricsIsNamed) {
  for (const char* accept :
       {"", "*/*", "text/plain", "text/html, application/json;q=0.9", "application/*", "nonsense", ",,;;q",
        "application/openmetrics-text;q=0", "application/openmetrics-text;version=2.0.0",
        "text/plain;version=0.0.4, application/openmetrics-text;q=0.5"}) {
    EXPECT_EQ(choose_format(accept), Format::kText) << accept;
  }
}

TEST(Format, IsOpenMetricsWhereItIsWantedAsMuchAsText) {
  for (const char* accept :
       {"application/openmetrics-text", "application/openmetrics-text; version=1.0.0; charset=utf-8",
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
        "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/"
        "plain;version=1.0.0;q=0.3,*/*;q=0.2",
        "text/plain;q=0.3, Application/OpenMetrics-Text ; Q=0.3",
        "text/plain;q=0, application/openmetrics-text;q=0.001"}) {
    EXPECT_EQ(choose_format(accept), Format::kOpenMetrics) << accept;
  }
}

TEST(Format, TheMostExactRangeCounts) {
  EXPECT_EQ(choose_format("*/*;q=1, text/plain;q=0.1, application/openmetrics-text;q=0.5"),
            Format::kOpenMetrics);
  EXPECT_EQ(choose_format("text/*;q=0.9, text/plain;version=0.0.4;q=0.2, application/openmetrics-text;q=0.5"),
            Format::kOpenMetrics);
  EXPECT_EQ(choose_format("text/plain;version=1.0.0;q=1, application/openmetrics-text;q=0.5"),
            Format::kOpenMetrics);
}

TEST(Format, CommasInQuotesPartNothing) {
  EXPECT_EQ(choose_format("text/plain;x=\",application/openmetrics-text,\\\",\""), Format::kText);
  EXPECT_EQ(choose_format("text/x;y=\"a;q=0\",application/openmetrics-text"), Format::kOpenMetrics);
  EXPECT_EQ(choose_format("\"\\"), Format::kText);
}

TEST(Format, AWeightThatIsNoneIsAsIfItWereNotThere) {
  EXPECT_EQ(choose_format("text/plain;q=0.9,application/openmetrics-text;q=2"), Format::kOpenMetrics);
  EXPECT_EQ(choose_format("text/plain;q=0.9,application/openmetrics-text;q=1.001"), Format::kOpenMetrics);
  EXPECT_EQ(choose_format("text/plain;q=0.9,application/openmetrics-text;q=0.1234"), Format::kOpenMetrics);
  EXPECT_EQ(choose_format("text/plain;q=0.9,application/openmetrics-text;q=0.89"), Format::kText);
}

TEST(Gzip, IsAcceptedWhereItsWeightIsNotZero) {
  for (const char* accept :
       {"gzip", "deflate, gzip;q=0.5", "*", "x-gzip", "GZIP;q=0.001", "*;q=0, gzip", "br , gzip "}) {
    EXPECT_TRUE(accepts_gzip(accept)) << accept;
  }
  for (const char* accept : {"", "identity", "gzip;q=0", "gzip;q=0.000", "*;q=0", "*, gzip;q=0", "gzipped"}) {
    EXPECT_FALSE(accepts_gzip(accept)) << accept;
  }
}

}  // namespace
}  // namespace keplerd::exporter::http
