// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/loop_connection.h"

#include <exception>
#include <utility>

#include <sys/socket.h>

namespace keplerd::dbus {
namespace {

// A few calls to the bus itself are synchronous: adding matches, requesting the name. A working bus answers
// within a millisecond. One that hangs after its greeting blocks the loop for this long, once per connection:
// the first call that times out breaks it. So it is as short as a busy host permits.
constexpr auto kLongestCall = std::chrono::seconds(1);

void check(int result, const char* what) {
  if (result < 0) throw sdbus::createError(-result, what);
}

}  // namespace

std::unique_ptr<sdbus::IConnection> open_bus(const std::string& bus) {
  if (bus == "system") return sdbus::createSystemBusConnection();
  if (bus == "session") return sdbus::createSessionBusConnection();
  return sdbus::createSessionBusConnectionWithAddress(bus);
}

LoopConnection::LoopConnection(sd_event* loop, std::unique_ptr<sdbus::IConnection> connection, Owner owner)
    : owner_(std::move(owner)), connection_(std::move(connection)) {
  connection_->setMethodCallTimeout(kLongestCall);
  const auto data = connection_->getEventLoopPollData();
  sd_event_source* source = nullptr;
  check(sd_event_add_io(loop, &source, data.fd, static_cast<std::uint32_t>(data.events), on_io, this),
        "sd_event_add_io");
  io_.reset(source);
  check(sd_event_add_time(loop, &source, CLOCK_MONOTONIC, 0, 1000, on_time, this), "sd_event_add_time");
  timer_.reset(source);
  check(sd_event_source_set_enabled(source, SD_EVENT_OFF), "sd_event_source_set_enabled");
  check(sd_event_source_set_prepare(io_.get(), on_prepare), "sd_event_source_set_prepare");
}

// sdbus-c++ flushes a connection when closing it, and so would wait for ever for a bus that does not read.
// What the kernel has accepted is still delivered.
LoopConnection::~LoopConnection() {
  try {
    ::shutdown(connection_->getEventLoopPollData().fd, SHUT_RDWR);
  } catch (const std::exception&) {  // it is closed anyway
  }
}

void LoopConnection::attempt(const std::function<void()>& f) noexcept {
  if (broken_) return;
  try {
    f();
  } catch (const std::exception& exception) {
    break_off(exception.what());
  } catch (...) {
    break_off("unknown exception");
  }
}

void LoopConnection::break_off(const std::string& why) noexcept {
  broken_ = true;
  sd_event_source_set_enabled(io_.get(), SD_EVENT_OFF);
  sd_event_source_set_enabled(timer_.get(), SD_EVENT_OFF);
  owner_.broken(why);
}

int LoopConnection::on_io(sd_event_source*, int, std::uint32_t, void* self) {
  static_cast<LoopConnection*>(self)->process();
  return 0;
}

int LoopConnection::on_time(sd_event_source*, std::uint64_t, void* self) {
  static_cast<LoopConnection*>(self)->process();
  return 0;
}

// One message per turn, so that no client delays the others.
void LoopConnection::process() {
  attempt([this] {
    owner_.before();
    process_pending(*connection_);
    owner_.after();
  });
}

int LoopConnection::on_prepare(sd_event_source*, void* self) {
  auto* const connection = static_cast<LoopConnection*>(self);
  connection->attempt([connection] { connection->prepare(); });
  return 0;
}

void LoopConnection::prepare() {
  const auto data = connection_->getEventLoopPollData();
  check(sd_event_source_set_io_events(io_.get(), static_cast<std::uint32_t>(data.events)),
        "sd_event_source_set_io_events");
  const auto time = wake_up_time(data);
  if (time) check(sd_event_source_set_time(timer_.get(), *time), "sd_event_source_set_time");
  check(sd_event_source_set_enabled(timer_.get(), time ? SD_EVENT_ONESHOT : SD_EVENT_OFF),
        "sd_event_source_set_enabled");
}

}  // namespace keplerd::dbus
