// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/subscriptions.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "daemon/publish/dbus/names.h"
#include "daemon/publish/dbus/rows.h"

namespace keplerd::dbus {
namespace {

constexpr std::size_t kMostOfOneClient = 16;
constexpr std::size_t kMostInAll = 256;
constexpr std::size_t kMostOfLimited = 128;  // for all clients without full access
constexpr auto kPatience = std::chrono::seconds(30);

// Errors that mean that the client cannot be reached: it is gone, or does not read, or must not be called.
// Any other error is a reply.
bool is_answer(std::string_view error) {
  constexpr std::array<std::string_view, 8> kNoAnswer = {"ServiceUnknown", "NameHasNoOwner", "NoReply",
                                                         "Timeout",        "TimedOut",       "AccessDenied",
                                                         "LimitsExceeded", "Disconnected"};
  constexpr std::string_view kPrefix = "org.freedesktop.DBus.Error.";
  if (!error.starts_with(kPrefix)) return true;
  return std::ranges::find(kNoAnswer, error.substr(kPrefix.size())) == kNoAnswer.end();
}

struct Subscription {
  std::uint64_t id;
  ChangeTracker tracker;
  std::shared_ptr<const Listener> listening;
};

}  // namespace

struct Subscriptions::Client : FairQueue::Client {
  std::string name;
  Caller caller;
  std::unique_ptr<sdbus::IProxy> proxy;
  std::vector<Subscription> subscriptions;
  bool awaited = false;   // it has not acknowledged the last signal yet
  bool given_up = false;  // it did not in time
  bool denied = false;    // it may no longer see anything
  bool left = false;      // it has left the bus
  Subscriptions* owner = nullptr;
  std::optional<FairQueue::Place> place;  // if it has limited access

  void step(const FairQueue::Slice&) override {
    owner->limited_.attempt([this] { owner->deliver_to(*this); });
  }

