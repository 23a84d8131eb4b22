// SPDX-License-Identifier: Apache-2.0
#include "exporter/budgets.h"

#include <cerrno>
#include <chrono>
#include <utility>

#include <sys/epoll.h>

#include "client/fields.h"
#include "varlink/json.h"

namespace keplerd::exporter {
namespace {

// keplerd-history takes a reading once a minute.
constexpr Nanoseconds kPause = std::chrono::minutes(1);

}  // namespace

std::vector<BudgetRow> parse_budgets(const varlink::Json& reply) {
  std::vector<BudgetRow> rows;
  for (const varlink::Json& budget : client::elements(client::field(reply, "budgets"))) {
    const auto used = client::integer_field(budget, "usedMicrojoules");
    const auto limit = client::integer_field(budget, "limitMicrojoules");
    if (!used || !limit) continue;
    rows.push_back({client::text(budget, "budget"), client::text(budget, "subject"), {*used}, {*limit}});
  }
  return rows;
}

void BudgetReader::scrape() {
  const Nanoseconds now = means_.now();
  if (asked_ && now - *asked_ < kPause) return;
  asked_ = now;
  if (client_) rows_.clear();  // what was asked a minute ago was not answered
  if (!ask()) {
    rows_.clear();
    close();
  }
}

Result<Done> BudgetReader::ask() {
  close();
  // A keplerd-history that is busy or hangs must not delay scrapes.
  auto connected = varlink::Client::connect(address_, varlink::Client::IfBusy::kFail);
  if (!connected) return connected.error();
  client_.emplace(*std::move(connected));
  if (const auto sent = client_->send("org.keplerd.History.ListBudgets", varlink::Json::object()); !sent)
    return sent;
  return ready_.attach(means_.event, client_->fd(), EPOLLIN, "reading budgets",
                       [this](std::uint32_t) { receive(); });
}

void BudgetReader::receive() {
  auto reply = client_->receive(std::chrono::milliseconds(0));
  if (!reply && reply.error().code == ETIMEDOUT) return;
  rows_ = reply && reply->error.empty() ? parse_budgets(reply->parameters) : std::vector<BudgetRow>();
  close();
}

void BudgetReader::close() {
  ready_.reset();
  client_.reset();
}

}  // namespace keplerd::exporter
