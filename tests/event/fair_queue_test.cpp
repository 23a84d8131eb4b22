// SPDX-License-Identifier: Apache-2.0
#include "event/fair_queue.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "event/priority.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// Always has more to do, until `most` steps have been taken.
class Endless : public FairQueue::Client {
 public:
  Endless(FairQueue& queue, FairQueue::Account account, Nanoseconds& now, Nanoseconds cost = 1ms,
          int most = 1'000'000)
      : now_(now), cost_(cost), most_(most), place_(queue, account, *this) {
    place_.request();
  }
  void step(const FairQueue::Slice&) override {
    now_ += cost_;
    if (++steps < most_) place_.request();
  }
  void request() { place_.request(); }

  int steps = 0;

 private:
  Nanoseconds& now_;
  Nanoseconds cost_;
  int most_;
  FairQueue::Place place_;
};

class FairQueues : public testing::Test {
 protected:
  Nanoseconds now_ = 1h;
  FairQueue queue_{{.slice = 1ms, .turn = 5ms, .share = {}}, [this] { return now_; }};
};

TEST_F(FairQueues, AnAccountWithAThousandClientsGetsNoMoreThanOneWithOne) {
  std::vector<std::unique_ptr<Endless>> many;
  for (int i = 0; i < 1000; ++i) many.push_back(std::make_unique<Endless>(queue_, 1000, now_));
  Endless one(queue_, 1001, now_);
  for (int turn = 0; turn < 40; ++turn) queue_.run_turn();
  EXPECT_EQ(100, one.steps);
  int of_many = 0;
  for (const auto& worker : many) of_many += worker->steps;
  EXPECT_EQ(100, of_many);
}

TEST_F(FairQueues, ClientsOfAnAccountTakeTurns) {
  Endless a(queue_, 1, now_), b(queue_, 1, now_), c(queue_, 1, now_);
  for (int turn = 0; turn < 3; ++turn) queue_.run_turn();
  EXPECT_EQ((std::vector{5, 5, 5}), (std::vector{a.steps, b.steps, c.steps}));
}

TEST_F(FairQueues, ATurnEndsWhenItsTimeIsSpent) {
  Endless worker(queue_, 1, now_, 2ms);
  queue_.run_turn();
  EXPECT_EQ(3, worker.steps);  // the third began before the end
}

TEST_F(FairQueues, AStepRequestedTwiceRunsOnce) {
  Endless worker(queue_, 1, now_, 1ms, 1);
  worker.request();
  worker.request();
  queue_.run_turn();
  EXPECT_EQ(1, worker.steps);
  EXPECT_TRUE(queue_.is_empty());
}

TEST_F(FairQueues, ASliceIsOverAtItsEnd) {
  Nanoseconds now = 1h;
  const FairQueue::Clock clock = [&now] { return now; };
  const FairQueue::Slice slice(clock, 1h + 1ms);
  EXPECT_FALSE(slice.is_over());
  now += 1ms;
  EXPECT_TRUE(slice.is_over());
}

TEST_F(FairQueues, AClientThatIsGoneIsNotCalled) {
  auto gone = std::make_unique<Endless>(queue_, 1, now_);
  Endless other(queue_, 1, now_), third(queue_, 2, now_);
  gone.reset();
  queue_.run_turn();
  EXPECT_EQ(3, other.steps);
  EXPECT_EQ(2, third.steps);
}

TEST_F(FairQueues, AClientMayEndInItsStep) {
  class Mayfly : public FairQueue::Client {
   public:
    Mayfly(FairQueue& queue, std::unique_ptr<Mayfly>& self) : self_(self), place_(queue, 1, *this) {
      place_.request();
    }
    void step(const FairQueue::Slice&) override {
      place_.request();
      self_.reset();
    }

   private:
    std::unique_ptr<Mayfly>& self_;
    FairQueue::Place place_;
  };
  std::unique_ptr<Mayfly> mayfly;
  mayfly = std::make_unique<Mayfly>(queue_, mayfly);
  queue_.run_turn();
  EXPECT_EQ(nullptr, mayfly);
  EXPECT_TRUE(queue_.is_empty());
}

TEST_F(FairQueues, AClientThatThrowsDoesNotAffectOthers) {
  class Thrower : public FairQueue::Client {
   public:
    explicit Thrower(FairQueue& queue) : place_(queue, 1, *this) { place_.request(); }
    void step(const FairQueue::Slice&) override { throw std::runtime_error("thrown"); }

   private:
    FairQueue::Place place_;
  };
  Thrower thrower(queue_);
  Endless worker(queue_, 1, now_, 1ms, 2);
  queue_.run_turn();
  EXPECT_EQ(2, worker.steps);
  EXPECT_TRUE(queue_.is_empty());
}

TEST(FairQueueWithAShare, LimitsWorkInTheLongRun) {
  Nanoseconds now = 1h;
  FairQueue queue({.slice = 1ms,
                   .turn = 5ms,
                   .share = TimeBudget::Limits{.share = 4, .most_saved = 50ms, .most_wait = 1s}},
                  [&now] { return now; });
  Endless client(queue, 1, now);
  while (now < 1h + 10s) {
    const Nanoseconds before = now;
    queue.run_turn();
    if (now == before) now += 1ms;  // it has to wait
  }
  EXPECT_LE(client.steps, 2500 + 50 + 5);
  EXPECT_GE(client.steps, 2500);
}

TEST(FairQueueOnALoop, UrgentWorkIsDoneBetweenAnyTwoTurns) {
  sd_event* event = nullptr;
  ASSERT_LE(0, sd_event_new(&event));
  Nanoseconds now = 1h;
  std::string order;
  {
    FairQueue queue({.slice = 1ms, .turn = 5ms, .share = {}}, [&now] { return now; });
    ASSERT_TRUE(queue.attach(event, priority::kLimitedAccess).ok());
    sd_event_source* urgent = nullptr;
    const auto note = [](sd_event_source*, void* text) {
      static_cast<std::string*>(text)->push_back('!');
      return 0;
    };
    ASSERT_LE(0, sd_event_add_defer(event, &urgent, note, &order));
    sd_event_source_set_priority(urgent, priority::kSampling);
    sd_event_source_set_enabled(urgent, SD_EVENT_OFF);
    class Worker : public FairQueue::Client {
     public:
      Worker(FairQueue& queue, FairQueue::Account account, char name, Nanoseconds& now, std::string& order,
             sd_event_source* urgent)
          : name_(name), now_(now), order_(order), urgent_(urgent), place_(queue, account, *this) {
        place_.request();
      }
      void step(const FairQueue::Slice&) override {
        now_ += 4ms;
        order_.push_back(name_);
        sd_event_source_set_enabled(urgent_, SD_EVENT_ONESHOT);
        if (order_.size() < 12) place_.request();
      }

     private:
      char name_;
      Nanoseconds& now_;
      std::string& order_;
      sd_event_source* urgent_;
      FairQueue::Place place_;
    };
    Worker a(queue, 1, 'a', now, order, urgent), b(queue, 2, 'b', now, order, urgent);
    while (sd_event_run(event, 0) > 0) {
    }
    sd_event_source_disable_unref(urgent);
  }
  EXPECT_EQ("ab!ab!ab!ab!ab!", order);
  sd_event_unref(event);
}

}  // namespace
}  // namespace keplerd
