// SPDX-License-Identifier: Apache-2.0
// A small varlink server (https://varlink.org/Service) on an sd-event loop: NUL-framed JSON over AF_UNIX
// stream sockets. One thread; nothing here blocks. Every client is bounded: in the size of a message, the
// number of connections, of pipelined calls and of pending bytes, and the time of a step. A client that does
// not read gets no further replies, without affecting any other.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "event/fair_queue.h"
#include "varlink/json.h"
#include "varlink/message.h"  // Reply, Failure

namespace keplerd::varlink {

// The peer's credentials, as of when it connected (SO_PEERCRED, SO_PEERGROUPS).
struct Peer {
  pid_t pid = 0;
  uid_t uid = static_cast<uid_t>(-1);
  std::vector<gid_t> groups;  // all groups of its user, the primary one first
};

// One received method call. `parameters` is always an object.
struct Call {
  std::string method;  // without the interface: "GetStatus"
  Json parameters;
  bool more = false;
  Peer peer;
};

// Multiple replies to one call, generated when the client has room for them and not before.
class Stream {
 public:
  virtual ~Stream() = default;
  // The next reply; a Failure or a reply without `continues` is the last. Nothing: called again after
  // Server::wake(), or in the next step if the stream is working. Destroyed when it has ended or its client
  // is gone.
  virtual std::optional<std::variant<Reply, Failure>> next() = 0;

  // Whether next() has returned nothing because the next reply takes more work than fits into a step.
  virtual bool is_working() const { return false; }
};

// The only reply to a call, which takes more work than fits into a step: the first one of the stream, which
// must not continue.
struct Later {
  std::unique_ptr<Stream> stream;
};

using Answer = std::variant<Reply, Failure, std::unique_ptr<Stream>, Later>;

// A handler or stream that throws ends its client's connection, and affects no other. A stream may only
// answer a call that said `more`; otherwise, the client gets ExpectedMore instead.
using Handler = std::function<Answer(const Call&)>;

Failure invalid_parameter(std::string_view name);  // org.varlink.service.InvalidParameter
Failure expected_more();                           // org.varlink.service.ExpectedMore
Failure permission_denied();                       // org.varlink.service.PermissionDenied

struct Interface {
  std::string name;              // "org.keplerd.Energy"
  std::string_view description;  // the text of its IDL file; outlives the server
  std::map<std::string, Handler, std::less<>> methods;
};

struct ServiceInfo {
  std::string vendor, product, version, url;
};

struct ServerLimits {
  std::size_t message = 64 << 10;    // bytes of one call; a longer one closes the connection
  std::size_t connections = 512;     // a further one is closed at once
  std::size_t limited = 256;         // of these, from peers with limited access
  std::size_t limited_account = 64;  // and of these, from one account
  // Bytes pending for a client at which its streams and calls are paused; for one with limited access.
  std::size_t output = 256 << 10;
  std::size_t limited_output = 64 << 10;
};

// The access that a peer is admitted with.
struct Admission {
  bool full = true;                // exempt from the limits for peers with limited access
  FairQueue::Account account = 0;  // the account charged with such a peer's places and time
};

// Where calls are answered. Each connection of a peer with full access has an account of its own.
struct Queues {
  FairQueue& full;
  FairQueue& limited;
};

class Server {
 public:
  // `event` is kept referenced; the queues, attached to it, must outlive the server. `admit` is called when a
  // peer connects. org.varlink.service (GetInfo, GetInterfaceDescription) is always provided.
  using Admit = std::function<Admission(const Peer&)>;
  Server(sd_event* event, Queues queues, ServiceInfo info, ServerLimits limits, Admit admit);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void add(Interface interface);

  // Accepts connections on this listening socket (bound here or passed by systemd). May be called
  // again.
  Result<Done> listen(UniqueFd socket);

  // Asks every stream that had nothing for its next reply, in later steps. May be called from anywhere, even
  // from within a handler or a stream.
  void wake();

  std::size_t connection_count() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Binds a listening socket at `path` with access `mode`; replaces a stale one that nobody listens on. At no
// time is the access wider than `mode`. Fails if something else is there, or a live listener.
Result<UniqueFd> bind_unix_socket(const std::string& path, mode_t mode);

}  // namespace keplerd::varlink
