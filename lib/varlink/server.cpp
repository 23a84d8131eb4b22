// SPDX-License-Identifier: Apache-2.0
#include "varlink/server.h"

#include <cerrno>
#include <ctime>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/barrier.h"
#include "event/event_source.h"
#include "varlink/connection.h"
#include "varlink/service.h"

namespace keplerd::varlink {

namespace {

struct EventUnref {
  void operator()(sd_event* event) const { sd_event_unref(event); }
};

// How long accepting is suspended after the system ran out of descriptors or memory for a connection.
constexpr Nanoseconds kAcceptPause = std::chrono::milliseconds(200);
constexpr char kAccepting[] = "accepting a varlink connection";

struct Listener {
  UniqueFd socket;
  Io io;
};

std::optional<int> socket_option(int socket, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(socket, SOL_SOCKET, option, &value, &size) != 0) return std::nullopt;
  return value;
}

bool is_listening_unix_stream(int socket) {
  return socket_option(socket, SO_DOMAIN) == AF_UNIX && socket_option(socket, SO_TYPE) == SOCK_STREAM &&
         socket_option(socket, SO_ACCEPTCONN) == 1;
}

// The primary group, and the others if the kernel reports them.
std::vector<gid_t> groups_of(int socket, gid_t primary) {
  std::vector<gid_t> others(16);
  socklen_t size = 0;
  int result = 0;
  do {
    size = static_cast<socklen_t>(others.size() * sizeof(gid_t));
    result = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, others.data(), &size);
    if (result != 0 && errno == ERANGE) others.resize(size / sizeof(gid_t));
  } while (result != 0 && errno == ERANGE);
  others.resize(result == 0 ? size / sizeof(gid_t) : 0);
  others.insert(others.begin(), primary);
  return others;
}

std::optional<Peer> peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  return Peer{credentials.pid, credentials.uid, groups_of(socket, credentials.gid)};
}

}  // namespace

class Server::Impl {
 public:
  Impl(sd_event* event, Queues queues, ServiceInfo info, ServerLimits limits, Admit admit)
      : event_(sd_event_ref(event)), queues_(queues), admit_(std::move(admit)) {
    owner_.limits = limits;
    owner_.answer = [this](CallMessage call, const Peer& peer) { return answer(std::move(call), peer); };
    owner_.ended = [this](Connection& connection) { remove(connection); };
    add(service_interface(std::move(info), interfaces_));
  }

  void add(Interface interface) {
    auto name = interface.name;
    interfaces_.insert_or_assign(std::move(name), std::move(interface));
  }

  Result<Done> listen(UniqueFd socket);
  void wake() {
    for (const auto& [key, held] : connections_) held.connection->wake();
  }
  std::size_t connection_count() const { return connections_.size(); }

 private:
  void accept_from(int fd);
  void take_in(UniqueFd socket);
  void set_accepting(bool accepting);
  bool has_place_for(const Admission& admission) const;
  void remove(Connection& connection);
  Answer answer(CallMessage call, const Peer& peer) const;

  std::unique_ptr<sd_event, EventUnref> event_;
  Interfaces interfaces_;
  Connection::Owner owner_;
  Queues queues_;
  Admit admit_;
  std::size_t limited_ = 0;  // connections of peers with limited access
  std::map<FairQueue::Account, std::size_t> limited_by_account_;
  FairQueue::Account last_own_account_ = 0;
  struct Held {
    std::unique_ptr<Connection> connection;
    Admission admission;
  };
  std::unordered_map<Connection*, Held> connections_;
  std::vector<Listener> listeners_;
  Timer accept_again_;
};

Result<Done> Server::Impl::listen(UniqueFd socket) {
  if (!is_listening_unix_stream(socket.get())) return Error{"not a listening AF_UNIX stream socket", EINVAL};
  const int flags = ::fcntl(socket.get(), F_GETFL);
  if (flags < 0 || ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return system_error("listening socket", errno);
  }
  if (!accept_again_) {
    const auto added = accept_again_.attach(event_.get(), kAccepting, [this] { set_accepting(true); });
    if (!added) return added;
  }
  const int fd = socket.get();
  Listener listener{std::move(socket), {}};
  const auto added = listener.io.attach(event_.get(), fd, EPOLLIN, kAccepting,
                                        [this, fd](std::uint32_t) { accept_from(fd); });
  if (added) listeners_.push_back(std::move(listener));
  return added;
}

void Server::Impl::accept_from(int fd) {
  UniqueFd socket(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket) {
    take_in(std::move(socket));
  } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
    // No descriptors or no memory: the connection stays queued and the socket readable. Retrying immediately
    // would spin.
    set_accepting(false);
  }
}

void Server::Impl::set_accepting(bool accepting) {
  if (!accepting) accept_again_.set_after(kAcceptPause);
  for (auto& listener : listeners_) listener.io.set_enabled(accepting);
}

// Peers with limited access never take all the places.
bool Server::Impl::has_place_for(const Admission& admission) const {
  if (connections_.size() >= owner_.limits.connections) return false;
  if (admission.full) return true;
  const auto count = limited_by_account_.find(admission.account);
  return limited_ < owner_.limits.limited &&
         (count == limited_by_account_.end() || count->second < owner_.limits.limited_account);
}

void Server::Impl::take_in(UniqueFd socket) {
  const auto peer = peer_of(socket.get());
  if (!peer) return;
  const Admission admission = admit_(*peer);
  if (!has_place_for(admission)) return;
  const ServerLimits& limits = owner_.limits;
  const Connection::Grant grant =
      admission.full ? Connection::Grant{queues_.full, ++last_own_account_, limits.output}
                     : Connection::Grant{queues_.limited, admission.account, limits.limited_output};
  auto connection = std::make_unique<Connection>(owner_, std::move(socket), *peer, grant);
  if (!connection->attach(event_.get())) return;
  std::size_t* const of_account = admission.full ? nullptr : &limited_by_account_[admission.account];
  auto* key = connection.get();
  connections_.emplace(key, Held{std::move(connection), admission});
  if (of_account == nullptr) return;
  ++limited_;
  ++*of_account;
}

void Server::Impl::remove(Connection& connection) {
  const auto held = connections_.find(&connection);
  if (const Admission& admission = held->second.admission; !admission.full) {
    --limited_;
    const auto count = limited_by_account_.find(admission.account);
    if (--count->second == 0) limited_by_account_.erase(count);
  }
  connections_.erase(held);
}

Answer Server::Impl::answer(CallMessage call, const Peer& peer) const {
  const auto name = split_method(call.method);
  if (!name) return method_not_found(call.method);
  const auto interface = interfaces_.find(name->interface);
  if (interface == interfaces_.end()) return interface_not_found(name->interface);
  const auto method = interface->second.methods.find(name->member);
  if (method == interface->second.methods.end()) return method_not_found(call.method);
  if (call.upgrade) return method_not_implemented(call.method);
  return method->second({std::string(name->member), std::move(call.parameters), call.more, peer});
}

Server::Server(sd_event* event, Queues queues, ServiceInfo info, ServerLimits limits, Admit admit)
    : impl_(std::make_unique<Impl>(event, queues, std::move(info), limits, std::move(admit))) {}

Server::~Server() = default;

void Server::add(Interface interface) { impl_->add(std::move(interface)); }

Result<Done> Server::listen(UniqueFd socket) { return impl_->listen(std::move(socket)); }

void Server::wake() { impl_->wake(); }

std::size_t Server::connection_count() const { return impl_->connection_count(); }

}  // namespace keplerd::varlink
