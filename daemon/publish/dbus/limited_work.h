// SPDX-License-Identifier: Apache-2.0
// Work on the bus for callers with limited access, done in the turns that the daemon gives all of them
// (event/fair_queue.h), on varlink too.
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
  static constexpr std::size_t kMostOfAccount = 64, kMostInAll = 512;  // calls that wait

  struct Owner {
    // Calls what it is given, and takes what that throws: the connection may break.
    std::function<void(const std::function<void()>& work)> attempt;
    std::function<void()> answered;  // after each call's answer
  };
  LimitedWork(FairQueue& queue, Owner owner) : queue_(queue), owner_(std::move(owner)) {}
  LimitedWork(const LimitedWork&) = delete;
  LimitedWork& operator=(const LimitedWork&) = delete;

  // `answer` is called in a turn to come. Throws LimitsExceeded where too many wait.
  void add(FairQueue::Account account, std::function<void()> answer);

  // For what is more than one call.
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

// What callers read at once, as properties are: an eighth of a processor for each account, and a tenth of a
// second of it saved up. Beyond that they are refused for a while. The time is injected.
class ReadingBudgets {
 public:
  void spend(FairQueue::Account account, Nanoseconds now, Nanoseconds cost);
  bool is_spent(FairQueue::Account account, Nanoseconds now) const;
  std::size_t size() const { return budgets_.size(); }

 private:
  std::map<FairQueue::Account, TimeBudget> budgets_;  // those that are not full
};

}  // namespace keplerd::dbus
