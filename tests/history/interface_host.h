// SPDX-License-Identifier: Apache-2.0
// A recorded host and a client of the interface to its history.
#pragma once

#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <systemd/sd-event.h>

#include "history/budget/budgets.h"
#include "history/interface.h"
#include "history/recorded_host.h"
#include "support/open_server.h"
#include "varlink/client.h"

namespace keplerd::history {

inline const Time kNoon = utc("2026-11-24 12:00");

class HistoryInterface : public RecordedHost {
 protected:
  HistoryInterface() {
    sd_event_new(&loop_);
    set_costs("");
    server_.emplace(loop_);
    const auto identify = [this](const varlink::Peer&) { return viewer; };
    const auto list = std::bind_front(&HistoryInterface::up_to_date_budgets, this);
    EXPECT_TRUE(
        add_history_interface(**server_, loop_, {*recorder, identify, list, keplerd, project, cost_config}));
    EXPECT_TRUE((*server_)->listen(*varlink::bind_unix_socket(directory / "socket", 0600)).ok());
    client_.emplace(*varlink::Client::connect(directory / "socket"));
  }
  ~HistoryInterface() override {
    client_.reset();
    server_.reset();
    sd_event_unref(loop_);
  }

  const std::vector<BudgetUse>& up_to_date_budgets() {
    recorder->flush();
    return budgets.uses();
  }
  varlink::ClientReply receive() {
    auto reply = client_->receive(std::chrono::milliseconds(0));
    for (int turn = 0; !reply && turn < 1000; ++turn) {
      sd_event_run(loop_, 10'000);
      reply = client_->receive(std::chrono::milliseconds(0));
    }
    return *reply;
  }
  varlink::ClientReply call(const std::string& method, varlink::Json parameters, bool more = false) {
    EXPECT_TRUE(client_->send("org.keplerd.History." + method, std::move(parameters), more));
    return receive();
  }
  // All replies of Query.
  std::vector<varlink::Json> query(varlink::Json parameters) {
    auto reply = call("Query", std::move(parameters), true);
    std::vector<varlink::Json> replies = {reply.parameters};
    EXPECT_EQ(reply.error, "");
    while (reply.continues) replies.push_back((reply = receive()).parameters);
    return replies;
  }
  static varlink::Json period(Time from, Time to, varlink::Json more) {
    more["fromUsec"] = from.count();
    more["toUsec"] = to.count();
    return more;
  }
  static std::vector<std::string> ids(const varlink::Json& reply) {
    std::vector<std::string> ids;
    for (const varlink::Json& row : reply.at("rows")) ids.push_back(row.at("id"));
    return ids;
  }
  void record() {
    read();
    workload(Kind::kUnits, "/user.slice/user-1000.slice/x.service", 1000);
    workload(Kind::kVms, "uuid", 1000).name = "web";
    for (int hour = 0; hour < 3; ++hour) {
      for (auto& [key, one] : workloads) {
        if (key.owner == 1000) one.now += {{200}, {50}};
      }
      accounts.workloads += Microjoules{250};
      run(60, "/system.slice/a.service");
    }
  }

  Viewer viewer{.full = true};
  int returned = 0;
  std::string keplerd;
  Budgets budgets{{}, {}, {}};
  std::optional<ProjectPattern> project;
  std::string cost_config = directory / "cost.conf";
  void set_costs(const std::string& text) { std::ofstream(cost_config) << text; }

  sd_event* loop_ = nullptr;

 private:
  std::optional<OpenServer> server_;
  std::optional<varlink::Client> client_;
};

}  // namespace keplerd::history
