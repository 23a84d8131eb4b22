// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/publisher.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/barrier.h"
#include "daemon/log.h"
#include "daemon/publish/dbus/callers.h"
#include "daemon/publish/dbus/loop_connection.h"
#include "daemon/publish/dbus/manager.h"
#include "daemon/publish/dbus/names.h"
#include "daemon/publish/dbus/objects.h"
#include "daemon/publish/dbus/raw_bus.h"
#include "event/event_source.h"
#include "event/priority.h"

namespace keplerd {
namespace {

using dbus::LoopConnection;
using std::chrono::microseconds;

constexpr microseconds kFirstPause = std::chrono::milliseconds(100);
constexpr microseconds kLongestPause = std::chrono::seconds(30);

// What lives as long as one connection to the bus.
class Session {
 public:
  Session(sd_event* loop, const std::string& bus, Reports& reports, std::uint64_t& last_subscription,
          const std::function<void(const std::string&)>& broken)
      : turn_(reports),
        connection_(loop, bus,
                    {.before = [this] { turn_.begin(); }, .after = [this] { end_turn(); }, .broken = broken}),
        questions_(loop, bus,
                   {.before = [this] { turn_.begin(); }, .after = [this] { end_turn(); }, .broken = broken}),
        callers_(connection_.bus(), questions_.bus(), reports,
                 [this](const std::string& client) { manager_.left(client); }),
        manager_(connection_.bus(), turn_, callers_, last_subscription),
        objects_(connection_.bus(), turn_,
                 {.added = [this](const auto& id,
                                  const auto& path) { manager_.emitVirtualMachineAdded(id, path); },
                  .removed = [this](const auto& id,
                                    const auto& path) { manager_.emitVirtualMachineRemoved(id, path); }}),
        calls_(connection_.bus(), [this](sd_bus_message& call) { on_call(call); }) {
    turn_.begin_inside();
    objects_.update();
    turn_.begin();
    connection_.bus().requestName(dbus::ServiceName(dbus::kService));
  }

  void update() {
    connection_.attempt([this] {
      turn_.begin_inside();
      manager_.tell_changes();
      objects_.update();
      manager_.deliver();
      turn_.begin();
    });
  }

 private:
  // Before the object: with every call, what answers it knows whose it is. (A handler could ask for the
  // message it answers, a property's in sdbus-c++ 1.2 could not.)
  void on_call(sd_bus_message& call) {
    const char* const path = sd_bus_message_get_path(&call);
    const char* const sender = sd_bus_message_get_sender(&call);
    const char* const interface = sd_bus_message_get_interface(&call);
    if (path == nullptr || sender == nullptr || !std::string_view(path).starts_with(dbus::kManagerPath))
      return;
    const bool wants_answer = sd_bus_message_get_expect_reply(&call) > 0;
    turn_.begin({.name = sender,
                 .caller = wants_answer ? callers_.caller(sender) : Caller{},
                 .path = path,
                 .interactive = sd_bus_message_get_allow_interactive_authorization(&call) > 0,
                 .wants_answer = wants_answer});
    dbus::Objects::check_known(turn_, interface == nullptr ? "" : interface);
  }
  void end_turn() {
    turn_.begin();
    manager_.deliver();
    callers_.rest();
  }

  dbus::Turn turn_;
  LoopConnection connection_;
  // Waiting for an answer reads all messages that came before it: on a connection of its own, there are none.
  LoopConnection questions_;
  dbus::Callers callers_;
  dbus::Manager manager_;
  dbus::Objects objects_;
  dbus::CallFilter calls_;
};

}  // namespace

class BusPublisher::Impl {
 public:
  Impl(sd_event* loop, std::string bus, Reports& reports)
      : loop_(loop), bus_(std::move(bus)), reports_(reports) {
    sd_event_source* source = nullptr;
    if (sd_event_add_defer(loop_, &source, on_work, this) < 0) throw std::bad_alloc();
    work_.reset(source);
    sd_event_source_set_enabled(source, SD_EVENT_OFF);
    // Before the next message: what an answer has named is there when it is asked for.
    sd_event_source_set_priority(source, priority::kSampling);
    if (sd_event_add_time_relative(loop_, &source, CLOCK_MONOTONIC, 0, 0, on_retry, this) < 0)
      throw std::bad_alloc();
    retry_.reset(source);
    sd_event_source_set_enabled(source, SD_EVENT_OFF);
    connect();
  }

  // Not at once: the caller may be a handler of an object that goes.
  void update() {
    if (session_) sd_event_source_set_enabled(work_.get(), SD_EVENT_ONESHOT);
  }

 private:
  static int on_work(sd_event_source*, void* self) {
    behind_barrier("publishing on D-Bus", [self] { static_cast<Impl*>(self)->work(); });
    return 0;
  }
  static int on_retry(sd_event_source*, std::uint64_t, void* self) {
    behind_barrier("connecting to D-Bus", [self] { static_cast<Impl*>(self)->connect(); });
    return 0;
  }

  void connect() {
    try {
      session_ = std::make_unique<Session>(loop_, bus_, reports_, last_subscription_,
                                           [this](const std::string& why) {
                                             broken_ = why;
                                             sd_event_source_set_enabled(work_.get(), SD_EVENT_ONESHOT);
                                           });
      log_info("D-Bus: serving " + std::string(dbus::kService) + " on " + bus_);
      pause_ = kFirstPause;
      complained_ = false;
    } catch (const std::exception& exception) {
      try_again(exception.what());
    }
  }

  void work() {
    if (!broken_ && session_) session_->update();
    if (!broken_) return;
    session_.reset();
    try_again(*std::exchange(broken_, std::nullopt));
  }

  void try_again(const std::string& why) {
    if (!std::exchange(complained_, true)) log_warning("D-Bus: " + bus_ + ": " + why + "; trying again");
    sd_event_source_set_time_relative(retry_.get(), static_cast<std::uint64_t>(pause_.count()));
    sd_event_source_set_enabled(retry_.get(), SD_EVENT_ONESHOT);
    pause_ = std::min(2 * pause_, kLongestPause);
  }

  sd_event* loop_;
  std::string bus_;
  Reports& reports_;
  std::uint64_t last_subscription_ = 0;
  microseconds pause_ = kFirstPause;
  bool complained_ = false;
  std::optional<std::string> broken_;  // the session is, and why
  EventSource work_, retry_;
  std::unique_ptr<Session> session_;
};

BusPublisher::BusPublisher(sd_event* loop, const std::string& bus, Reports& reports)
    : impl_(std::make_unique<Impl>(loop, bus, reports)) {}

BusPublisher::~BusPublisher() = default;

void BusPublisher::update() { impl_->update(); }

}  // namespace keplerd
