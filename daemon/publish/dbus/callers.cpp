// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/callers.h"

#include <utility>

#include "daemon/publish/dbus/names.h"

namespace keplerd::dbus {
namespace {

using std::chrono::steady_clock;
using Dictionary = std::map<std::string, sdbus::Variant>;

constexpr char kBus[] = "org.freedesktop.DBus";
constexpr char kBusPath[] = "/org/freedesktop/DBus";

// Only names of connections leave for good, so arg2, the new owner, is empty.
constexpr char kSomebodyLeft[] =
    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
    "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''";

// polkit (Authority interface, CheckAuthorization).
constexpr char kPolkit[] = "org.freedesktop.PolicyKit1";
constexpr char kPolkitPath[] = "/org/freedesktop/PolicyKit1/Authority";
constexpr char kPolkitInterface[] = "org.freedesktop.PolicyKit1.Authority";
constexpr char kAction[] = "org.keplerd1.read-details";
constexpr std::uint32_t kAllowUserInteraction = 1;
constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kPatienceWithUsers = std::chrono::minutes(5);
// A refusal holds so long: a client that asks a thousand times a second does not make polkit do so.
constexpr auto kRefusalHolds = std::chrono::seconds(10);

template <class T>
std::optional<T> get(const Dictionary& dictionary, const char* key) {
  const auto entry = dictionary.find(key);
  if (entry == dictionary.end() || !entry->second.containsValueOfType<T>()) return std::nullopt;
  return entry->second.get<T>();
}

}  // namespace

Callers::Callers(sdbus::IConnection& connection, const Reports& reports,
                 std::function<void(const std::string& client)> left)
    : connection_(connection),
      reports_(reports),
      left_(std::move(left)),
      bus_(make_proxy(connection, kBus, kBusPath)),
      polkit_(make_proxy(connection, kPolkit, kPolkitPath)) {}

Callers::~Callers() = default;

Caller Callers::caller(const std::string& client) {
  const auto known = clients_.find(client);
  if (known != clients_.end()) return known->second.caller;
  watch();  // first, so that its end is not missed
  try {
    return clients_[client].caller = ask_bus(client);
  } catch (const sdbus::Error&) {  // it has left already, or the bus does not know
    clients_.erase(client);
    return {};
  }
}

void Callers::watch() {
  if (leaving_) return;
  leaving_ = add_match(connection_, kSomebodyLeft, [this](auto&& message) {
    std::string name;
    message >> name;
    clients_.erase(name);
    left_(name);
  });
}

Caller Callers::ask_bus(const std::string& client) {
  Dictionary credentials;
  bus_->callMethod("GetConnectionCredentials")
      .onInterface(kBus)
      .withTimeout(kPatience)
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
  Client& known = entry->second;
  const bool refused = known.refused && steady_clock::now() - *known.refused < kRefusalHolds;
  if (known.caller.full || (refused && !interactive)) return then(known.caller);
  known.waiting[interactive].push_back(std::move(then));
  if (known.waiting[interactive].size() == 1) ask_polkit(client, interactive);
}

void Callers::ask_polkit(const std::string& client, bool interactive) {
  using Subject = sdbus::Struct<std::string, Dictionary>;
  using Authorization = sdbus::Struct<bool, bool, std::map<std::string, std::string>>;
  const Subject subject{std::string("system-bus-name"), Dictionary{{"name", sdbus::Variant(client)}}};
  const std::map<std::string, std::string> details;
  const auto patience = interactive ? std::chrono::seconds(kPatienceWithUsers) : kPatience;
  polkit_->callMethodAsync("CheckAuthorization")
      .onInterface(kPolkitInterface)
      .withTimeout(patience)
      .withArguments(subject, std::string(kAction), details, interactive ? kAllowUserInteraction : 0U,
                     std::string())
      .uponReplyInvoke([this, client, interactive](AsyncError error, const Authorization& authorization) {
        on_answer(client, interactive, !error && std::get<0>(authorization));
      });
}

// Where there is no polkit, the answer is an error: not authorized.
void Callers::on_answer(const std::string& client, bool interactive, bool authorized) {
  const auto entry = clients_.find(client);
  if (entry == clients_.end()) return;
  Client& known = entry->second;
  known.caller.full = known.caller.full || authorized;
  if (!authorized) known.refused = steady_clock::now();
  const Caller caller = known.caller;
  for (const Then& then : std::exchange(known.waiting[interactive], {})) then(caller);
}

}  // namespace keplerd::dbus
