// SPDX-License-Identifier: Apache-2.0
#include "varlink/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "varlink/socket.h"

namespace keplerd::varlink {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMaxReply = 16 << 20;
constexpr std::chrono::seconds kConnectTimeout{5};
constexpr std::chrono::seconds kSendTimeout{45};

using Deadline = std::optional<steady_clock::time_point>;  // unset: never

Error connect_error(const std::string& path, int code) {
  switch (code) {
    case ENOENT:
      return {path + ": no such socket; is keplerd running?", code};
    case ECONNREFUSED:
      return {path + ": connection refused; is keplerd running?", code};
    case EACCES:
    case EPERM:
      return {path + ": not permitted; run as root or be in group keplerd", code};
    case EAGAIN:
      return {path + ": keplerd does not accept connections; is it hanging?", code};
    default:
      return system_error(path, code);
  }
}

Error closed() { return {"the daemon closed the connection", ECONNRESET}; }

bool is_closed(int code) { return code == EPIPE || code == ECONNRESET; }

// For poll(): whole milliseconds, rounded up so that the deadline has passed when they have.
int remaining(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<milliseconds>(*deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max()));
}

// Waits until the socket is ready for `events`. Returns false if the deadline passes first.
Result<bool> wait_for(int socket, short events, const Deadline& deadline) {
  for (;;) {
    const int timeout = remaining(deadline);
    pollfd poll{socket, events, 0};
    const int count = ::poll(&poll, 1, timeout);
    if (count > 0) return true;
    if (count == 0) {
      if (remaining(deadline) == 0) return false;
    } else if (errno != EINTR) {
      return system_error("poll", errno);
    }
  }
}

}  // namespace

Client::Client(UniqueFd socket) : socket_(std::move(socket)), received_(kMaxReply) {}

Result<Client> Client::connect(const std::string& address, IfBusy if_busy) {
  const std::string path = address.starts_with("unix:") ? address.substr(5) : address;
  const auto socket_address = unix_address(path);
  if (!socket_address) return socket_address.error();
  const int kind = SOCK_STREAM | SOCK_CLOEXEC | (if_busy == IfBusy::kFail ? SOCK_NONBLOCK : 0);
  UniqueFd socket(::socket(AF_UNIX, kind, 0));
  if (!socket) return system_error("socket", errno);
  // A blocking connect() waits for a place in the backlog of a busy daemon; this bounds it.
  const timeval timeout{kConnectTimeout.count(), 0};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0) {
    return system_error(path, errno);
  }
  if (const int code = connect_to(socket.get(), *socket_address); code != 0) return connect_error(path, code);
  const int flags = ::fcntl(socket.get(), F_GETFL);
  if (flags < 0 || ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) != 0) return system_error(path, errno);
  return Client(std::move(socket));
}

Result<Done> Client::send(std::string_view method, Json parameters, bool more) {
  CallMessage call;
  call.method = method;
  call.parameters = std::move(parameters);
  call.more = more;
  const std::string bytes = encode(std::move(call));
  const Deadline deadline = steady_clock::now() + kSendTimeout;
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t count = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      const auto ready = wait_for(socket_.get(), POLLOUT, deadline);
      if (!ready) return ready.error();
      if (!*ready) return Error{"the daemon does not accept the call", ETIMEDOUT};
    } else if (is_closed(errno)) {
      return closed();
    } else if (errno != EINTR) {
      return system_error("send", errno);
    }
  }
  return Done{};
}

Result<ClientReply> Client::receive(std::optional<milliseconds> timeout) {
  Deadline deadline;
  if (timeout) deadline = steady_clock::now() + *timeout;
  std::array<char, 64 << 10> chunk;
  for (;;) {
    if (const auto message = received_.next()) return parse_reply(*message);
    if (received_.too_long()) return Error{"the daemon's reply is too long", EMSGSIZE};
    const ssize_t count = ::recv(socket_.get(), chunk.data(), std::min(chunk.size(), received_.room()), 0);
    if (count > 0) {
      received_.append({chunk.data(), static_cast<std::size_t>(count)});
    } else if (count == 0 || is_closed(errno)) {
      return closed();
    } else if (errno == EAGAIN) {
      const auto ready = wait_for(socket_.get(), POLLIN, deadline);
      if (!ready) return ready.error();
      if (!*ready) return Error{"the daemon did not answer in time", ETIMEDOUT};
    } else if (errno != EINTR) {
      return system_error("receive", errno);
    }
  }
}

Result<ClientReply> Client::call(std::string_view method, Json parameters) {
  if (const auto sent = send(method, std::move(parameters)); !sent) return sent.error();
  return receive();
}

}  // namespace keplerd::varlink
