// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/server.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <utility>

#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <sys/socket.h>

#include "base/barrier.h"
#include "event/sources.h"
#include "exporter/http/clock.h"
#include "exporter/http/target.h"
#include "exporter/http/tls.h"

namespace keplerd::exporter::http {
namespace {

constexpr std::size_t kConnectionMemory = 32 << 10;  // headers of a request, and of its response
// libmicrohttpd accepts no more than its own limit, and connections that Connections wants closed still exist
// for one turn.
constexpr unsigned kClosingConnections = 256;
constexpr std::size_t kBlock = 16 << 10;
// The kernel's default grows to 4 MiB: whole responses would be buffered there, which count as read.
constexpr int kSendBuffer = 128 << 10;
constexpr char kServing[] = "serving HTTP";

// Marks of a request, distinguished by address.
constexpr char kHeadersSeen = 0, kWaited = 0, kTargetTooLong = 0, kTooManyArguments = 0;

int descriptor_of(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

gnutls_session_t session_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  return info == nullptr ? nullptr : static_cast<gnutls_session_t>(info->tls_session);
}

std::string header(MHD_Connection* connection, const char* name) {
  const char* const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string() : value;
}

std::optional<Credentials> credentials_of(MHD_Connection* connection) {
  char* password = nullptr;
  char* const user = MHD_basic_auth_get_username_password(connection, &password);
  std::optional<Credentials> credentials;
  if (user != nullptr && password != nullptr) credentials = Credentials{user, password};
  if (user != nullptr) MHD_free(user);
  if (password != nullptr) MHD_free(password);
  return credentials;
}

// Sends a body block by block; several responses read the same one.
ssize_t read_body(void* body, std::uint64_t position, char* out, std::size_t most) {
  const std::string& text = **static_cast<Body*>(body);
  if (position >= text.size()) return MHD_CONTENT_READER_END_OF_STREAM;
  return static_cast<ssize_t>(text.copy(out, most, static_cast<std::size_t>(position)));
}

void free_body(void* body) { delete static_cast<Body*>(body); }

}  // namespace

Response text_response(unsigned status, std::string text) {
  Response response;
  response.status = status;
  response.body = std::make_shared<const std::string>(std::move(text));
  return response;
}

// State shared by all listening sockets.
struct Server::Shared {
  sd_event* event = nullptr;
  Handler handler;
  std::optional<TlsPolicy> tls;
  std::string cert, key, client_ca, priorities;
  ConnectionLimits limits;
  Connections connections{limits};
  std::map<int, MHD_Connection*> waiting;  // suspended, by descriptor

  bool is_trusted(MHD_Connection* connection) const {
    if (!tls) return true;
    const gnutls_session_t session = session_of(connection);
    return session != nullptr && tls->is_trusted(session);
  }

  std::optional<Response> respond(MHD_Connection* connection, const char* path, const char* method,
                                  bool again) {
    if (!is_trusted(connection)) return text_response(403, "A client certificate is required.\n");
    Request request{method,
                    path,
                    header(connection, "Accept"),
                    header(connection, "Accept-Encoding"),
                    credentials_of(connection),
                    connections.peer_of(descriptor_of(connection)),
                    again};
    std::optional<Response> response = handler(request);
    if (response && !response->body) response->body = std::make_shared<const std::string>();
    return response;
  }

  MHD_Result send(MHD_Connection* connection, const Response& response) {
    connections.begin_reply(descriptor_of(connection), response.body, read_clock());
    MHD_Response* const out = MHD_create_response_from_callback(response.body->size(), kBlock, read_body,
                                                                new Body(response.body), free_body);
    if (out == nullptr) return MHD_NO;
    MHD_add_response_header(out, "Content-Type", response.type.c_str());
    for (const auto& [name, value] : response.headers) {
      MHD_add_response_header(out, name.c_str(), value.c_str());
    }
    if (response.status >= 400) MHD_add_response_header(out, "Connection", "close");
    const MHD_Result queued = MHD_queue_response(connection, response.status, out);
    MHD_destroy_response(out);
    return queued;
  }

  static void* mark_of(const char& mark) { return const_cast<char*>(&mark); }

