// SPDX-License-Identifier: Apache-2.0
#include "event/fair_queue.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/barrier.h"
#include "event/priority.h"

namespace keplerd {
namespace {

constexpr char kWorking[] = "working for clients";
constexpr Nanoseconds kAccuracy = std::chrono::milliseconds(1);
constexpr Nanoseconds kLate = std::chrono::milliseconds(100);

}  // namespace

FairQueue::FairQueue(Limits limits, Clock clock) : limits_(limits), clock_(std::move(clock)) {
  if (limits_.share) share_.emplace(*limits_.share);
}

Result<Done> FairQueue::attach(sd_event* event, std::int64_t priority) {
  const auto turn = [this] {
    behind_barrier(kWorking, [this] { run_turn(); });
    plan();
  };
  if (const auto added = turn_.attach(event, kWorking, turn, priority); !added) return added;
  if (const auto added = timer_.attach(
          event, kWorking, [this] { plan(); }, kAccuracy);
      !added)
    return added;
  if (priority > priority::kNormal) {
    if (const auto added = late_.attach(event, kWorking, turn, kAccuracy); !added) return added;
  }
  plan();
  return Done{};
}

void FairQueue::run_turn() {
  const Nanoseconds begun = clock_();
  if (wait(begun) > Nanoseconds{0}) return;
  Nanoseconds now = begun;
  while (!accounts_.empty() && now - begun < limits_.turn) {
    Place& place = *take_next();
    Client& client = place.client_;
    behind_barrier("working for a client", [&] { client.step(Slice(clock_, now + limits_.slice)); });
    now = clock_();
  }
  if (share_) share_->spend(now, now - begun);
}

void FairQueue::add(Place& place) {
  if (place.waiting_) return;
  auto& clients = waiting_[place.account_];
  clients.push_back(&place);
  place.waiting_ = true;
  if (clients.size() == 1) accounts_.push_back(place.account_);
  if (accounts_.size() == 1 && clients.size() == 1) plan();
}

void FairQueue::remove(Place& place) {
  if (!place.waiting_) return;
  const auto clients = waiting_.find(place.account_);
  std::erase(clients->second, &place);
  if (!clients->second.empty()) return;
  waiting_.erase(clients);
  std::erase(accounts_, place.account_);
}

FairQueue::Place* FairQueue::take_next() {
  const Account account = accounts_.front();
  accounts_.pop_front();
  const auto clients = waiting_.find(account);
  Place* const next = clients->second.front();
  clients->second.pop_front();
  next->waiting_ = false;
  if (clients->second.empty()) {
    waiting_.erase(clients);
  } else {
    accounts_.push_back(account);
  }
  return next;
}

Nanoseconds FairQueue::wait(Nanoseconds now) const { return share_ ? share_->wait(now) : Nanoseconds{0}; }

// Schedules the next turn: at once, or when the share of time permits it again.
void FairQueue::plan() {
  if (!turn_) return;
  const Nanoseconds pause = accounts_.empty() ? Nanoseconds{0} : wait(clock_());
  const bool now = !accounts_.empty() && pause == Nanoseconds{0};
  now ? turn_.request() : turn_.cancel();
  now ? late_.set_after(kLate) : late_.stop();
  if (pause > Nanoseconds{0}) timer_.set_after(pause + std::chrono::microseconds(1));
}

}  // namespace keplerd
