// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/limited_work.h"

#include <algorithm>
#include <utility>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/names.h"

namespace keplerd::dbus {
namespace {

constexpr TimeBudget::Limits kReading{
    .share = 8, .most_saved = std::chrono::milliseconds(100), .most_wait = std::chrono::seconds(1)};

}  // namespace

void LimitedWork::add(FairQueue::Account account, std::function<void()> answer) {
  const auto of_account = waiting_.find(account);
  if (calls_.size() >= kMostInAll || (of_account != waiting_.end() && of_account->second >= kMostOfAccount))
    throw make_error(kLimitsExceeded, "too many calls are pending: wait for their replies");
  std::size_t& count = waiting_[account];
  calls_.emplace_back(*this, account, std::move(answer));
  ++count;
}

void LimitedWork::take(const Call& call) {
  const auto position = std::ranges::find(calls_, &call, [](const Call& other) { return &other; });
  const std::function<void()> answer = std::move(position->answer_);
  const auto count = waiting_.find(call.account_);
  if (--count->second == 0) waiting_.erase(count);
  calls_.erase(position);
  owner_.attempt([&] {
    answer();
    owner_.answered();
  });
}

void ReadingBudgets::spend(FairQueue::Account account, Nanoseconds now, Nanoseconds cost) {
  std::erase_if(budgets_, [now](const auto& entry) { return entry.second.is_full(now); });
  budgets_.try_emplace(account, kReading).first->second.spend(now, cost);
}

bool ReadingBudgets::is_spent(FairQueue::Account account, Nanoseconds now) const {
  const auto budget = budgets_.find(account);
  return budget != budgets_.end() && budget->second.wait(now) > Nanoseconds{0};
}

}  // namespace keplerd::dbus
