// SPDX-License-Identifier: Apache-2.0
// A small blocking varlink client over AF_UNIX, for programs that ask one thing at a time. fd() may be watched by an
// event loop; receive() then takes what has come.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "varlink/json.h"

namespace keplerd::varlink {

struct ClientReply {
  Json parameters;
  std::string error;       // full name; empty: no error
  bool continues = false;  // more replies follow
};

class Client {
 public:
  // ADDRESS: a path, or "unix:PATH". Errors say what an administrator needs: no such socket, refused, no permission.
  static Result<Client> connect(const std::string& address);

  // Sends a call: "org.keplerd.Energy.GetStatus".
  Result<Done> send(std::string_view method, Json parameters, bool more = false);

  // The next reply; waits at most `timeout` (unset: for ever). The daemon going away is an error.
  Result<ClientReply> receive(std::optional<std::chrono::milliseconds> timeout = std::chrono::seconds(45));

  // send() and receive().
  Result<ClientReply> call(std::string_view method, Json parameters);

  int fd() const { return socket_.get(); }

 private:
  explicit Client(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
  std::string received_;   // bytes that came and were not yet returned
};

}  // namespace keplerd::varlink