  // Called at the first line of a request; returns its mark. No page takes arguments, and libmicrohttpd
  // 0.9.75 does not respond at all if it lacks memory for them: it never gets to see any. (The text is in its
  // buffer for the request, and it continues parsing after this.)
  static void* on_target(void* self, const char* target, MHD_Connection* connection) {
    static_cast<Shared*>(self)->connections.begin_request(descriptor_of(connection), read_clock());
    if (target == nullptr) return nullptr;
    const Target found = check_target(target);
    if (const char* const query = std::strchr(target, '?'); query != nullptr)
      const_cast<char*>(query)[1] = '\0';
    if (found == Target::kTooLong) return mark_of(kTargetTooLong);
    return found == Target::kTooManyArguments ? mark_of(kTooManyArguments) : nullptr;
  }

  static std::optional<Response> refusal_of(const void* mark) {
    if (mark == &kTargetTooLong) return text_response(414, "The URI is too long.\n");
    if (mark == &kTooManyArguments) return text_response(400, "Too many arguments.\n");
    return std::nullopt;
  }

  static void on_completed(void* self, MHD_Connection* connection, void**, MHD_RequestTerminationCode) {
    static_cast<Shared*>(self)->connections.end_reply(descriptor_of(connection), read_clock());
  }

  static void on_connection(void* self, MHD_Connection* connection, void**,
                            MHD_ConnectionNotificationCode code) {
    auto& shared = *static_cast<Shared*>(self);
    Connections& connections = shared.connections;
    const int descriptor = descriptor_of(connection);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
      connections.begin(descriptor, read_peer(descriptor), read_clock());
      if (shared.tls) shared.tls->attach(session_of(connection));
    } else {
      connections.end(descriptor);
    }
  }

  // libmicrohttpd sees them as closed by their clients, and releases them. Unread data is then dropped,
  // instead of staying in the kernel until the client reads it.
  void close_doomed() {
    constexpr linger kDropAtClose{1, 0};
    for (const int descriptor : connections.take_doomed(read_clock())) {
      ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &kDropAtClose, sizeof kDropAtClose);
      ::shutdown(descriptor, SHUT_RDWR);
      if (const auto found = waiting.find(descriptor); found != waiting.end()) resume(found);
    }
  }

  // libmicrohttpd does nothing with a suspended connection, not even if its client disconnects.
  void suspend(MHD_Connection* connection) {
    const int descriptor = descriptor_of(connection);
    connections.begin_wait(descriptor, read_clock());
    MHD_suspend_connection(connection);
    waiting.emplace(descriptor, connection);
  }

  void resume(std::map<int, MHD_Connection*>::iterator found) {
    MHD_Connection* const connection = found->second;
    waiting.erase(found);
    MHD_resume_connection(connection);
  }

  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* path, const char* method,
                               const char*, const char*, std::size_t* upload_size, void** state) {
    auto& shared = *static_cast<Shared*>(self);
    const void* const mark = std::exchange(*state, mark_of(kHeadersSeen));
    try {
      if (const auto refused = refusal_of(mark)) return shared.send(connection, *refused);
      // At first only the headers are here. Requests without content are answered once complete, so that the
      // connection can be kept.
      const bool without_content = std::strcmp(method, "GET") == 0 || std::strcmp(method, "HEAD") == 0;
      if (without_content && (mark == nullptr || *upload_size > 0)) {
        *upload_size = 0;
        return MHD_YES;
      }
      if (shared.connections.is_doomed(descriptor_of(connection))) return MHD_NO;
      if (const auto response = shared.respond(connection, path, method, mark == &kWaited)) {
        return shared.send(connection, *response);
      }
      *state = mark_of(kWaited);
      shared.suspend(connection);
      return MHD_YES;
    } catch (const std::exception&) {
      return MHD_NO;
    }
  }
};

