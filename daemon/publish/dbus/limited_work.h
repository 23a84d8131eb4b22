// SPDX-License-Identifier: Apache-2.0
// Work on the bus for callers with limited access, done in the turns that the daemon grants all of them
// (event/fair_queue.h), including those on varlink.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>

#include "base/time_budget.h"
#include "event/fair_queue.h"

namespace keplerd::dbus {

class LimitedWork {
 public:
  static constexpr std::size_t kMostOfAccount = 64, kMostInAll = 512;  // waiting calls

  struct Owner {
    // Calls its argument, and handles what that throws: the connection may break.
    std::function<void(const std::function<void()>& work)> attempt;
    std::function<void()> answered;  // after each call's answer
  };
  LimitedWork(FairQueue& queue, Owner owner) : queue_(queue), owner_(std::move(owner)) {}
  LimitedWork(const LimitedWork&) = delete;
  LimitedWork& operator=(const LimitedWork&) = delete;

  // Calls `answer` in a later turn. Throws LimitsExceeded if too many are waiting.
  void add(FairQueue::Account account, std::function<void()> answer);

  // For work that is not a single call.
  FairQueue& queue() { return queue_; }
  void attempt(const std::function<void()>& work) { owner_.attempt(work); }

 private:
  class Call : public FairQueue::Client {
   public:
    Call(LimitedWork& owner, FairQueue::Account account, std::function<void()> answer)
        : owner_(owner), account_(account), answer_(std::move(answer)), place_(owner.queue_, account, *this) {
      place_.request();
    }
    void step(const FairQueue::Slice&) override { owner_.take(*this); }

   private:
    friend class LimitedWork;
    LimitedWork& owner_;
    FairQueue::Account account_;
    std::function<void()> answer_;
    FairQueue::Place place_;
  };

  void take(const Call& call);

  FairQueue& queue_;
  Owner owner_;
  std::list<Call> calls_;
  std::map<FairQueue::Account, std::size_t> waiting_;
};

// Budget for synchronous reads, such as of properties: an eighth of a processor for each account, with a
// tenth of a second available at once. Beyond that they are refused for a while. The time is injected.
class ReadingBudgets {
 public:
  void spend(FairQueue::Account account, Nanoseconds now, Nanoseconds cost);
  bool is_spent(FairQueue::Account account, Nanoseconds now) const;
  std::size_t size() const { return budgets_.size(); }

 private:
  std::map<FairQueue::Account, TimeBudget> budgets_;  // accounts whose budget is not full
};

}  // namespace keplerd::dbus
