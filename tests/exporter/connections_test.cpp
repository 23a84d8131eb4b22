// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::exporter::http {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Body body_of(std::size_t size) { return std::make_shared<const std::string>(size, 'x'); }

class ConnectionsTest : public testing::Test {
 protected:
  std::vector<int> doomed() { return connections.take_doomed(now); }
  void begin(int id, const Peer& peer) { connections.begin(id, peer, now); }
  void request(int id) { connections.begin_request(id, now); }
  void reply(int id, const Body& body) { connections.begin_reply(id, body, now); }
  void end_reply(int id) { connections.end_reply(id, now); }
  // The descriptor is closed, as the server does it.
  void close_doomed() {
    for (const int id : doomed()) connections.end(id);
  }

  Nanoseconds now{1h};
  Connections connections{{.connections = 6, .connections_of_a_peer = 3, .waiting_bytes = 100}};
};

TEST_F(ConnectionsTest, OfOnePeerTheOldestGivesWayToANewcomer) {
  for (int id = 1; id <= 3; ++id) begin(id, "a");
  EXPECT_THAT(doomed(), IsEmpty());
  begin(4, "a");
  begin(5, "a");
  EXPECT_THAT(doomed(), ElementsAre(1, 2));
  EXPECT_THAT(doomed(), IsEmpty()) << "each once";
  begin(6, "b");
  EXPECT_THAT(doomed(), IsEmpty());
}

TEST_F(ConnectionsTest, OneThatMakesProgressGivesWayAfterThoseThatOnlyWait) {
  for (int id = 1; id <= 3; ++id) begin(id, "a");
  reply(1, body_of(1));
  begin(4, "a");
  EXPECT_THAT(doomed(), ElementsAre(2));
  end_reply(1);
  begin(5, "a");
  EXPECT_THAT(doomed(), ElementsAre(3));
}

TEST_F(ConnectionsTest, InAllThePeerWithTheMostGivesWay) {
  begin(1, "honest");
  for (int id = 2; id <= 4; ++id) begin(id, "a");
  begin(5, "b");
  begin(6, "b");
  EXPECT_THAT(doomed(), IsEmpty());
  begin(7, "c");
  EXPECT_THAT(doomed(), ElementsAre(2));
  for (int id = 8; id < 100; ++id) begin(id, "peer " + std::to_string(id));
  EXPECT_EQ(doomed().size(), 92u);
}

TEST_F(ConnectionsTest, AFloodFromOneAddressLeavesOthersAlone) {
  begin(1, "honest");
  for (int id = 2; id < 10'000; ++id) {
    begin(id, "flood");
    close_doomed();
  }
  EXPECT_EQ(connections.peer_of(1), "honest");
  reply(1, body_of(1));
  EXPECT_THAT(doomed(), IsEmpty());
}

TEST_F(ConnectionsTest, WhatEndedNoLongerCounts) {
  for (int id = 1; id <= 3; ++id) begin(id, "a");
  connections.end(2);
  begin(2, "a");
  EXPECT_THAT(doomed(), IsEmpty());
  begin(4, "a");
  connections.end(1);
  EXPECT_THAT(doomed(), IsEmpty()) << "doomed, and gone by itself";
  connections.end(1);
}

TEST_F(ConnectionsTest, ARequestHasATimeInAllHoweverItDrips) {
  begin(1, "a");
  EXPECT_EQ(connections.next_deadline(), now + 10s);
  for (int i = 0; i < 9; ++i) {
    now += 1s;
    request(1);
    EXPECT_THAT(doomed(), IsEmpty());
  }
  now += 1s;
  EXPECT_THAT(doomed(), ElementsAre(1));
  EXPECT_EQ(connections.next_deadline(), Nanoseconds::max());
}

TEST_F(ConnectionsTest, AReplyThatIsNotReadHasATime) {
  begin(1, "a");
  now += 9s;
  reply(1, body_of(1));
  now += 29s;
  EXPECT_THAT(doomed(), IsEmpty());
  EXPECT_EQ(connections.next_deadline(), now + 1s);
  now += 1s;
  EXPECT_THAT(doomed(), ElementsAre(1));
}

TEST_F(ConnectionsTest, OneThatIsKeptHasATimeAndItsNextRequestToo) {
  begin(1, "a");
  begin(2, "a");
  for (const int id : {1, 2}) {
    reply(id, body_of(1));
    end_reply(id);
  }
  now += 119s;
  EXPECT_THAT(doomed(), IsEmpty());
  request(2);
  now += 1s;
  EXPECT_THAT(doomed(), ElementsAre(1));
  now += 9s;
  EXPECT_THAT(doomed(), ElementsAre(2));
}

TEST_F(ConnectionsTest, BodiesThatAreNotReadAreBoundedAndTheOldestGoFirst) {
  for (int id = 1; id <= 3; ++id) begin(id, "a");
  begin(4, "b");
  begin(5, "b");
  const Body old = body_of(60);
  const Body shared = body_of(40);
  reply(1, old);
  reply(2, shared);
  reply(3, shared);
  EXPECT_THAT(doomed(), IsEmpty()) << "the same body counts once";
  reply(4, body_of(60));
  EXPECT_THAT(doomed(), ElementsAre(1));
  reply(5, body_of(101));
  EXPECT_THAT(doomed(), UnorderedElementsAre(2, 3, 4)) << "the newest is answered, whatever its size";
}

TEST_F(ConnectionsTest, WhatWasReadMakesRoom) {
  begin(1, "a");
  begin(2, "a");
  begin(3, "a");
  reply(1, body_of(60));
  end_reply(1);
  reply(2, body_of(60));
  connections.end(2);
  reply(3, body_of(60));
  EXPECT_THAT(doomed(), IsEmpty());
}

TEST_F(ConnectionsTest, OneThatIsDoomedChangesNothingMore) {
  for (int id = 1; id <= 4; ++id) begin(id, "a");
  request(1);
  reply(1, body_of(1000));
  end_reply(1);
  EXPECT_THAT(doomed(), ElementsAre(1));
  reply(2, body_of(100));
  EXPECT_THAT(doomed(), IsEmpty());
}

TEST(ConnectionLimits, LetPrometheusKeepItsConnectionAndReadForItsTimeout) {
  const ConnectionLimits limits;
  EXPECT_GE(limits.idle, 60s);
  EXPECT_GE(limits.reply, 10s);
  EXPECT_GE(limits.connections, limits.connections_of_a_peer * 32);
}

}  // namespace
}  // namespace keplerd::exporter::http