// One listening socket.
class Server::Listener {
 public:
  explicit Listener(Shared& shared) : shared_(shared) {}
  ~Listener() {
    ready_.reset();
    timer_.reset();
    if (daemon_ != nullptr) MHD_stop_daemon(daemon_);  // no connection may be suspended
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  Result<Done> start(UniqueFd socket) {
    std::vector<MHD_OptionItem> options = {{MHD_OPTION_LISTEN_SOCKET, socket.get(), nullptr},
                                           {MHD_OPTION_CONNECTION_LIMIT, most_connections(), nullptr},
                                           {MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, nullptr}};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    if (shared_.tls) {
      flags |= MHD_USE_TLS;
      options.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, shared_.cert.data()});
      options.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, shared_.key.data()});
      options.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, shared_.priorities.data()});
      if (!shared_.client_ca.empty()) {
        options.push_back({MHD_OPTION_HTTPS_MEM_TRUST, 0, shared_.client_ca.data()});
      }
    }
    options.push_back({MHD_OPTION_END, 0, nullptr});
    daemon_ = MHD_start_daemon(flags, 0, nullptr, nullptr, &Shared::on_request, &shared_,  //
                               MHD_OPTION_NOTIFY_CONNECTION, &Shared::on_connection, &shared_,
                               MHD_OPTION_NOTIFY_COMPLETED, &Shared::on_completed, &shared_,
                               MHD_OPTION_URI_LOG_CALLBACK, &Shared::on_target, &shared_,  //
                               MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
    if (daemon_ == nullptr) {
      return Error{shared_.tls ? "libmicrohttpd refuses the socket, the certificate or the key"
                               : "libmicrohttpd refuses the socket"};
    }
    socket.release();  // it now belongs to the daemon
    return attach();
  }

  void run() {
    behind_barrier(kServing, [this] {
      MHD_run(daemon_);
      shared_.close_doomed();
    });
    Nanoseconds wait = shared_.connections.next_deadline();
    if (wait != Nanoseconds::max()) wait = std::max(wait - read_clock(), Nanoseconds{0});
    MHD_UNSIGNED_LONG_LONG milliseconds = 0;
    if (MHD_get_timeout(daemon_, &milliseconds) == MHD_YES) {
      wait = std::min<Nanoseconds>(wait, std::chrono::milliseconds(milliseconds));
    }
    wait == Nanoseconds::max() ? timer_.stop() : timer_.set_after(wait);
  }

 private:
  Result<Done> attach() {
    const auto* info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == nullptr) return Error{"libmicrohttpd has no epoll"};
    const auto ready =
        ready_.attach(shared_.event, info->epoll_fd, EPOLLIN, kServing, [this](std::uint32_t) { run(); });
    if (!ready) return ready;
    const auto timed = timer_.attach(shared_.event, kServing, [this] { run(); });
    if (!timed) return timed;
    run();
    return Done{};
  }

  std::intptr_t most_connections() const {
    return static_cast<std::intptr_t>(shared_.limits.connections) + kClosingConnections;
  }

  Shared& shared_;
  MHD_Daemon* daemon_ = nullptr;
  Io ready_;
  Timer timer_;
};

Server::Server(sd_event* event, Handler handler) : shared_(std::make_unique<Shared>()) {
  shared_->event = sd_event_ref(event);
  shared_->handler = std::move(handler);
}

Server::~Server() {
  while (!shared_->waiting.empty()) shared_->resume(shared_->waiting.begin());
  listeners_.clear();
  sd_event_unref(shared_->event);
}

Result<Done> Server::use_tls(const TlsConfig& tls) {
  const auto read = [](const std::string& path, std::string& text) -> Result<Done> {
    if (path.empty()) return Done{};
    auto file = read_small_file(path);
    if (!file) return file.error();
    text = *std::move(file);
    return Done{};
  };
  for (const auto& [path, text] :
       {std::pair(&tls.cert_file, &shared_->cert), std::pair(&tls.key_file, &shared_->key),
        std::pair(&tls.client_ca_file, &shared_->client_ca)}) {
    if (const auto done = read(*path, *text); !done) return done;
  }
  auto policy = TlsPolicy::make(tls, shared_->cert);
  if (!policy) return policy.error();
  shared_->tls = *std::move(policy);
  shared_->priorities = shared_->tls->priorities();
  return Done{};
}

Result<Done> Server::listen(UniqueFd socket) {
  auto listener = std::make_unique<Listener>(*shared_);
  if (const auto started = listener->start(std::move(socket)); !started) return started;
  listeners_.push_back(std::move(listener));
  return Done{};
}

void Server::answer_waiting() {
  while (!shared_->waiting.empty()) shared_->resume(shared_->waiting.begin());
  for (const auto& listener : listeners_) listener->run();
}

}  // namespace keplerd::exporter::http
