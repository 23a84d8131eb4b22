// SPDX-License-Identifier: Apache-2.0
// HTTP and HTTPS with libmicrohttpd, on an sd-event loop. One thread; nothing here blocks. Every client is
// bounded: the size and form of requests here, the number of connections and their durations in
// connections.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "exporter/http/connections.h"
#include "exporter/http/passwords.h"
#include "exporter/http/web_config.h"

namespace keplerd::exporter::http {

struct Request {
  std::string method, path;
  std::string accept, accept_encoding;
  std::optional<Credentials> credentials;
  Peer peer;
  bool again = false;  // it had to wait, and is repeated
};

struct Response {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  Body body;
  std::vector<std::pair<std::string, std::string>> headers;
};

Response text_response(unsigned status, std::string text);

class Server {
 public:
  // `event` is kept referenced. If `handler` throws, its client's connection is closed. If it returns
  // nothing, the request waits, without holding up others, until answer_waiting(), and is handled again.
  using Handler = std::function<std::optional<Response>(const Request&)>;
  Server(sd_event* event, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Reads the TLS files now. Must be called before listen().
  Result<Done> use_tls(const TlsConfig& tls);

  Result<Done> listen(UniqueFd socket);

  // Handles the requests that wait. Must not be called from within the handler.
  void answer_waiting();

 private:
  class Listener;
  struct Shared;
  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Listener>> listeners_;
};

}  // namespace keplerd::exporter::http
