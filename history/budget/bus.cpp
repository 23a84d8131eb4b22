// SPDX-License-Identifier: Apache-2.0
#include "history/budget/bus.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
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

int on_name(sd_bus_message* reply, void*, sd_bus_error*) {
  const sd_bus_error* const error = sd_bus_message_get_error(reply);
  if (error != nullptr) log_warning("no name on D-Bus: " + reason_of(*error));
  return 1;
}

struct Starting {
  std::string unit;
  Bus::Started done;
};

int on_started(sd_bus_message* reply, void* starting, sd_bus_error*) {
  const auto& [unit, done] = *static_cast<Starting*>(starting);
  const sd_bus_error* const error = sd_bus_message_get_error(reply);
  if (error == nullptr) {
    done(unit, Done{});
  } else if (!sd_bus_error_has_name(error, kNoSuchUnit)) {
    done(unit, Error{reason_of(*error)});
  }
  return 1;
}

void end_starting(void* starting) { delete static_cast<Starting*>(starting); }

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
  int result = open_bus(address_, &opened);
  bus_.reset(opened);
  if (result >= 0) result = sd_bus_set_method_call_timeout(opened, kPatience.count());
  if (result >= 0) result = sd_bus_add_object_vtable(opened, nullptr, kPath, kInterface, kMembers, this);
  if (result >= 0) result = sd_bus_request_name_async(opened, nullptr, kName, 0, on_name, nullptr);
  if (result >= 0) result = sd_bus_attach_event(opened, event_, SD_EVENT_PRIORITY_NORMAL);
  if (result < 0) bus_.reset();
  return result_of(result);
}

Result<Done> Bus::announce(const BudgetUse& use, int percent) {
  if (const auto connected = connect(); !connected) return connected;
  return result_of(sd_bus_emit_signal(bus_.get(), kPath, kInterface, "BudgetCrossed", "sutttt",
                                      use.budget.text.c_str(), static_cast<std::uint32_t>(percent),
                                      number(use.used), number(use.budget.limit), number(use.period.start),
                                      number(use.period.end)));
}

Result<Done> Bus::start_unit(const std::string& unit, Started done) {
  if (const auto connected = connect(); !connected) return connected;
  sd_bus_slot* slot = nullptr;
  auto starting = std::make_unique<Starting>(Starting{unit, std::move(done)});
  const int result =
      sd_bus_call_method_async(bus_.get(), &slot, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                               "org.freedesktop.systemd1.Manager", "StartUnit", on_started, starting.get(),
                               "ss", unit.c_str(), "replace");
  if (result < 0) return result_of(result);
  (void)sd_bus_slot_set_destroy_callback(slot, end_starting);
  starting.release();
  (void)sd_bus_slot_set_floating(slot, 1);  // until the answer, or the end of the connection
  sd_bus_slot_unref(slot);
  return Done{};
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
