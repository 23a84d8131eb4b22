// SPDX-License-Identifier: Apache-2.0
#include "event/fair_queue.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/barrier.h"
#include "event/priority.h"

namespace keplerd {
namespace {

constexpr std::uint64_t kAccuracyUsec = 1000;
constexpr std::uint64_t kLateUsec = 100'000;

}  // namespace

FairQueue::FairQueue(Limits limits, Clock clock) : limits_(limits), clock_(std::move(clock)) {
  if (limits_.share) share_.emplace(*limits_.share);
}

Result<Done> FairQueue::attach(sd_event* event, std::int64_t priority) {
  sd_event_source* source = nullptr;
  int result = sd_event_add_defer(event, &source, on_turn, this);
  if (result < 0) return system_error("sd_event_add_defer", -result);
  turn_.reset(source);
  result = sd_event_add_time(event, &source, CLOCK_MONOTONIC, UINT64_MAX, kAccuracyUsec, on_time, this);
  if (result < 0) return system_error("sd_event_add_time", -result);
  timer_.reset(source);
  sd_event_source_set_enabled(source, SD_EVENT_OFF);
  sd_event_source_set_priority(turn_.get(), priority);
  if (priority > priority::kNormal) {
    result = sd_event_add_time(event, &source, CLOCK_MONOTONIC, UINT64_MAX, kAccuracyUsec, on_late, this);
    if (result < 0) return system_error("sd_event_add_time", -result);
    late_.reset(source);
    sd_event_source_set_enabled(source, SD_EVENT_OFF);
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

// The next turn: at once, or when there is time for it again.
void FairQueue::plan() {
  if (!turn_) return;
  const Nanoseconds pause = accounts_.empty() ? Nanoseconds{0} : wait(clock_());
  const bool now = !accounts_.empty() && pause == Nanoseconds{0};
  sd_event_source_set_enabled(turn_.get(), now ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
  if (late_) {
    sd_event_source_set_time_relative(late_.get(), kLateUsec);
    sd_event_source_set_enabled(late_.get(), now ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
  }
  if (pause == Nanoseconds{0}) return;
  sd_event_source_set_time_relative(timer_.get(), static_cast<std::uint64_t>(to_usec(pause)) + 1);
  sd_event_source_set_enabled(timer_.get(), SD_EVENT_ONESHOT);
}

int FairQueue::on_turn(sd_event_source*, void* self) {
  auto* const queue = static_cast<FairQueue*>(self);
  queue->run_turn();
  queue->plan();
  return 0;
}

int FairQueue::on_late(sd_event_source*, std::uint64_t, void* self) { return on_turn(nullptr, self); }

int FairQueue::on_time(sd_event_source*, std::uint64_t, void* self) {
  static_cast<FairQueue*>(self)->plan();
  return 0;
}

}  // namespace keplerd
