// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/callers.h"

#include <optional>
#include <string>
#include <utility>

#include "daemon/publish/dbus/names.h"

namespace keplerd::dbus {
namespace {

using std::chrono::steady_clock;
using Dictionary = std::map<std::string, sdbus::Variant>;

constexpr char kBus[] = "org.freedesktop.DBus";
constexpr char kBusPath[] = "/org/freedesktop/DBus";

// Only connection names vanish for good, so arg2, the new owner, is empty.
constexpr char kSomebodyLeft[] =
    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
    "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''";

// polkit (Authority interface, CheckAuthorization).
constexpr char kPolkit[] = "org.freedesktop.PolicyKit1";
constexpr char kPolkitPath[] = "/org/freedesktop/PolicyKit1/Authority";
constexpr char kPolkitInterface[] = "org.freedesktop.PolicyKit1.Authority";
constexpr char kAction[] = "org.keplerd1.read-details";
constexpr std::uint32_t kAllowUserInteraction = 1;
// How long the loop waits for the bus. A bus that has not answered by then hangs, and is not called again for
// a while. (Opening another connection would end all subscriptions.)
constexpr auto kPatienceWithBus = std::chrono::seconds(1);
constexpr auto kHangHolds = std::chrono::seconds(10);
constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kPatienceWithUsers = std::chrono::minutes(5);

// Sent on this connection to the bus: polkit distinguishes connections.
std::string cancellation_id(Authorizations::Question question) {
  return "keplerd-" + std::to_string(question);
}

sdbus::Error hung_bus() {
  return make_error(kTimeout, "the message bus did not identify the caller in time: try again later");
}

// Nobody receives this error.
sdbus::Error gone() { return make_error(kNotSupported, "the client has left the bus"); }

// The errors by which libsystemd reports a call without a reply.
bool is_timeout(const sdbus::Error& error) {
  const std::string name = error.getName();
  return name == "org.freedesktop.DBus.Error.NoReply" || name == "org.freedesktop.DBus.Error.Timeout";
}

template <class T>
std::optional<T> get(const Dictionary& dictionary, const char* key) {
  const auto entry = dictionary.find(key);
  if (entry == dictionary.end() || !entry->second.containsValueOfType<T>()) return std::nullopt;
  return entry->second.get<T>();
}

}  // namespace

Callers::Callers(sdbus::IConnection& connection, sdbus::IConnection& questions, const Reports& reports,
                 std::function<void(const std::string& client)> left)
    : questions_(questions),
      reports_(reports),
      left_(std::move(left)),
      bus_(make_proxy(questions, kBus, kBusPath)),
      polkit_(make_proxy(connection, kPolkit, kPolkitPath)) {
  questions_.setMethodCallTimeout(kPatienceWithBus);
}

Callers::~Callers() = default;

Caller Callers::caller(const std::string& client) {
  const auto known = clients_.find(client);
  if (known != clients_.end()) return known->second;
  if (client == left_client_) throw gone();
  if (bus_hung_ && steady_clock::now() - *bus_hung_ < kHangHolds) throw hung_bus();
  try {
    watch();  // first, so that its leaving is not missed
    return clients_[client] = ask_bus(client);
  } catch (const sdbus::Error& error) {
    clients_.erase(client);
    if (error.getName() == kNameHasNoOwner) {
      left_client_ = client;
      throw gone();
    }
    if (!is_timeout(error)) return {};
    bus_hung_ = steady_clock::now();
    throw hung_bus();
  }
}

void Callers::watch() {
  if (leaving_) return;
  leaving_ = add_match(questions_, kSomebodyLeft, [this](auto&& message) {
    std::string name;
    message >> name;
    forget(name);
    left_(name);
  });
}

void Callers::forget(const std::string& client) {
  clients_.erase(client);
  for (const Question question : authorizations_.left(client)) {
    waiting_.erase(question);
    cancel(question);
  }
}

Caller Callers::ask_bus(const std::string& client) {
  Dictionary credentials;
  bus_->callMethod("GetConnectionCredentials")
      .onInterface(kBus)
      .withArguments(client)
      .storeResultsTo(credentials);
  const auto user = get<std::uint32_t>(credentials, "UnixUserID");
  if (!user) return {};
  return reports_.identify(
      *user, get<std::vector<std::uint32_t>>(credentials, "UnixGroupIDs").value_or(std::vector<gid_t>{}));
}

void Callers::authorize(const std::string& client, bool interactive, Then then) {
  const auto entry = clients_.find(client);
  if (entry == clients_.end()) return then({});
  const Caller& known = entry->second;
  if (known.full) return then(known);
  const auto decision = authorizations_.call(client, known.payer(), interactive, steady_clock::now());
  switch (decision.step) {
    case Authorizations::Step::kAnswer:
      return then(known);
    case Authorizations::Step::kTooMany:
      throw make_error(kLimitsExceeded, "too many calls are waiting for polkit: wait for their replies");
    case Authorizations::Step::kWait:
    case Authorizations::Step::kAsk:
      break;
  }
  waiting_[decision.question].push_back(std::move(then));
  if (decision.step == Authorizations::Step::kAsk)
    ask_polkit(client, decision.question, decision.interactive);
}

void Callers::ask_polkit(const std::string& client, Question question, bool interactive) {
  using Subject = sdbus::Struct<std::string, Dictionary>;
  using Authorization = sdbus::Struct<bool, bool, std::map<std::string, std::string>>;
  const Subject subject{std::string("system-bus-name"), Dictionary{{"name", sdbus::Variant(client)}}};
  const std::map<std::string, std::string> details;
  const auto patience = interactive ? std::chrono::seconds(kPatienceWithUsers) : kPatience;
  polkit_->callMethodAsync("CheckAuthorization")
      .onInterface(kPolkitInterface)
      .withTimeout(patience)
      .withArguments(subject, std::string(kAction), details, interactive ? kAllowUserInteraction : 0U,
                     cancellation_id(question))
      .uponReplyInvoke([this, question](AsyncError error, const Authorization& authorization) {
        on_answer(question, !error && std::get<0>(authorization));
        if (error && is_timeout(*error)) cancel(question);
      });
}

// Without polkit, the answer is an error: not authorized.
void Callers::on_answer(Question question, bool authorized) {
  const auto client = authorizations_.answered(question, authorized, steady_clock::now());
  if (!client) return;
  Caller& known = clients_.at(*client);
  known.full = known.full || authorized;
  const Caller caller = known;
  const auto waiting = waiting_.extract(question);
  for (const Then& then : waiting.mapped()) then(caller);
}

// Otherwise, the user would still be asked for a password that is no longer needed.
void Callers::cancel(Question question) {
  polkit_->callMethod("CancelCheckAuthorization")
      .onInterface(kPolkitInterface)
      .withArguments(cancellation_id(question))
      .dontExpectReply();
}

}  // namespace keplerd::dbus
