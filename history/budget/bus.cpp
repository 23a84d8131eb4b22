// SPDX-License-Identifier: Apache-2.0
#include "history/budget/bus.h"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

#include <systemd/sd-bus.h>

#include "base/text.h"
#include "event/stderr_log.h"

namespace keplerd::history {

using namespace stderr_log;

namespace {

constexpr const char* kName = "org.keplerd1.History";
constexpr const char* kPath = "/org/keplerd1/History";
constexpr const char* kInterface = "org.keplerd1.History";
constexpr const char* kManager = "org.freedesktop.systemd1";
constexpr const char* kManagerPath = "/org/freedesktop/systemd1";
constexpr const char* kManagerInterface = "org.freedesktop.systemd1.Manager";
constexpr const char* kNoSuchUnit = "org.freedesktop.systemd1.NoSuchUnit";
// polkit and systemd answer in milliseconds.
constexpr std::chrono::microseconds kPatience = std::chrono::seconds(10);

int on_list_budgets(sd_bus_message* call, void* bus, sd_bus_error*) {
  try {
    return static_cast<Bus*>(bus)->answer(call);
  } catch (const std::exception&) {  // must not reach sd-bus
    return -ENOMEM;
  }
}

// As in dbus/org.keplerd1.History.xml.
constexpr sd_bus_vtable kMembers[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD_WITH_NAMES("ListBudgets", "", , "a(sstttts)", SD_BUS_PARAM(budgets), on_list_budgets,
                             SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL_WITH_NAMES("BudgetCrossed", "sutttt",
                             SD_BUS_PARAM(budget) SD_BUS_PARAM(percent) SD_BUS_PARAM(usedMicrojoules)
                                 SD_BUS_PARAM(limitMicrojoules) SD_BUS_PARAM(fromUsec) SD_BUS_PARAM(toUsec),
                             0),
    SD_BUS_VTABLE_END};

std::uint64_t number(Microjoules energy) { return static_cast<std::uint64_t>(energy.value); }
std::uint64_t number(Time time) { return static_cast<std::uint64_t>(time.count()); }

std::string reason_of(const sd_bus_error& error) {
  return escape_name(error.message ? error.message : error.name);
}

int on_name(sd_bus_message* reply, void* bus, sd_bus_error*) {
  constexpr std::uint32_t kOwner = 1, kAlreadyOwner = 4;  // org.freedesktop.DBus.RequestName
  const sd_bus_error* const error = sd_bus_message_get_error(reply);
  std::uint32_t answer = 0;
  if (error == nullptr) (void)sd_bus_message_read(reply, "u", &answer);
  const bool is_owned = answer == kOwner || answer == kAlreadyOwner;
  if (!is_owned)
    log_warning("no name on D-Bus: " + (error != nullptr ? reason_of(*error) : "another program has it"));
  static_cast<Bus*>(bus)->take_name(is_owned);
  return 1;
}

// A floating slot, which lives until the answer or the end of the connection, takes `data` with it.
template <class Data>
Result<Done> keep_until_answered(int result, sd_bus_slot* slot, std::unique_ptr<Data> data) {
  if (result < 0) return system_error("D-Bus", -result);
  (void)sd_bus_slot_set_destroy_callback(slot, [](void* kept) { delete static_cast<Data*>(kept); });
  (void)data.release();
  (void)sd_bus_slot_set_floating(slot, 1);
  sd_bus_slot_unref(slot);
  return Done{};
}

struct Starting {
  std::string unit;
  Bus::Started done;
};

int on_started(sd_bus_message* reply, void* starting, sd_bus_error*) {
  const auto& [unit, done] = *static_cast<Starting*>(starting);
  const sd_bus_error* const error = sd_bus_message_get_error(reply);
  if (error == nullptr) {
    done(unit, true);
  } else if (sd_bus_error_has_name(error, kNoSuchUnit)) {
    done(unit, false);
  } else {
    done(unit, Error{reason_of(*error)});
  }
  return 1;
}

// Of the only unit in the reply of ListUnitsByNames. If systemd does not answer, starting it shows why.
bool is_inactive(sd_bus_message* reply) {
  const char *text[6] = {}, *path = nullptr;
  std::uint32_t job = 0;
  if (sd_bus_message_is_method_error(reply, nullptr) > 0) return true;
  if (sd_bus_message_enter_container(reply, 'a', "(ssssssouso)") <= 0 ||
      sd_bus_message_enter_container(reply, 'r', "ssssssouso") <= 0 ||
      sd_bus_message_read(reply, "ssssssou", &text[0], &text[1], &text[2], &text[3], &text[4], &text[5],
                          &path, &job) <= 0)
    return true;
  const std::string_view active(text[3]);
  return job == 0 && (active == "inactive" || active == "failed");
}

int on_checked(sd_bus_message* reply, void* done, sd_bus_error*) {
  (*static_cast<Bus::Checked*>(done))(is_inactive(reply));
  return 1;
}

int open_bus(const std::string& address, sd_bus** bus) {
  if (address == "system") return sd_bus_open_system(bus);
  int result = sd_bus_new(bus);
  if (result >= 0) result = sd_bus_set_address(*bus, address.c_str());
  if (result >= 0) result = sd_bus_set_bus_client(*bus, 1);
  return result < 0 ? result : sd_bus_start(*bus);
}

Result<Done> result_of(int code) {
  if (code < 0) return system_error("D-Bus", -code);
  return Done{};
}

}  // namespace

void Bus::Close::operator()(sd_bus* bus) const {
  sd_bus_detach_event(bus);
  sd_bus_close_unref(bus);
}

Bus::Bus(sd_event* event, std::string address, List list)
    : event_(sd_event_ref(event)), address_(std::move(address)), list_(std::move(list)) {}

Bus::~Bus() {
  bus_.reset();
  sd_event_unref(event_);
}

Result<Done> Bus::connect() {
  if (bus_ && sd_bus_is_open(bus_.get()) > 0) return Done{};
  sd_bus* opened = nullptr;
  name_ = Name::kRequested;
  int result = open_bus(address_, &opened);
  bus_.reset(opened);
  if (result >= 0) result = sd_bus_set_method_call_timeout(opened, kPatience.count());
  if (result >= 0) result = sd_bus_add_object_vtable(opened, nullptr, kPath, kInterface, kMembers, this);
  if (result >= 0) result = sd_bus_request_name_async(opened, nullptr, kName, 0, on_name, this);
  if (result >= 0) result = sd_bus_attach_event(opened, event_, SD_EVENT_PRIORITY_NORMAL);
  if (result < 0) bus_.reset();
  return result_of(result);
}

Result<Done> Bus::announce(const BudgetUse& use, int percent) {
  if (const auto connected = connect(); !connected) return connected;
  if (name_ == Name::kOwned) return emit({use, percent});
  if (name_ == Name::kRefused) return Done{};  // has been logged
  constexpr std::size_t kMost = 1000;          // a bus that never answers
  if (waiting_.size() < kMost) waiting_.push_back({use, percent});
  return Done{};
}

void Bus::take_name(bool is_owned) {
  name_ = is_owned ? Name::kOwned : Name::kRefused;
  for (const Crossing& crossing : std::exchange(waiting_, {})) {
    if (const auto sent = announce(crossing.use, crossing.percent); !sent)
      log_warning("the crossing of a budget cannot be announced: " + sent.error().message);
  }
}

Result<Done> Bus::emit(const Crossing& crossing) {
  const auto& [use, percent] = crossing;
  return result_of(sd_bus_emit_signal(bus_.get(), kPath, kInterface, "BudgetCrossed", "sutttt",
                                      use.budget.text.c_str(), static_cast<std::uint32_t>(percent),
                                      number(use.used), number(use.budget.limit), number(use.period.start),
                                      number(use.period.end)));
}

Result<Done> Bus::check_unit(const std::string& unit, Checked done) {
  if (const auto connected = connect(); !connected) return connected;
  sd_bus_slot* slot = nullptr;
  auto kept = std::make_unique<Checked>(std::move(done));
  const int result =
      sd_bus_call_method_async(bus_.get(), &slot, kManager, kManagerPath, kManagerInterface,
                               "ListUnitsByNames", on_checked, kept.get(), "as", 1, unit.c_str());
  return keep_until_answered(result, slot, std::move(kept));
}

Result<Done> Bus::start_unit(const std::string& unit, Started done) {
  if (const auto connected = connect(); !connected) return connected;
  sd_bus_slot* slot = nullptr;
  auto starting = std::make_unique<Starting>(Starting{unit, std::move(done)});
  const int result =
      sd_bus_call_method_async(bus_.get(), &slot, kManager, kManagerPath, kManagerInterface, "StartUnit",
                               on_started, starting.get(), "ss", unit.c_str(), "replace");
  return keep_until_answered(result, slot, std::move(starting));
}

int Bus::answer(sd_bus_message* call) {
  sd_bus_message* reply = nullptr;
  int result = sd_bus_message_new_method_return(call, &reply);
  const std::unique_ptr<sd_bus_message, decltype(&sd_bus_message_unref)> owned(reply, sd_bus_message_unref);
  if (result >= 0) result = sd_bus_message_open_container(reply, 'a', "(sstttts)");
  for (const BudgetUse& use : list_()) {
    if (result < 0) break;
    result = sd_bus_message_append(reply, "(sstttts)", use.budget.text.c_str(), use.budget.subject().c_str(),
                                   number(use.used), number(use.budget.limit), number(use.period.start),
                                   number(use.period.end), use.problem.c_str());
  }
  if (result >= 0) result = sd_bus_message_close_container(reply);
  return result < 0 ? result : sd_bus_send(nullptr, reply, nullptr);
}

}  // namespace keplerd::history
