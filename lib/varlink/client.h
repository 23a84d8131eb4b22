// SPDX-License-Identifier: Apache-2.0
// A small blocking varlink client over AF_UNIX, for programs that ask one thing at a time. fd() may be
// watched by an event loop; receive() then takes what has come, and has_reply() says whether more of it is
// here already.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "varlink/json.h"
#include "varlink/message.h"  // ClientReply

namespace keplerd::varlink {

class Client {
 public:
  // ADDRESS: a path, or "unix:PATH". Errors say what an administrator needs: no such socket, refused, no
  // permission.
  static Result<Client> connect(const std::string& address);

  // Sends a call: "org.keplerd.Energy.GetStatus".
  Result<Done> send(std::string_view method, Json parameters, bool more = false);

  // The next reply; waits at most `timeout` (unset: for ever; 0: not at all). No reply in time is an error
  // with the code ETIMEDOUT, after which one may go on to receive(); the daemon going away is one with
  // ECONNRESET.
  Result<ClientReply> receive(std::optional<std::chrono::milliseconds> timeout = std::chrono::seconds(45));

  // send() and receive().
  Result<ClientReply> call(std::string_view method, Json parameters);

  // A whole reply is here: receive() will not wait, and fd() need not become readable.
  bool has_reply() const { return received_.has_message(); }

  int fd() const { return socket_.get(); }

 private:
  explicit Client(UniqueFd socket);

  UniqueFd socket_;
  Framer received_;
};

}  // namespace keplerd::varlink
