// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/publisher.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/barrier.h"
#include "daemon/background_job.h"
#include "daemon/clock.h"
#include "daemon/log.h"
#include "daemon/publish/dbus/callers.h"
#include "daemon/publish/dbus/limited_work.h"
#include "daemon/publish/dbus/loop_connection.h"
#include "daemon/publish/dbus/manager.h"
#include "daemon/publish/dbus/names.h"
#include "daemon/publish/dbus/objects.h"
#include "daemon/publish/dbus/raw_bus.h"
#include "event/priority.h"
#include "event/sources.h"

namespace keplerd {
namespace {

using dbus::LoopConnection;
using dbus::Sender;
using std::chrono::microseconds;

constexpr microseconds kFirstPause = std::chrono::milliseconds(100);
constexpr microseconds kLongestPause = std::chrono::seconds(30);
constexpr Nanoseconds kTimerAccuracy = std::chrono::milliseconds(250);
constexpr microseconds kPatience =
    std::chrono::seconds(25);  // before the log says that the bus does not answer

// Waiting for a reply processes all messages before it: on a separate connection, there are none.
struct Connections {
  std::unique_ptr<sdbus::IConnection> calls, questions;
};

// State with the lifetime of one connection to the bus.
class Session {
 public:
  Session(sd_event* loop, Connections connections, Reports& reports, FairQueue& limited,
          std::uint64_t& last_subscription, const std::function<void(const std::string&)>& broken)
      : request_(reports),
        connection_(
            loop, std::move(connections.calls),
            {.before = [this] { begin_message(); }, .after = [this] { end_message(); }, .broken = broken}),
        questions_(
            loop, std::move(connections.questions),
            {.before = [this] { request_.begin(); }, .after = [this] { end_turn(); }, .broken = broken}),
        callers_(connection_.bus(), questions_.bus(), reports,
                 [this](const std::string& client) { manager_.left(client); }),
        limited_(limited, {.attempt = [this](const auto& work) { connection_.attempt(work); },
                           .answered = [this] { end_turn(); }}),
        manager_(connection_.bus(), request_, callers_, limited_, last_subscription),
        objects_(connection_.bus(), request_,
                 {.added = [this](const auto& id,
                                  const auto& path) { manager_.emitVirtualMachineAdded(id, path); },
                  .removed = [this](const auto& id,
                                    const auto& path) { manager_.emitVirtualMachineRemoved(id, path); }}),
        calls_(connection_.bus(), [this](sd_bus_message& call) { on_call(call); }) {
    request_.begin_inside();
    objects_.update();
    request_.begin();
    connection_.bus().requestName(dbus::ServiceName(dbus::kService));
  }

  void update() {
    connection_.attempt([this] {
      request_.begin_inside();
      manager_.emit_changes();
      objects_.update();
      manager_.mark_due();
      manager_.deliver();
      request_.begin();
    });
  }

 private:
  // Runs before the object: everything that answers a call then knows its sender. (A handler could query the
  // message that it answers; a property's in sdbus-c++ 1.2 could not.)
  void on_call(sd_bus_message& call) {
    const char* const path = sd_bus_message_get_path(&call);
    const char* const sender = sd_bus_message_get_sender(&call);
    const char* const interface = sd_bus_message_get_interface(&call);
    if (path == nullptr || sender == nullptr || !std::string_view(path).starts_with(dbus::kManagerPath))
      return;
    const bool expects_reply = sd_bus_message_get_expect_reply(&call) > 0;
    if (!expects_reply && !sd_bus_message_is_method_call(&call, dbus::kManagerInterface, "Unsubscribe"))
      throw dbus::make_error(dbus::kNotSupported, "calls other than Unsubscribe must expect a reply");
    const Caller caller = expects_reply ? callers_.caller(sender) : Caller{};
    if (expects_reply && !caller.full && reading_.is_spent(caller.payer(), begun_))
      throw dbus::make_error(dbus::kLimitsExceeded, "too many calls: try again in a second");
    request_.begin({.name = sender,
                    .caller = caller,
                    .path = path,
                    .interactive = sd_bus_message_get_allow_interactive_authorization(&call) > 0});
    dbus::Objects::check_known(request_, interface == nullptr ? "" : interface);
  }
  void begin_message() {
    request_.begin();
    begun_ = read_clock(CLOCK_MONOTONIC);
  }
  void end_message() {
    const Sender& sender = request_.sender();
    const Nanoseconds now = read_clock(CLOCK_MONOTONIC);
    const bool is_known = sender.caller.user != Caller{}.user;
    if (is_known && !sender.caller.full) reading_.spend(sender.caller.payer(), now, now - begun_);
    end_turn();
  }
  void end_turn() {
    request_.begin();
    manager_.deliver();
    callers_.rest();
  }

