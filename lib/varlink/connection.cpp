// SPDX-License-Identifier: Apache-2.0
#include "varlink/connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/barrier.h"

namespace keplerd::varlink {

namespace {

constexpr int kStepsPerTurn = 64;                // calls or replies
constexpr std::size_t kInputPerTurn = 16 << 10;  // bytes
constexpr std::size_t kKeptOutput = 64 << 10;    // of a buffer that has been emptied

}  // namespace

Connection::Connection(const Owner& owner, UniqueFd socket, Peer peer)
    : owner_(owner), socket_(std::move(socket)), peer_(std::move(peer)), input_(owner.limits.message) {}

Result<Done> Connection::attach(sd_event* event) {
  sd_event_source* source = nullptr;
  const int result = sd_event_add_io(event, &source, socket_.get(), EPOLLIN, on_event, this);
  if (result < 0) return system_error("connection", -result);
  source_.reset(source);
  return Done{};
}

void Connection::wake() {
  if (!stream_ || !stream_waits_) return;
  stream_waits_ = false;
  if (watch() == State::kEnded) stream_waits_ = true;
}

int Connection::on_event(sd_event_source*, int, std::uint32_t events, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  State state = State::kEnded;
  behind_barrier("answering on varlink", [&] { state = connection.take_turn(events); });
  if (state == State::kEnded)
    behind_barrier("closing a varlink connection", [&] { connection.owner_.ended(connection); });
  return 0;
}

Connection::State Connection::take_turn(std::uint32_t events) {
  if (events & EPOLLERR) return State::kEnded;
  if (events & EPOLLHUP) {
    deaf_ = true;
    stream_.reset();
    output_.clear();
    sent_ = 0;
  }
  if ((events & (EPOLLIN | EPOLLHUP)) && read() == State::kEnded) return State::kEnded;
  const State worked = work();
  // What was answered before the call that ends the connection still reaches the client.
  if (flush() == State::kEnded || worked == State::kEnded) return State::kEnded;
  if (input_ended_ && !stream_ && !input_.has_message() && waiting_output() == 0) return State::kEnded;
  return watch();
}

Connection::State Connection::read() {
  std::array<char, kInputPerTurn> chunk;
  const std::size_t room = std::min(chunk.size(), input_.room());
  if (room == 0 || input_ended_) return State::kOpen;
  const ssize_t count = ::recv(socket_.get(), chunk.data(), room, MSG_DONTWAIT);
  if (count > 0) {
    input_.append({chunk.data(), static_cast<std::size_t>(count)});
  } else if (count == 0) {
    input_ended_ = true;
  } else if (errno != EAGAIN && errno != EINTR) {
    return State::kEnded;
  }
  return State::kOpen;
}

bool Connection::can_go_on() const {
  if (waiting_output() >= owner_.limits.output) return false;
  return stream_ ? !stream_waits_ : input_.has_message();
}

Connection::State Connection::work() {
  try {
    for (int step = 0; step < kStepsPerTurn && can_go_on(); ++step) {
      if (stream_) {
        pull();
      } else if (answer(*input_.next()) == State::kEnded) {
        return State::kEnded;
      }
    }
  } catch (const std::exception&) {
    return State::kEnded;  // a handler or a stream failed; varlink has no reply for that
  }
  return input_.too_long() && !stream_ ? State::kEnded : State::kOpen;
}

Connection::State Connection::answer(std::string_view message) {
  auto call = parse_call(message);
  if (!call) return State::kEnded;  // varlink has no reply to what is not a call
  const bool more = call->more;
  const bool silent = call->oneway;
  if (deaf_ && !silent) return State::kOpen;
  Answer answer = owner_.answer(std::move(*call), peer_);
  if (silent) return State::kOpen;
  if (auto* stream = std::get_if<std::unique_ptr<Stream>>(&answer)) {
    if (!more || !*stream) {
      put(encode(expected_more()));
    } else {
      stream_ = std::move(*stream);
      stream_waits_ = false;
    }
  } else if (auto* reply = std::get_if<Reply>(&answer)) {
    reply->continues = false;
    put(encode(std::move(*reply)));
  } else {
    put(encode(std::move(std::get<Failure>(answer))));
  }
  return State::kOpen;
}

void Connection::pull() {
  auto next = stream_->next();
  if (!next) {
    stream_waits_ = true;
    return;
  }
  bool last = true;
  if (auto* reply = std::get_if<Reply>(&*next)) {
    last = !reply->continues;
    put(encode(std::move(*reply)));
  } else {
    put(encode(std::move(std::get<Failure>(*next))));
  }
  if (last) stream_.reset();
}

void Connection::put(std::string bytes) {
  if (output_.empty()) {
    output_ = std::move(bytes);
  } else {
    output_ += bytes;
  }
}

Connection::State Connection::flush() {
  while (waiting_output() > 0) {
    const ssize_t count =
        ::send(socket_.get(), output_.data() + sent_, waiting_output(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      sent_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      return State::kEnded;
    }
  }
  if (waiting_output() == 0) {
    output_.clear();
    if (output_.capacity() > kKeptOutput) output_.shrink_to_fit();
    sent_ = 0;
  } else if (sent_ > output_.size() / 2) {
    output_.erase(0, sent_);
    sent_ = 0;
  }
  return State::kOpen;
}

// Readable matters while there is room for input; writable while output waits, or while there is work left
// that another turn shall do.
Connection::State Connection::watch() {
  std::uint32_t events = 0;
  if (!input_ended_ && input_.room() > 0) events |= EPOLLIN;
  if (waiting_output() > 0 || can_go_on()) events |= EPOLLOUT;
  return sd_event_source_set_io_events(source_.get(), events) < 0 ? State::kEnded : State::kOpen;
}

}  // namespace keplerd::varlink
