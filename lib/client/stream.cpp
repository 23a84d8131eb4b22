// SPDX-License-Identifier: Apache-2.0
#include "client/stream.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "client/requests.h"

namespace keplerd::client {
namespace {

using namespace std::chrono_literals;
using varlink::Json;

constexpr std::chrono::milliseconds kFirstDelay = 250ms, kLongestDelay = 5s;
// Until what was denied is requested again: Public= may have been changed.
constexpr std::chrono::milliseconds kDeniedDelay = 30s;
// keplerd samples every 30 s at least.
constexpr std::chrono::milliseconds kLongestSilence = 90s;
constexpr std::uint64_t kAccuracy = 1000;  // us; sd-event's own is a quarter of a second
constexpr char kMethod[] = "org.keplerd.Energy.Monitor";

void set(const EventSource& timer, std::chrono::milliseconds delay) {
  sd_event_source_set_time_relative(timer.get(), static_cast<std::uint64_t>(delay / 1us));
  sd_event_source_set_enabled(timer.get(), SD_EVENT_ONESHOT);
}

}  // namespace

Streams::Streams(sd_event* event, Plan plan, Events events)
    : event_(sd_event_ref(event)), plan_(std::move(plan)), events_(std::move(events)), delay_(kFirstDelay) {
  for (const Plan::Wanted& wanted : plan_.wanted) {
    Stream& stream = streams_.emplace_back();
    stream.streams = this;
    stream.wanted = wanted;
  }
}

Streams::~Streams() {
  timer_.reset();
  silence_.reset();
  for (Stream& stream : streams_) stream.ready.reset();
  sd_event_unref(event_);
}

Result<Done> Streams::start() {
  if (const auto added = add_timer(timer_, on_time); !added) return added;
  if (const auto added = add_timer(silence_, on_silence); !added) return added;
  set(timer_, 0ms);
  return Done{};
}

// The timer does not run before it is set.
Result<Done> Streams::add_timer(EventSource& timer, sd_event_time_handler_t handler) {
  sd_event_source* source = nullptr;
  const int code = sd_event_add_time(event_, &source, CLOCK_MONOTONIC, UINT64_MAX, kAccuracy, handler, this);
  if (code < 0) return system_error("sd_event_add_time", -code);
  timer.reset(source);
  return Done{};
}

int Streams::on_time(sd_event_source*, std::uint64_t, void* self) {
  auto& streams = *static_cast<Streams*>(self);
  if (const auto connected = streams.connect(); !connected) streams.try_again(connected.error().message);
  return 0;
}

int Streams::on_silence(sd_event_source*, std::uint64_t, void* self) {
  static_cast<Streams*>(self)->try_again("keplerd says nothing any more");
  return 0;
}

// Opens what is not open: everything, or what was denied.
Result<Done> Streams::connect() {
  for (Stream& stream : streams_) {
    if (stream.client) continue;
    if (const auto opened = open(stream); !opened) return opened;
  }
  set(silence_, kLongestSilence);
  return Done{};
}

Result<Done> Streams::open(Stream& stream) {
  auto client = varlink::Client::connect(plan_.address);
  if (!client) return client.error();
  Json parameters = {{"kind", name_of(stream.wanted.kind)}, {"intervalUsec", plan_.pace.count()}};
  if (!stream.wanted.in_full) parameters["public"] = true;
  if (const auto sent = client->send(kMethod, std::move(parameters), true); !sent) return sent;
  sd_event_source* source = nullptr;
  const int code = sd_event_add_io(event_, &source, client->fd(), EPOLLIN, on_reply, &stream);
  if (code < 0) return system_error("sd_event_add_io", -code);
  stream.client.emplace(*std::move(client));
  stream.ready.reset(source);
  return Done{};
}

int Streams::on_reply(sd_event_source*, int, std::uint32_t, void* self) {
  auto& stream = *static_cast<Stream*>(self);
  Streams& streams = *stream.streams;
  if (const auto received = streams.receive(stream); !received) streams.try_again(received.error().message);
  streams.update_whether_up();
  return 0;
}

// Takes all that has come.
Result<Done> Streams::receive(Stream& stream) {
  do {
    const auto reply = stream.client->receive(0ms);
    if (!reply) return reply.error().code == ETIMEDOUT ? Result<Done>(Done{}) : reply.error();
    if (const auto taken = take(stream, *reply); !taken) return taken;
  } while (stream.client && stream.client->has_reply());
  return Done{};
}

Result<Done> Streams::take(Stream& stream, const varlink::ClientReply& reply) {
  if (is_denied(reply)) {
    deny(stream);
    return Done{};
  }
  if (!reply.error.empty()) return Error{"keplerd answers " + reply.error};
  // An older keplerd does not know `public`, and sends what is not for everybody.
  if (!stream.wanted.in_full && reply.parameters.contains("accounts")) {
    return Error{"keplerd is older than " + plan_.program + ": it cannot tell what is for everybody"};
  }
  stream.answered = true;
  set(silence_, kLongestSilence);
  events_.reply(stream.wanted.kind, reply.parameters);
  return Done{};
}

void Streams::deny(Stream& stream) {
  stream.ready.reset();
  stream.client.reset();
  stream.answered = true;  // nothing of it is for this caller
  events_.lost(stream.wanted.kind);
  set(timer_, kDeniedDelay);
}

void Streams::update_whether_up() {
  const bool up = std::ranges::all_of(streams_, [](const Stream& stream) { return stream.answered; });
  if (up == up_) return;
  up_ = up;
  if (!up) return;  // try_again() has reported it
  delay_ = kFirstDelay;
  reason_.clear();
  events_.changed(true, "");
}

void Streams::close_all() {
  for (Stream& stream : streams_) {
    stream.ready.reset();
    stream.client.reset();
    stream.answered = false;
    events_.lost(stream.wanted.kind);
  }
}

void Streams::try_again(const std::string& reason) {
  close_all();
  up_ = false;
  if (reason != reason_) events_.changed(false, reason);
  reason_ = reason;
  set(timer_, delay_);
  sd_event_source_set_enabled(silence_.get(), SD_EVENT_OFF);
  delay_ = std::min(delay_ * 2, kLongestDelay);
}

}  // namespace keplerd::client
