// SPDX-License-Identifier: Apache-2.0
#include "exporter/budgets.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include "support/open_server.h"
#include "varlink/json.h"

namespace keplerd::exporter {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using varlink::Json;

const BudgetRow kRow{"2kWh/day vm web", "vm web", {5}, {7'200'000'000'000}};

Json budget_json() {
  return {{"budget", "2kWh/day vm web"},           {"subject", "vm web"}, {"usedMicrojoules", 5},
          {"limitMicrojoules", 7'200'000'000'000}, {"fromUsec", 0},       {"toUsec", 1}};
}

TEST(ParseBudgets, LeavesOutWhatIsNotKnown) {
  Json unknown = budget_json();
  unknown.erase("usedMicrojoules");
  unknown["problem"] = "there is no such user";
  EXPECT_THAT(parse_budgets({{"budgets", {budget_json(), unknown, 7, nullptr, Json::array()}}}),
              ElementsAre(kRow));
  EXPECT_THAT(parse_budgets(Json::object()), IsEmpty());
  EXPECT_THAT(parse_budgets({{"budgets", "none"}}), IsEmpty());
}

class Reader : public testing::Test {
 protected:
  Reader() {
    sd_event_new(&loop);
    serve();
    reader.emplace(socket, BudgetReader::Means{loop, [this] { return now; }});
  }
  ~Reader() override {
    reader.reset();
    server.reset();
    sd_event_unref(loop);
    std::filesystem::remove(socket);
  }

  void serve() {
    server.emplace(loop);
    (*server)->add(
        {.name = "org.keplerd.History",
         .description = "interface org.keplerd.History\n\nmethod ListBudgets() -> (budgets: []object)\n",
         .methods = {{"ListBudgets", [this](const varlink::Call&) -> varlink::Answer {
                        ++asked;
                        if (refuse) return varlink::permission_denied();
                        return varlink::Reply{Json{{"budgets", {budget_json()}}}};
                      }}}});
    EXPECT_TRUE((*server)->listen(*varlink::bind_unix_socket(socket, 0600)).ok());
  }
  void scrape() {
    reader->scrape();
    for (int turn = 0; turn < 20; ++turn) sd_event_run(loop, 1000);
  }

  sd_event* loop = nullptr;
  std::string socket = testing::TempDir() + "budgets-" + std::to_string(::getpid());
  std::optional<OpenServer> server;
  Nanoseconds now{0};
  int asked = 0;
  bool refuse = false;
  std::optional<BudgetReader> reader;
};

TEST_F(Reader, AsksOnceAMinuteWhileItIsScraped) {
  scrape();
  EXPECT_THAT(reader->rows(), ElementsAre(kRow));
  now += 59s;
  scrape();
  EXPECT_EQ(asked, 1);
  now += 1s;
  scrape();
  EXPECT_EQ(asked, 2);
}

TEST_F(Reader, HasNothingIfItIsRefusedOrNobodyAnswers) {
  scrape();
  refuse = true;
  now += 1min;
  scrape();
  EXPECT_THAT(reader->rows(), IsEmpty());
  refuse = false;
  now += 1min;
  scrape();
  EXPECT_THAT(reader->rows(), ElementsAre(kRow));
  server.reset();
  now += 1min;
  scrape();
  EXPECT_THAT(reader->rows(), IsEmpty());
}

}  // namespace
}  // namespace keplerd::exporter
