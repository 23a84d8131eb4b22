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
// How long until a denied request is repeated: Public= may have been changed.
constexpr std::chrono::milliseconds kDeniedDelay = 30s;
// keplerd samples at least every 30 s.
constexpr std::chrono::milliseconds kLongestSilence = 90s;
constexpr Nanoseconds kAccuracy = 1ms;
constexpr char kFollowing[] = "following keplerd";
constexpr char kMethod[] = "org.keplerd.Energy.Monitor";

}  // namespace

Streams::Streams(sd_event* event, Plan plan, Events events)
    : event_(sd_event_ref(event)), plan_(std::move(plan)), events_(std::move(events)), delay_(kFirstDelay) {
  for (const Plan::Wanted& wanted : plan_.wanted) {
    streams_.emplace_back().wanted = wanted;
  }
}

Streams::~Streams() {
  timer_.reset();
  silence_.reset();
  for (Stream& stream : streams_) stream.ready.reset();
  sd_event_unref(event_);
}

Result<Done> Streams::start() {
  const auto open_all = [this] {
    timer_.set_after(kLongestDelay);  // should it throw
    const auto connected = connect();
    if (!connected) return try_again(connected.error().message);
    timer_.stop();
  };
  const auto begin_again = [this] { try_again("keplerd has stopped sending updates"); };
  if (const auto added = timer_.attach(event_, kFollowing, open_all, kAccuracy); !added) return added;
  if (const auto added = silence_.attach(event_, kFollowing, begin_again, kAccuracy); !added) return added;
  timer_.set_after(0ms);
  return Done{};
}

// Opens what is not open: all streams, or those that were denied.
Result<Done> Streams::connect() {
  for (Stream& stream : streams_) {
    if (stream.client) continue;
    if (const auto opened = open(stream); !opened) return opened;
  }
  silence_.set_after(kLongestSilence);
  return Done{};
}

bool Streams::is_open(Kind kind) const {
  return std::ranges::any_of(
      streams_, [kind](const Stream& stream) { return stream.wanted.kind == kind && stream.client; });
}

void Streams::reopen(Kind kind) {
  const auto stream = std::ranges::find(streams_, kind, [](const Stream& one) { return one.wanted.kind; });
  if (stream == streams_.end() || !stream->client) return;
  stream->ready.reset();
  stream->client.reset();
  events_.lost(kind);
  if (const auto opened = open(*stream); !opened) try_again(opened.error().message);
}

Result<Done> Streams::open(Stream& stream) {
  auto client = varlink::Client::connect(plan_.address);
  if (!client) return client.error();
  Json parameters = {{"kind", name_of(stream.wanted.kind)}, {"intervalUsec", plan_.pace.count()}};
  if (plan_.aligned) parameters["aligned"] = true;
  if (!stream.wanted.in_full) parameters["public"] = true;
  if (const auto sent = client->send(kMethod, std::move(parameters), true); !sent) return sent;
  const auto on_reply = [this, &stream](std::uint32_t) {
    try {
      if (const auto received = receive(stream); !received) try_again(received.error().message);
    } catch (...) {  // the known rows of this kind may be half of a reply
      try_again("a reply of keplerd could not be processed");
      throw;
    }
    update_whether_up();
  };
  const auto added = stream.ready.attach(event_, client->fd(), EPOLLIN, kFollowing, on_reply);
  if (added) stream.client.emplace(*std::move(client));
  return added;
}

// Handles everything received.
Result<Done> Streams::receive(Stream& stream) {
  do {
    auto reply = stream.client->receive(0ms);
    if (!reply) return reply.error().code == ETIMEDOUT ? Result<Done>(Done{}) : reply.error();
    if (const auto taken = take(stream, *std::move(reply)); !taken) return taken;
  } while (stream.client && stream.client->has_reply());
  return Done{};
}

Result<Done> Streams::take(Stream& stream, varlink::ClientReply reply) {
  if (is_denied(reply)) {
    deny(stream);
    return Done{};
  }
  if (!reply.error.empty()) return Error{"keplerd answers " + reply.error};
  // An older keplerd ignores `public`, and sends more than public data.
  if (!stream.wanted.in_full && reply.parameters.contains("accounts")) {
    return Error{"keplerd is older than " + plan_.program + ": it does not support public reports"};
  }
  stream.answered = true;
  silence_.set_after(kLongestSilence);
  events_.reply(stream.wanted.kind, std::move(reply.parameters));
  return Done{};
}

void Streams::deny(Stream& stream) {
  stream.ready.reset();
  stream.client.reset();
  stream.answered = true;  // this caller may see nothing of it
  events_.lost(stream.wanted.kind);
  timer_.set_after(kDeniedDelay);
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
  timer_.set_after(delay_);
  silence_.stop();
  delay_ = std::min(delay_ * 2, kLongestDelay);
}

}  // namespace keplerd::client