  // The kind of rows for which its views are requested: processes if it subscribes to them.
  std::optional<RowKind> kind() const {
    const bool any = std::ranges::any_of(subscriptions, [](const Subscription& subscription) {
      const auto& kinds = subscription.tracker.options().kinds;
      return std::ranges::find(kinds, RowKind::kProcesses) != kinds.end();
    });
    return any ? std::optional(RowKind::kProcesses) : std::nullopt;
  }
};

Subscriptions::Subscriptions(sdbus::IConnection& connection, sdbus::IObject& object, Request& request,
                             LimitedWork& limited, std::uint64_t& last_id)
    : connection_(connection), object_(object), request_(request), limited_(limited), last_id_(last_id) {}

Subscriptions::~Subscriptions() = default;

void Subscriptions::check_place(const std::string& client, const Caller& caller) const {
  std::size_t of_client = 0, of_limited = 0;
  for (const auto& [name, other] : clients_) {
    const std::size_t its = other->subscriptions.size();
    const bool same_login = !caller.full && !other->caller.full && other->caller.account == caller.account;
    if (name == client || same_login) of_client += its;
    if (!other->caller.full) of_limited += its;
  }
  const auto refuse = [](std::size_t most, const char* whom) {
    throw make_error(kTooManySubscriptions, "no more than " + std::to_string(most) + whom);
  };
  if (count_ >= kMostInAll) refuse(kMostInAll, " in all");
  if (of_client >= kMostOfOneClient)
    refuse(kMostOfOneClient, caller.full ? " for one client" : " for one user");
  if (!caller.full && of_limited >= kMostOfLimited) refuse(kMostOfLimited, " of users without full access");
}

std::uint64_t Subscriptions::add(Request& request, SubscribeOptions options) {
  const std::string& client = request.sender().name;
  const Caller& caller = request.sender().caller;
  check_place(client, caller);
  std::optional<RowKind> kind;
  if (std::ranges::find(options.kinds, RowKind::kProcesses) != options.kinds.end())
    kind = RowKind::kProcesses;
  if (kind) request.with(*kind);  // the first signal is of a sample that has them all
  auto known = clients_.find(client);
  if (known == clients_.end()) {
    auto made = std::make_unique<Client>();
    made->name = client;
    made->owner = this;
    made->proxy = make_proxy(connection_, client, "/");
    known = clients_.emplace(client, std::move(made)).first;
  }
  const auto& entry = known->second;
  entry->caller = caller;
  caller.full ? entry->place.reset() : void(entry->place.emplace(limited_.queue(), caller.account, *entry));
  entry->subscriptions.push_back(
      {++last_id_, ChangeTracker(options, request.orders()), request.listen(options.interval, kind)});
  ++count_;
  some_due_ = true;
  return last_id_;
}

void Subscriptions::remove(const std::string& client, std::uint64_t id) {
  const auto known = clients_.find(client);
  const auto ended = known == clients_.end() ? 0
                                             : std::erase_if(known->second->subscriptions,
                                                             [&](const auto& its) { return its.id == id; });
  if (ended == 0)
    throw make_error(kNoSuchSubscription, "no subscription " + std::to_string(id) + " of this client");
  count_ -= ended;
  some_due_ = true;
}

void Subscriptions::left(const std::string& client) {
  const auto known = clients_.find(client);
  if (known == clients_.end()) return;
  known->second->left = true;
  some_due_ = true;
}

void Subscriptions::deliver() {
  if (!std::exchange(some_due_, false)) return;
  ended_.clear();
  for (auto position = clients_.begin(); position != clients_.end();) {
    Client& client = *position->second;
    // A client without subscriptions is kept until it has acknowledged what was sent: else it could have
    // reports sent again and again by resubscribing.
    client.denied = !request_.latest(client.caller);
    if (client.left || client.given_up || client.denied ||
        (client.subscriptions.empty() && !client.awaited)) {
      drop(position++);
      continue;
    }
    ++position;
    if (client.awaited) continue;
    client.place ? client.place->request() : deliver_to(client);
  }
  ended_.clear();
}

void Subscriptions::deliver_to(Client& client) {
  const auto latest = request_.latest(client.caller, client.kind());
  if (!latest || client.awaited) return;
  bool sent = false;
  for (Subscription& subscription : client.subscriptions) {
    const auto changes = subscription.tracker.next(latest);
    if (!changes) continue;
    send(subscription.id, client.name, *changes, subscription.tracker.options().details);
    sent = true;
  }
  if (sent) ping(client);
}

void Subscriptions::send(std::uint64_t id, const std::string& client, const Changes& changes, bool details) {
  const Report& report = *changes.view.report;
  std::map<std::string, sdbus::Variant> extras;
  extras.emplace("instanceId", sdbus::Variant(report.instance_id));
  if (changes.partial) extras.emplace("partial", sdbus::Variant(true));
  if (!changes.events.empty()) extras.emplace("events", sdbus::Variant(event_rows(changes.events)));
  auto signal = make_signal(object_, kManagerInterface, "Report");
  signal.setDestination(client);
  signal << id << report.sequence << number(report.realtime) << usec(report.monotonic) << usec(report.window)
         << host_numbers(report.host) << account_numbers(report) << make_rows(changes, details) << extras;
  signal.send();
}

void Subscriptions::ping(Client& client) {
  client.awaited = true;
  client.proxy->callMethodAsync("Ping")
      .onInterface("org.freedesktop.DBus.Peer")
      .withTimeout(kPatience)
      .uponReplyInvoke([this, &client](AsyncError error) { on_answer(client, error); });
}

// Called within a handler of the client's proxy: objects to destroy are left to deliver().
void Subscriptions::on_answer(Client& client, AsyncError error) {
  some_due_ = true;
  client.awaited = false;
  client.given_up = error && !is_answer(error->getName());
}

void Subscriptions::drop(Clients::iterator position) {
  Client& client = *position->second;
  count_ -= client.subscriptions.size();
  for (const Subscription& subscription : client.subscriptions) {
    if (client.left) break;
    auto signal = make_signal(object_, kManagerInterface, "SubscriptionEnded");
    signal.setDestination(client.name);
    signal << subscription.id << std::string(client.denied ? "denied" : "unresponsive");
    signal.send();
  }
  ended_.push_back(std::move(position->second));
  clients_.erase(position);
}

}  // namespace keplerd::dbus
