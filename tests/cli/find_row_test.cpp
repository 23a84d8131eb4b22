// SPDX-License-Identifier: Apache-2.0
#include "cli/find_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using varlink::Json;

std::vector<std::string> found(std::string_view wanted, bool guess = true) {
  const Json rows = Json::parse(R"([
    {"id": "4dea22b3", "name": "Web01", "kind": "virtual-machine", "state": "running", "pid": 812},
    {"id": "4dea99", "name": "db", "kind": "virtual-machine", "state": "running", "pid": 5},
    {"id": "812.4711", "name": "sshd", "kind": "process", "state": "running", "pid": 812},
    {"id": "9.1", "name": "old", "kind": "process", "state": "terminated", "pid": 9},
    {"id": "9.2", "name": "new", "kind": "process", "state": "running", "pid": 9},
    {"id": "/a.service", "name": "a.service", "kind": "unit", "state": "running"},
    {"id": "/b/a.service", "name": "A.service", "kind": "unit", "state": "running"}])");
  std::vector<std::string> out;
  for (const Json& row : find_rows({rows.begin(), rows.end()}, wanted, guess)) out.push_back(row.at("id"));
  return out;
}

TEST(FindRows, APidIsThatOfAProcess) {
  EXPECT_THAT(found("812"), ElementsAre("812.4711"));
  EXPECT_THAT(found("5"), IsEmpty());  // a machine's; and no id starts so
}

TEST(FindRows, OfSeveralTheOnlyRunningOneIsMeant) { EXPECT_THAT(found("9"), ElementsAre("9.2")); }

TEST(FindRows, CaseOfNamesIsIgnored) {
  EXPECT_THAT(found("WEB01"), ElementsAre("4dea22b3"));
  EXPECT_THAT(found("a.SERVICE"), ElementsAre("/a.service", "/b/a.service"));
}

TEST(FindRows, TheStartOfAnIdIsEnoughIfItIsUnique) {
  EXPECT_THAT(found("4dea2"), ElementsAre("4dea22b3"));
  EXPECT_THAT(found("4dea"), ElementsAre("4dea22b3", "4dea99"));
  EXPECT_THAT(found("dea2"), IsEmpty());
  EXPECT_THAT(found(""), IsEmpty());
}

TEST(FindRows, WithoutGuessingOnlyAPidIsAccepted) {
  EXPECT_THAT(found("812", false), ElementsAre("812.4711"));
  EXPECT_THAT(found("WEB01", false), IsEmpty());
  EXPECT_THAT(found("4dea2", false), IsEmpty());
}

}  // namespace
}  // namespace keplerd::cli
