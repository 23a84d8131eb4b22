// SPDX-License-Identifier: Apache-2.0
// Identifies the clients on the bus. The bus is queried at the first message of each, and polkit when one
// without full access calls a method; the answers are dropped when the client leaves.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/publish/dbus/authorizations.h"
#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/reports.h"

namespace keplerd::dbus {

class Callers {
 public:
  // `questions`: another connection to the same bus, for synchronous calls. Both and `reports` must outlive
  // it. `left` is called for clients that have left the bus.
  Callers(sdbus::IConnection& connection, sdbus::IConnection& questions, const Reports& reports,
          std::function<void(const std::string& client)> left);
  ~Callers();
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // Looks up a client by its unique name. For a new client this waits for the bus, at most a second and, if
  // that was not enough, not again for ten: then it throws Timeout. Throws NotSupported if the client has
  // left. A client that the bus does not identify is an unknown caller.
  Caller caller(const std::string& client);

  // Calls `then` with polkit's answer for the client (org.keplerd1.read-details): at once if it is known,
  // else when it arrives. `interactive`: polkit may ask the user for a password. `then` must not throw; it is
  // not called if the client leaves first. Throws LimitsExceeded if too many calls wait.
  using Then = std::function<void(const Caller& caller)>;
  void authorize(const std::string& client, bool interactive, Then then);

  // Stops watching who leaves when there are no clients left. Must not be called within a handler.
  void rest() {
    if (clients_.empty()) leaving_.reset();
  }

 private:
  using Question = Authorizations::Question;

  void watch();
  Caller ask_bus(const std::string& client);
  void ask_polkit(const std::string& client, Question question, bool interactive);
  void on_answer(Question question, bool authorized);
  void cancel(Question question);
  void forget(const std::string& client);

  sdbus::IConnection& questions_;
  const Reports& reports_;
  std::function<void(const std::string&)> left_;
  std::unique_ptr<sdbus::IProxy> bus_, polkit_;
  std::map<std::string, Caller> clients_;  // by unique name
  std::string left_client_;  // the last that was found to have left: it may have sent many calls
  std::optional<Authorizations::Time> bus_hung_;  // when it last failed to answer in time
  Authorizations authorizations_;
  std::map<Question, std::vector<Then>> waiting_;
  sdbus::Slot leaving_;  // the match for names that leave the bus; while there are clients
};

}  // namespace keplerd::dbus
