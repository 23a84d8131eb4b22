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

constexpr std::size_t kInputPerTurn = 16 << 10;  // bytes
constexpr std::size_t kKeptOutput = 64 << 10;    // of a buffer that has been emptied

}  // namespace

Connection::Connection(const Owner& owner, UniqueFd socket, Peer peer, Grant grant)
    : owner_(owner),
      socket_(std::move(socket)),
      peer_(std::move(peer)),
      input_(owner.limits.message),
      most_output_(grant.output),
      place_(grant.queue, grant.account, *this) {}

Result<Done> Connection::attach(sd_event* event) {
  return io_.attach(event, socket_.get(), EPOLLIN, "closing a varlink connection",
                    [this](std::uint32_t events) { on_event(events); });
}

void Connection::wake() {
  if (!stream_ || !stream_waits_) return;
  stream_waits_ = false;
  place_.request();
}

void Connection::on_event(std::uint32_t events) {
  State state = State::kEnded;  // remains so after an exception, too
  behind_barrier("reading a varlink connection", [&] { state = take_in(events); });
  end_if(state);
}

void Connection::step(const FairQueue::Slice& slice) {
  State state = State::kEnded;
  behind_barrier("answering on varlink", [&] {
    const State worked = work(slice);
    // Earlier replies still reach the client when a later call ends the connection.
    const State flushed = flush();
    state = worked == State::kEnded || flushed == State::kEnded ? State::kEnded : go_on();
  });
  end_if(state);
}

void Connection::end_if(State state) {
  if (state == State::kEnded) behind_barrier("closing a varlink connection", [this] { owner_.ended(*this); });
}

Connection::State Connection::take_in(std::uint32_t events) {
  if (events & EPOLLERR) return State::kEnded;
  if (events & EPOLLHUP) {
    deaf_ = true;
    stream_.reset();
    output_.clear();
    sent_ = 0;
  }
  if ((events & (EPOLLIN | EPOLLHUP)) && read() == State::kEnded) return State::kEnded;
  if (flush() == State::kEnded) return State::kEnded;
  return go_on();
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
  if (waiting_output() >= most_output_) return false;
  return stream_ ? !stream_waits_ : input_.has_message();
}

bool Connection::is_finished() const {
  if (stream_ || input_.has_message()) return false;
  return input_.too_long() || (input_ended_ && waiting_output() == 0);
}

Connection::State Connection::work(const FairQueue::Slice& slice) {
  try {
    while (can_go_on()) {
      if (stream_) {
        pull();
      } else if (answer(*input_.next()) == State::kEnded) {
        return State::kEnded;
      }
      if (slice.is_over()) break;
    }
  } catch (const std::exception&) {
    return State::kEnded;  // a handler or a stream failed; varlink has no reply for that
  }
  return State::kOpen;
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
  } else if (auto* later = std::get_if<Later>(&answer)) {
    stream_ = std::move(later->stream);
    stream_waits_ = false;
  } else if (auto* reply = std::get_if<Reply>(&answer)) {
    reply->continues = false;
    put(encode(*reply));
  } else {
    put(encode(std::move(std::get<Failure>(answer))));
  }
  return State::kOpen;
}

void Connection::pull() {
  auto next = stream_->next();
  if (!next) {
    stream_waits_ = !stream_->is_working();
    return;
  }
  bool last = true;
  if (auto* reply = std::get_if<Reply>(&*next)) {
    last = !reply->continues;
    put(encode(*reply));
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

Connection::State Connection::go_on() {
  if (can_go_on()) {
    place_.request();
  } else if (is_finished()) {
    return State::kEnded;
  }
  return watch();
}

// Readable while there is room for input; writable while output is pending. A hang-up is always reported:
// once it has been handled, it must not wake the loop again and again.
Connection::State Connection::watch() {
  std::uint32_t events = 0;
  if (!input_ended_ && input_.room() > 0) events |= EPOLLIN;
  if (waiting_output() > 0) events |= EPOLLOUT;
  const bool ok = io_.set_events(events) && io_.set_enabled(events != 0 || !deaf_);
  return ok ? State::kOpen : State::kEnded;
}

}  // namespace keplerd::varlink
