// SPDX-License-Identifier: Apache-2.0
// A small blocking varlink client over AF_UNIX, for programs with one request at a time. An event loop may
// watch fd(); receive() then reads what has arrived, and has_reply() says whether another reply is already
// available.
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
  // What to do if the daemon has not accepted earlier clients yet.
  enum class IfBusy { kWait, kFail };

  // ADDRESS: a path, or "unix:PATH". Errors state what an administrator needs to know: no such socket,
  // refused, no permission. Waits for five seconds at most.
  static Result<Client> connect(const std::string& address, IfBusy if_busy = IfBusy::kWait);

  // Sends a call: "org.keplerd.Energy.GetStatus".
  Result<Done> send(std::string_view method, Json parameters, bool more = false);

  // Returns the next reply; waits at most `timeout` (unset: for ever; 0: not at all). No reply in time is an
  // error with the code ETIMEDOUT, after which receive() may be called again; if the daemon goes away, the
  // code is ECONNRESET.
  Result<ClientReply> receive(std::optional<std::chrono::milliseconds> timeout = std::chrono::seconds(45));

  // send() and receive().
  Result<ClientReply> call(std::string_view method, Json parameters);

  // A whole reply is available: receive() will not wait, and fd() need not become readable.
  bool has_reply() const { return received_.has_message(); }

  int fd() const { return socket_.get(); }

 private:
  explicit Client(UniqueFd socket);

  UniqueFd socket_;
  Framer received_;
};

}  // namespace keplerd::varlink
