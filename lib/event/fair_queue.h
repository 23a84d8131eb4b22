// SPDX-License-Identifier: Apache-2.0
// Runs work for many clients on one sd-event loop, in small steps: no client delays the others, however much
// it requests, and all of them together delay nothing that the loop considers more urgent.
//
// Accounts take turns, and so do the clients within an account: a thousand clients of one account get no more
// than one client of another. In one turn of the loop, steps are taken until `turn` is spent; the last step
// may exceed it. In the long run all steps take no more than their share of time. If more urgent work never
// ends, there still is a turn every 100 ms.
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
    Nanoseconds slice = std::chrono::milliseconds(1);  // for one client
    Nanoseconds turn = std::chrono::milliseconds(5);   // for all of them
    std::optional<TimeBudget::Limits> share;           // unset: all the time there is
  };

  // How much a step may do. A step with more to do requests another one.
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
    // Does at least one piece of work, and as many as fit. May destroy the client.
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

    // Requests one call of the client. May be called from anywhere, including its step.
    void request() { queue_.add(*this); }

   private:
    friend class FairQueue;
    FairQueue& queue_;
    Account account_;
    Client& client_;
    bool waiting_ = false;
  };

  // Does nothing before attach(), unless run_turn() is called.
  FairQueue(Limits limits, Clock clock);
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  // Takes steps on this loop from now on, at this priority (event/priority.h).
  Result<Done> attach(sd_event* event, std::int64_t priority);
  void detach() { turn_.reset(), timer_.reset(), late_.reset(); }

  // Called by the loop. Does nothing if the share of time is used up.
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
  std::deque<Account> accounts_;  // those with waiting clients; the first is next
  Deferred turn_;
  Timer timer_, late_;
};

}  // namespace keplerd
