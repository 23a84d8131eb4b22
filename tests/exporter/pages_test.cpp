// SPDX-License-Identifier: Apache-2.0
#include "exporter/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::exporter {
namespace {

using http::Credentials;
using http::Passwords;
using http::Request;
using http::Response;
using testing::Contains;
using testing::Pair;

class CannedContents : public Contents {
 public:
  std::string metrics(Format format) override {
    ++made;
    return format == Format::kOpenMetrics ? "# EOF\n" : std::string(10'000, 'x');
  }
  bool prepare() override {
    ++requests;
    return current;
  }
  std::uint64_t revision() const override { return number; }
  bool is_ready() const override { return ready; }

  int made = 0, requests = 0;
  bool current = true;
  std::uint64_t number = 1;
  bool ready = true;
};

class PagesTest : public testing::Test {
 protected:
  Response get(Request request) { return *pages.answer(request); }

  CannedContents contents;
  Pages pages{contents, Passwords({}), Pages::Rules{}};
};

TEST_F(PagesTest, MetricsAreOfTheFormatThatIsWanted) {
  Response text = get({"GET", "/metrics"});
  EXPECT_EQ(text.status, 200u);
  EXPECT_EQ(text.type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(text.body->size(), 10'000u);
  EXPECT_THAT(text.headers, Contains(Pair("Vary", "Accept, Accept-Encoding")));
  Response open = get({"GET", "/metrics", "application/openmetrics-text"});
  EXPECT_EQ(open.type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_EQ(*open.body, "# EOF\n");
}

TEST_F(PagesTest, MetricsAreCompressedForClientsThatAcceptIt) {
  Response response = get({"GET", "/metrics", "", "gzip"});
  EXPECT_THAT(response.headers, Contains(Pair("Content-Encoding", "gzip")));
  EXPECT_TRUE(response.body->starts_with("\x1f\x8b"));
  EXPECT_LT(response.body->size(), 200u);
}

TEST_F(PagesTest, AllRequestsBetweenTwoTicksGetTheSameBytes) {
  const auto first = get({"GET", "/metrics"}).body;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(get({"GET", "/metrics"}).body, first);
  EXPECT_EQ(contents.made, 1);
  contents.number = 2;
  EXPECT_NE(get({"GET", "/metrics"}).body, first);
  EXPECT_EQ(contents.made, 2);
}

TEST_F(PagesTest, WhatIsRenderedIsCompressedWithoutRenderingItAgain) {
  EXPECT_EQ(get({"GET", "/metrics"}).body->size(), 10'000u);
  EXPECT_TRUE(get({"GET", "/metrics", "", "gzip"}).body->starts_with("\x1f\x8b"));
  EXPECT_EQ(contents.made, 1);
  contents.number = 2;
  get({"GET", "/metrics", "", "gzip"});
  EXPECT_EQ(contents.made, 2);
}

TEST_F(PagesTest, ReadyIsWhereKeplerdAnswersAndHealthyAlways) {
  EXPECT_EQ(get({"GET", "/-/ready"}).status, 200u);
  contents.ready = false;
  EXPECT_EQ(get({"GET", "/-/ready"}).status, 503u);
  EXPECT_EQ(get({"GET", "/-/healthy"}).status, 200u);
}

TEST_F(PagesTest, APageForPeopleLinksTheOthers) {
  const Response page = get({"GET", "/"});
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_NE(page.body->find("href=\"/metrics\""), std::string::npos);
}

TEST_F(PagesTest, AMissingPageIs404AndAnotherMethodIs405) {
  for (const char* path : {"/metrics/", "/Metrics", "/../etc/passwd", "", "/-/"}) {
    EXPECT_EQ(get({"GET", path}).status, 404u) << path;
  }
  for (const char* method : {"POST", "PUT", "DELETE", "get", "CONNECT"}) {
    const Response response = get({method, "/metrics"});
    EXPECT_EQ(response.status, 405u) << method;
    EXPECT_THAT(response.headers, Contains(Pair("Allow", "GET, HEAD")));
  }
  EXPECT_EQ(get({"HEAD", "/metrics"}).status, 200u);
}

TEST_F(PagesTest, WithUsersEveryPageWantsAPassword) {
  Passwords passwords({{"ann", "one"}}, {[] { return Nanoseconds{0}; },
                                         [](auto password, auto hash) { return password == hash; }});
  Pages closed(contents, std::move(passwords),
               Pages::Rules{.headers = {{"X-Frame-Options", "deny"}, {"Content-Security-Policy", "x"}}});
  for (const char* path : {"/", "/metrics", "/-/ready", "/-/healthy", "/nowhere"}) {
    const Response refused = *closed.answer({"GET", path});
    EXPECT_EQ(refused.status, 401u) << path;
    EXPECT_THAT(refused.headers, Contains(Pair("WWW-Authenticate", "Basic")));
    EXPECT_THAT(refused.headers, Contains(Pair("X-Frame-Options", "deny")));
    EXPECT_EQ(closed.answer({"GET", path, "", "", Credentials{"ann", "two"}})->status, 401u);
    EXPECT_NE(closed.answer({"GET", path, "", "", Credentials{"ann", "one"}})->status, 401u);
  }
  EXPECT_EQ(contents.made, 1);
  const auto headers = closed.answer({"GET", "/", "", "", Credentials{"ann", "one"}})->headers;
  EXPECT_EQ(
      std::ranges::count(headers, "Content-Security-Policy", &std::pair<std::string, std::string>::first), 1);
}

// Only a scrape of an authenticated client makes keplerd's numbers wanted.
TEST_F(PagesTest, MetricsWaitUntilTheyHaveArrivedAndOtherPagesDoNot) {
  contents.current = false;
  for (const char* path : {"/", "/-/ready", "/-/healthy", "/nowhere"})
    EXPECT_TRUE(pages.answer({"GET", path}));
  EXPECT_TRUE(pages.answer({"POST", "/metrics"}));
  Pages closed(contents,
               Passwords({{"ann", "one"}}, {[] { return Nanoseconds{0}; }, [](auto, auto) { return false; }}),
               Pages::Rules{});
  EXPECT_EQ(closed.answer({"GET", "/metrics", "", "", Credentials{"ann", "two"}})->status, 401u);
  EXPECT_EQ(contents.requests, 0);
  EXPECT_FALSE(pages.answer({"GET", "/metrics"}));
  EXPECT_EQ(contents.requests, 1);
  contents.current = true;
  EXPECT_EQ(pages.answer({"GET", "/metrics"})->status, 200u);
}

// Of passwords too: those are what costs.
TEST_F(PagesTest, ARateLimitIsOfAllPagesAndClients) {
  Nanoseconds now = std::chrono::hours(1);
  int checked = 0;
  Pages limited(contents,
                Passwords({{"ann", "one"}}, {[] { return Nanoseconds{0}; },
                                             [&checked](auto, auto) {
                                               ++checked;
                                               return true;
                                             }}),
                Pages::Rules{.headers = {{"X-Frame-Options", "deny"}},
                             .rate_limit = http::RateLimitConfig{std::chrono::milliseconds(1500), 2},
                             .now = [&now] { return now; }});
  const auto ask = [&](const char* path, bool again = false) {
    return limited.answer({"GET", path, "", "", Credentials{"ann", "one"}, "", again});
  };
  EXPECT_EQ(ask("/")->status, 200u);
  EXPECT_EQ(limited.answer({"GET", "/metrics"})->status, 401u);
  EXPECT_EQ(std::exchange(checked, 0), 1);
  for (const char* path : {"/metrics", "/-/healthy", "/nowhere"}) {
    const Response refused = *ask(path);
    EXPECT_EQ(refused.status, 429u) << path;
    EXPECT_THAT(refused.headers, Contains(Pair("Retry-After", "2")));
    EXPECT_THAT(refused.headers, Contains(Pair("X-Frame-Options", "deny")));
  }
  EXPECT_EQ(checked, 0);
  now += std::chrono::milliseconds(1500);
  contents.current = false;
  EXPECT_FALSE(ask("/metrics"));
  contents.current = true;
  EXPECT_EQ(ask("/metrics", true)->status, 200u) << "the same request";
  EXPECT_EQ(ask("/metrics")->status, 429u);
}

}  // namespace
}  // namespace keplerd::exporter
