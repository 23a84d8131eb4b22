// SPDX-License-Identifier: Apache-2.0
// Who the clients on the bus are. The bus is asked at the first message of each, and polkit when one without
// full access calls a method; what they said is forgotten when the client leaves.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/reports.h"

namespace keplerd::dbus {

class Callers {
 public:
  // `reports` must outlive it. `left` is told of clients that left the bus.
  Callers(sdbus::IConnection& connection, const Reports& reports,
          std::function<void(const std::string& client)> left);
  ~Callers();
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // By its unique name. Waits for the bus where the client is new. One that the bus does not tell is nobody.
  Caller caller(const std::string& client);

  // Calls `then` with what polkit makes of the client (org.keplerd1.read-details): at once where that is
  // known, else when it has answered. `interactive`: polkit may ask the user for a password. `then` must not
  // throw; where the client leaves before, it is not called.
  using Then = std::function<void(const Caller& caller)>;
  void authorize(const std::string& client, bool interactive, Then then);

  // Where there is nobody to wait for, it is not told any more who leaves. Not within a handler.
  void rest() {
    if (clients_.empty()) leaving_.reset();
  }

 private:
  struct Client {
    Caller caller;
    std::optional<std::chrono::steady_clock::time_point> refused;  // by polkit, the last time
    std::vector<Then> waiting[2];  // for polkit; the second: which may ask the user
  };
  using Clients = std::map<std::string, Client>;

  void watch();
  Caller ask_bus(const std::string& client);
  void ask_polkit(const std::string& client, bool interactive);
  void on_answer(const std::string& client, bool interactive, bool authorized);

  sdbus::IConnection& connection_;
  const Reports& reports_;
  std::function<void(const std::string&)> left_;
  std::unique_ptr<sdbus::IProxy> bus_, polkit_;
  Clients clients_;      // by unique name
  sdbus::Slot leaving_;  // the match that tells who leaves the bus; while there are clients
};

}  // namespace keplerd::dbus