  dbus::Request request_;
  LoopConnection connection_;
  LoopConnection questions_;
  dbus::Callers callers_;
  dbus::LimitedWork limited_;
  dbus::ReadingBudgets reading_;
  Nanoseconds begun_{0};  // of the current message
  dbus::Manager manager_;
  dbus::Objects objects_;
  dbus::CallFilter calls_;
};

}  // namespace

class BusPublisher::Impl {
 public:
  Impl(sd_event* loop, std::string bus, Reports& reports, FairQueue& limited)
      : loop_(loop),
        bus_(std::move(bus)),
        reports_(reports),
        limited_(limited),
        connecting_(loop, "connecting to D-Bus") {
    // Before the next message: objects named in a reply exist when they are requested.
    const bool attached = work_
                              .attach(
                                  loop_, "publishing on D-Bus", [this] { work(); }, priority::kSampling)
                              .ok() &&
                          timer_
                              .attach(
                                  loop_, "connecting to D-Bus", [this] { on_time(); }, kTimerAccuracy)
                              .ok();
    if (!attached) throw std::bad_alloc();
    connect();
  }

  // Deferred: the caller may be a handler of an object that is removed.
  void update() {
    if (session_) work_.request();
  }

 private:
  void on_time() { connecting_.is_busy() ? complain("no answer") : connect(); }

  struct Attempt {
    std::string bus;
    Connections connections;
    std::string error = "cannot connect";
  };

  // In the background: a bus that accepts and then hangs keeps a connection attempt busy for up to 90 s.
  // Until that ends no other attempt is made, and a late success is as good as any.
  void connect() {
    const auto attempt = std::make_shared<Attempt>(Attempt{.bus = bus_});
    const auto open = [attempt] {
      try {
        Connections made{dbus::open_bus(attempt->bus), dbus::open_bus(attempt->bus)};
        attempt->connections = std::move(made);
      } catch (const std::exception& exception) {
        attempt->error = exception.what();
      }
    };
    const auto started = connecting_.start(open, [this, attempt] { finish(*attempt); });
    started ? timer_.set_after(kPatience) : try_again(started.error().message);
  }

  void finish(Attempt& attempt) {
    timer_.stop();
    if (!attempt.connections.questions) return try_again(attempt.error);
    try {
      session_ = std::make_unique<Session>(loop_, std::move(attempt.connections), reports_, limited_,
                                           last_subscription_, [this](const std::string& why) {
                                             broken_ = why;
                                             work_.request();
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
    complain(why);
    timer_.set_after(pause_);
    pause_ = std::min(2 * pause_, kLongestPause);
  }

  void complain(const std::string& why) {
    if (!std::exchange(complained_, true)) log_warning("D-Bus: " + bus_ + ": " + why + "; trying again");
  }

  sd_event* loop_;
  std::string bus_;
  Reports& reports_;
  FairQueue& limited_;
  std::uint64_t last_subscription_ = 0;
  microseconds pause_ = kFirstPause;
  bool complained_ = false;
  std::optional<std::string> broken_;  // set when the session is broken, with the reason
  Deferred work_;
  Timer timer_;
  BackgroundJob connecting_;
  std::unique_ptr<Session> session_;
};

BusPublisher::BusPublisher(sd_event* loop, const std::string& bus, Reports& reports, FairQueue& limited)
    : impl_(std::make_unique<Impl>(loop, bus, reports, limited)) {}

BusPublisher::~BusPublisher() = default;

void BusPublisher::update() { impl_->update(); }

}  // namespace keplerd
