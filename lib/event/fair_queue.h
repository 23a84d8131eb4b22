// SPDX-License-Identifier: Apache-2.0
// Work for many clients on one sd-event loop, in small steps: none of them holds up the others, however much
// it asks for, and all of them together hold up nothing that the loop finds more urgent.
//
// Accounts take turns, and within an account its clients do: who has a thousand clients gets no more than who
// has one. In one turn of the loop, steps are taken until `turn` is spent; the last step may exceed it. In
// the long run all steps take no more than their share of the time. Where the loop finds more urgent things
// without end, there is a turn every 100 ms in between.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "base/time_budget.h"
#include "base/units.h"
#include "event/sources.h"

namespace keplerd {

class FairQueue {
 public:
  using Account = std::uint64_t;
  using Clock = std::function<Nanoseconds()>;  // CLOCK_MONOTONIC

  struct Limits {
    Nanoseconds slice = std::chrono::milliseconds(1);  // of one client
    Nanoseconds turn = std::chrono::milliseconds(5);   // of all of them
    std::optional<TimeBudget::Limits> share;           // unset: all the time there is
  };

  // What a step may take. A step that has more to do than fits asks for another one.
  class Slice {
   public:
    Slice(const Clock& clock, Nanoseconds end) : clock_(clock), end_(end) {}
    bool is_over() const { return clock_() >= end_; }

   private:
    const Clock& clock_;
    Nanoseconds end_;
  };

  class Client {
   public:
    virtual ~Client() = default;
    // One piece of work at least, and as many as fit. It may destroy the client.
    virtual void step(const Slice& slice) = 0;
  };

  // A client's place in the queue, which must outlive it.
  class Place {
   public:
    Place(FairQueue& queue, Account account, Client& client)
        : queue_(queue), account_(account), client_(client) {}
    ~Place() { queue_.remove(*this); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // The client is to be called once. It may ask for that anywhere, also in its step.
    void request() { queue_.add(*this); }

   private:
    friend class FairQueue;
    FairQueue& queue_;
    Account account_;
    Client& client_;
    bool waiting_ = false;
  };

  // Nothing is done before attach(), unless run_turn() is called.
  FairQueue(Limits limits, Clock clock);
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  // Steps are taken on this loop from now on, at this priority (event/priority.h).
  Result<Done> attach(sd_event* event, std::int64_t priority);
  void detach() { turn_.reset(), timer_.reset(), late_.reset(); }

  // What the loop calls. Nothing where the share of time is used up.
  void run_turn();

  bool is_empty() const { return accounts_.empty(); }

 private:
  void add(Place& place);
  void remove(Place& place);
  Place* take_next();
  Nanoseconds wait(Nanoseconds now) const;
  void plan();

  Limits limits_;
  Clock clock_;
  std::optional<TimeBudget> share_;
  std::map<Account, std::deque<Place*>> waiting_;
  std::deque<Account> accounts_;  // that have waiting clients; the first is next
  Deferred turn_;
  Timer timer_, late_;
};

}  // namespace keplerd
