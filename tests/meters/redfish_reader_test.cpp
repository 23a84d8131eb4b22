// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meters/redfish/reader.h"
#include "meters/redfish_service.h"

namespace keplerd::redfish {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RedfishReader : public testing::Test {
 protected:
  // "NAME COVERS WATTS at SECONDS", or the problem.
  std::vector<std::string> poll() {
    last = reader.poll();
    if (!last.problem.empty()) return {last.problem};
    std::vector<std::string> texts;
    for (const meters::Meter& meter : last.meters) {
      EXPECT_FALSE(meter.counts_energy);
      texts.push_back(meter.name + " " + meter.covers + " " + std::to_string(meter.value / 1'000'000) +
                      " at " + std::to_string(meter.boottime / 1'000'000));
    }
    now += 10'000'000;
    return texts;
  }

  Service service;
  std::int64_t now = 100'000'000;
  std::int64_t lag = 0;  // of each reply
  Reader reader{{.host = "bmc", .user = "u", .password = "p"},
                [this, fetch = service.fetch()](const std::string& path) {
                  now += lag;
                  return fetch(path);
                },
                [this] { return now; }};
  meters::Poll last;
};

TEST_F(RedfishReader, TheSumOfAllChassisIsThePlatform) {
  service.add_power("node", "300");
  EXPECT_THAT(poll(), ElementsAre("platform platform 300 at 100"));
  EXPECT_EQ(last.pause, 10s);
  service.set_power("node", "310");
  EXPECT_THAT(poll(), ElementsAre("platform platform 310 at 110"));
}

TEST_F(RedfishReader, SeveralChassisAreShownApartToo) {
  service.add_power("node", "300");
  service.add_power("drives", "90");
  EXPECT_THAT(poll(), ElementsAre("chassis0 other 300 at 100", "chassis1 other 90 at 100",
                                  "platform platform 390 at 100"));
  service.set_power("drives", "null");
  EXPECT_THAT(poll(), ElementsAre("chassis 'drives': the service has no value at present"))
      << "half of it is not it";
  EXPECT_THAT(last.meters, IsEmpty());
}

TEST_F(RedfishReader, OnceFoundOnlyWhatIsNeededIsRead) {
  service.add_power("node", "300");
  poll();
  service.requests.clear();
  poll();
  EXPECT_THAT(service.requests, ElementsAre("/redfish/v1/Chassis/node/Power"));
  service.add_power("drives", "90");
  now += 3'600'000'000;
  EXPECT_EQ(poll().size(), 3u) << "an hour later";
}

TEST_F(RedfishReader, AReadingIsOfTheMiddleOfASlowReply) {
  service.add_power("node", "300");
  poll();
  lag = 30'000'000;
  const auto begin = now / 1'000'000;
  EXPECT_THAT(poll(), ElementsAre("platform platform 300 at " + std::to_string(begin + 15)));
}

TEST_F(RedfishReader, MilliwattsAreRefusedAndDoNotChangeThePause) {
  service.add_power("node", "350000");
  EXPECT_THAT(
      poll(),
      ElementsAre("chassis 'node': its power of 350000 W is implausible: possibly it is in milliwatts"));
  EXPECT_EQ(last.pause, 10s);
  service.set_power("node", "35");
  EXPECT_THAT(poll(), ElementsAre("platform platform 35 at 100"));
  service.set_power("node", "35000");
  EXPECT_THAT(poll(), ElementsAre(HasSubstr("its power of 35000 W is implausible after 35 W")));
  service.set_power("node", "0.035");
  EXPECT_THAT(poll(), ElementsAre(HasSubstr("less than 1 W")));
  service.set_power("node", "36");
  EXPECT_THAT(poll(), ElementsAre(HasSubstr("platform platform 36")));
}

TEST_F(RedfishReader, AUserThatIsRefusedIsNotTriedAgainForAnHour) {
  service.add_power("node", "300");
  poll();
  service.failure = Error{.message = "HTTP status 401", .code = EACCES};
  service.requests.clear();
  EXPECT_THAT(poll(), ElementsAre("HTTP status 401"));
  EXPECT_EQ(last.pause, 1h);
  EXPECT_EQ(service.requests.size(), 1u);
}

TEST_F(RedfishReader, PausesGrowWithFailuresUpToFiveMinutes) {
  service.add_power("node", "300");
  service.failure = Error{.message = "HTTP status 500", .code = EIO};
  std::vector<Nanoseconds> pauses;
  for (int i = 0; i < 6; ++i) {
    poll();
    pauses.push_back(last.pause);
  }
  EXPECT_THAT(pauses, ElementsAre(20s, 40s, 80s, 160s, 5min, 5min));
  service.failure.reset();
  poll();
  EXPECT_EQ(last.pause, 10s);
}

TEST_F(RedfishReader, WhatHasMovedIsFoundAgain) {
  service.add_power("node", "300");
  poll();
  service.documents.erase("/redfish/v1/Chassis/node");
  service.documents.erase("/redfish/v1/Chassis/node/Power");
  service.chassis.clear();
  service.add_power("renamed", "301");
  EXPECT_THAT(poll(), ElementsAre("/redfish/v1/Chassis/node/Power: HTTP status 404"));
  EXPECT_THAT(poll(), ElementsAre(HasSubstr("platform platform 301")));
}

}  // namespace
}  // namespace keplerd::redfish
