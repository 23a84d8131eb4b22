// SPDX-License-Identifier: Apache-2.0
// Who the clients on the bus are. The bus is asked at the first message of each, and polkit when one without
// full access calls a method; what they said is forgotten when the client leaves.
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
  // `questions`: another connection to the same bus, for what is waited for. Both and `reports` must outlive
  // it. `left` is called for clients that left the bus.
  Callers(sdbus::IConnection& connection, sdbus::IConnection& questions, const Reports& reports,
          std::function<void(const std::string& client)> left);
  ~Callers();
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // By its unique name. Waits for the bus where the client is new, a second at most and, where that was not
  // enough, not again for ten: then it throws Timeout. Throws NotSupported where the client has left. One of
  // which the bus does not say who it is, is nobody.
  Caller caller(const std::string& client);

  // Calls `then` with what polkit makes of the client (org.keplerd1.read-details): at once where that is
  // known, else when it has answered. `interactive`: polkit may ask the user for a password. `then` must not
  // throw; where the client leaves before, it is not called. Throws LimitsExceeded where too many calls wait.
  using Then = std::function<void(const Caller& caller)>;
  void authorize(const std::string& client, bool interactive, Then then);

  // Where there is nobody to wait for, it is not told any more who leaves. Not within a handler.
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
  std::string left_client_;  // the last that had left when it was asked for: many calls of it may follow
  std::optional<Authorizations::Time> bus_hung_;  // when it last did not answer in time
  Authorizations authorizations_;
  std::map<Question, std::vector<Then>> waiting_;
  sdbus::Slot leaving_;  // the match that tells who leaves the bus; while there are clients
};

}  // namespace keplerd::dbus
