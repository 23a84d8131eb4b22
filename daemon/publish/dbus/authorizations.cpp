// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/authorizations.h"

#include <utility>

namespace keplerd::dbus {
namespace {

bool holds(const std::optional<Authorizations::Time>& refused, Authorizations::Time now) {
  return refused && now - *refused < Authorizations::kRefusalHolds;
}

}  // namespace

Authorizations::Decision Authorizations::call(const std::string& client, std::uint64_t user, bool interactive,
                                              Time now) {
  User& its_user = known_user(user, now);
  Client& known = clients_[client];
  // Even then, a polkit rule may authorize the client.
  if (holds(its_user.refused, now) || (its_user.interactive && !known.asked[true])) interactive = false;
  if (!interactive && holds(known.refused, now)) return {};
  std::optional<Question>& asked = known.asked[interactive];
  if (!asked && (its_user.questions >= kMostQuestionsOfUser || questions_.size() >= kMostQuestions))
    return {};
  if (known.calls >= kMostCallsOfClient || its_user.calls >= kMostCallsOfUser || calls_ >= kMostCalls)
    return {.step = Step::kTooMany};
  const Step step = asked ? Step::kWait : Step::kAsk;
  if (!asked) {
    asked = ++last_;
    questions_.emplace(last_, Asked{.client = client, .user = user, .interactive = interactive});
    ++its_user.questions;
    its_user.interactive = its_user.interactive || interactive;
  }
  ++questions_.at(*asked).calls;
  ++known.calls;
  ++its_user.calls;
  ++calls_;
  return {.step = step, .question = *asked, .interactive = interactive};
}

std::optional<std::string> Authorizations::answered(Question question, bool authorized, Time now) {
  const auto node = questions_.extract(question);
  if (node.empty()) return std::nullopt;
  const Asked& asked = node.mapped();
  User& user = users_.at(asked.user);
  --user.questions;
  if (asked.interactive) {
    user.interactive = false;
    if (!authorized) user.refused = now;
  }
  if (!asked.client) return std::nullopt;
  user.calls -= asked.calls;
  calls_ -= asked.calls;
  Client& client = clients_.at(*asked.client);
  client.calls -= asked.calls;
  client.asked[asked.interactive].reset();
  if (!authorized) client.refused = now;
  return asked.client;
}

std::vector<Authorizations::Question> Authorizations::left(const std::string& client) {
  const auto node = clients_.extract(client);
  std::vector<Question> abandoned;
  if (node.empty()) return abandoned;
  for (const std::optional<Question>& question : node.mapped().asked) {
    if (!question) continue;
    Asked& asked = questions_.at(*question);
    users_.at(asked.user).calls -= asked.calls;
    calls_ -= std::exchange(asked.calls, 0);
    asked.client.reset();
    abandoned.push_back(*question);
  }
  return abandoned;
}

// Users without any state are dropped when another one appears.
Authorizations::User& Authorizations::known_user(std::uint64_t user, Time now) {
  const auto known = users_.find(user);
  if (known != users_.end()) return known->second;
  std::erase_if(users_, [now](const auto& entry) {
    return entry.second.questions == 0 && !holds(entry.second.refused, now);
  });
  return users_[user];
}

}  // namespace keplerd::dbus
