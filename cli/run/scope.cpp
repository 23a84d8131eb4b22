// SPDX-License-Identifier: Apache-2.0
#include "cli/run/scope.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/text.h"

namespace keplerd::cli::run {
namespace {

constexpr const char* kService = "org.freedesktop.systemd1";
constexpr const char* kPath = "/org/freedesktop/systemd1";
constexpr const char* kInterface = "org.freedesktop.systemd1.Manager";
constexpr std::chrono::seconds kPatience{10};

struct Close {
  void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Bus = std::unique_ptr<sd_bus, Close>;
using Message = std::unique_ptr<sd_bus_message, Close>;

struct BusError {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  BusError() = default;
  BusError(const BusError&) = delete;
  BusError& operator=(const BusError&) = delete;
  ~BusError() { sd_bus_error_free(&error); }
};

// The reason in the words of the manager, if it gave one.
Error failure(std::string_view what, int code, const BusError& reason = {}) {
  if (reason.error.message != nullptr)
    return {std::string(what) + ": " + escape_name(reason.error.message), -code};
  return system_error(what, -code);
}

// Where XDG_RUNTIME_DIR is not set, as after su(1) or in a job of cron, a user with lingering still has one.
int open_user_bus(sd_bus** bus) {
  const int opened = sd_bus_open_user(bus);
  if (opened >= 0 || getenv("XDG_RUNTIME_DIR") != nullptr) return opened;
  const std::string path = fmt::format("/run/user/{}/bus", getuid());
  if (access(path.c_str(), F_OK) != 0) return opened;
  int result = sd_bus_new(bus);
  if (result >= 0) result = sd_bus_set_address(*bus, ("unix:path=" + path).c_str());
  if (result >= 0) result = sd_bus_set_bus_client(*bus, 1);
  return result < 0 ? result : sd_bus_start(*bus);
}

Result<Bus> open_bus(Manager manager) {
  sd_bus* opened = nullptr;
  const int result = manager == Manager::kSystem ? sd_bus_open_system(&opened) : open_user_bus(&opened);
  Bus bus(opened);
  if (result < 0) {
    if (manager == Manager::kSystem) return failure("the system bus cannot be reached", result);
    // ENOMEDIUM: neither the address of a bus nor XDG_RUNTIME_DIR is set.
    if (result == -ENOMEDIUM)
      return Error{"no manager of your units is running; 'loginctl enable-linger' starts one", ENOMEDIUM};
    return failure("there is no bus of a user manager", result);
  }
  (void)sd_bus_set_method_call_timeout(bus.get(), std::chrono::microseconds(kPatience).count());
  return bus;
}

int append(sd_bus_message* message, const char* name, const char* type, const auto& value) {
  return sd_bus_message_append(message, "(sv)", name, type, value);
}

int append_property(sd_bus_message* message, const Property& property) {
  const char* name = property.name.c_str();
  if (const auto* flag = std::get_if<bool>(&property.value)) return append(message, name, "b", int{*flag});
  if (const auto* text = std::get_if<std::string>(&property.value))
    return append(message, name, "s", text->c_str());
  if (const auto* number = std::get_if<std::uint64_t>(&property.value))
    return append(message, name, "t", *number);
  if (const auto* number = std::get_if<std::uint32_t>(&property.value))
    return append(message, name, "u", *number);
  if (const auto* number = std::get_if<std::int32_t>(&property.value))
    return append(message, name, "i", *number);
  const auto& bytes = std::get<Bytes>(property.value);
  int result = sd_bus_message_open_container(message, 'r', "sv");
  if (result >= 0) result = sd_bus_message_append(message, "s", name);
  if (result >= 0) result = sd_bus_message_open_container(message, 'v', "ay");
  if (result >= 0) result = sd_bus_message_append_array(message, 'y', bytes.data(), bytes.size());
  if (result >= 0) result = sd_bus_message_close_container(message);
  return result < 0 ? result : sd_bus_message_close_container(message);
}

int append_processes(sd_bus_message* message, const std::vector<pid_t>& processes) {
  std::vector<std::uint32_t> pids(processes.begin(), processes.end());
  int result = sd_bus_message_open_container(message, 'r', "sv");
  if (result >= 0) result = sd_bus_message_append(message, "s", "PIDs");
  if (result >= 0) result = sd_bus_message_open_container(message, 'v', "au");
  if (result >= 0)
    result = sd_bus_message_append_array(message, 'u', pids.data(), pids.size() * sizeof(std::uint32_t));
  if (result >= 0) result = sd_bus_message_close_container(message);
  return result < 0 ? result : sd_bus_message_close_container(message);
}

// StartTransientUnit(s name, s mode, a(sv) properties, a(sa(sv)) aux).
Result<Message> make_call(sd_bus* bus, const ScopeRequest& request) {
  sd_bus_message* created = nullptr;
  int result =
      sd_bus_message_new_method_call(bus, &created, kService, kPath, kInterface, "StartTransientUnit");
  Message call(created);
  if (result >= 0) result = sd_bus_message_set_allow_interactive_authorization(call.get(), 1);
  if (result >= 0) result = sd_bus_message_append(call.get(), "ss", request.name.c_str(), "fail");
  if (result >= 0) result = sd_bus_message_open_container(call.get(), 'a', "(sv)");
  if (result >= 0) result = append(call.get(), "Description", "s", request.description.c_str());
  if (result >= 0) result = append(call.get(), "CollectMode", "s", "inactive-or-failed");
  if (result >= 0 && !request.slice.empty()) result = append(call.get(), "Slice", "s", request.slice.c_str());
  for (const Property& property : request.properties)
    if (result >= 0) result = append_property(call.get(), property);
  if (result >= 0) result = append_processes(call.get(), request.processes);
  if (result >= 0) result = sd_bus_message_close_container(call.get());
  if (result >= 0) result = sd_bus_message_append(call.get(), "a(sa(sv))", 0);
  if (result < 0) return failure("the request for a scope cannot be made", result);
  return call;
}

// The end of a job, which the manager announces to the client that has queued it.
struct Job {
  std::string path, result;
};

int on_job_removed(sd_bus_message* message, void* job, sd_bus_error*) {
  const char *path = nullptr, *unit = nullptr, *result = nullptr;
  std::uint32_t id = 0;
  if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) < 0) return 0;
  auto& wanted = *static_cast<Job*>(job);
  if (wanted.path == path) wanted.result = result;
  return 0;
}

Result<Done> wait_for(sd_bus* bus, const Job& job) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (job.result.empty()) {
    const int processed = sd_bus_process(bus, nullptr);
    if (processed < 0) return failure("the connection to the manager was lost", processed);
    if (processed > 0) continue;
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return failure("the manager does not answer", -ETIMEDOUT);
    (void)sd_bus_wait(bus, static_cast<std::uint64_t>(left.count()));
  }
  if (job.result != "done") return Error{"the manager did not start the scope: " + escape_name(job.result)};
  return Done{};
}

Result<std::string> cgroup_of(sd_bus* bus, const std::string& name) {
  BusError error;
  sd_bus_message* received = nullptr;
  int result = sd_bus_call_method(bus, kService, kPath, kInterface, "GetUnit", &error.error, &received, "s",
                                  name.c_str());
  const Message reply(received);
  const char* unit = nullptr;
  if (result >= 0) result = sd_bus_message_read(reply.get(), "o", &unit);
  char* text = nullptr;
  if (result >= 0) {
    result = sd_bus_get_property_string(bus, kService, unit, "org.freedesktop.systemd1.Scope", "ControlGroup",
                                        &error.error, &text);
  }
  const std::unique_ptr<char, void (*)(void*)> cgroup(text, std::free);
  if (result < 0) return failure("the cgroup of the scope is not known", result, error);
  return std::string(cgroup.get());
}

Result<std::string> unit_name(std::string_view name, std::string_view suffix) {
  std::string full(name);
  if (!full.ends_with(suffix)) full += suffix;
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@";
  constexpr std::size_t kLongest = 255;
  if (full.size() == suffix.size() || full.size() > kLongest ||
      full.find_first_not_of(kAllowed) != std::string::npos) {
    return Error{"invalid unit name '" + escape_name(name) + "'"};
  }
  return full;
}

}  // namespace

Result<Scope> start_scope(const ScopeRequest& request) {
  auto opened = open_bus(request.manager);
  if (!opened) return opened.error();
  sd_bus* const bus = opened->get();
  Job job;
  int result =
      sd_bus_match_signal(bus, nullptr, kService, kPath, kInterface, "JobRemoved", on_job_removed, &job);
  if (result < 0) return failure("the bus cannot be used", result);
  const auto call = make_call(bus, request);
  if (!call) return call.error();
  BusError error;
  sd_bus_message* received = nullptr;
  result = sd_bus_call(bus, call->get(), 0, &error.error, &received);
  const Message reply(received);
  if (result < 0) return failure("the manager refuses to start a scope", result, error);
  const char* path = nullptr;
  if (sd_bus_message_read(reply.get(), "o", &path) < 0) return Error{"the answer of the manager is garbled"};
  job.path = path;
  if (const auto done = wait_for(bus, job); !done) return done.error();
  auto cgroup = cgroup_of(bus, request.name);
  if (!cgroup) return cgroup.error();
  return Scope{request.name, *std::move(cgroup)};
}

std::string unique_scope_name() {
  std::random_device random;
  return fmt::format("keplerctl-run-{}-{:08x}.scope", getpid(), random());
}

Result<std::string> scope_name(std::string_view name) { return unit_name(name, ".scope"); }

Result<std::string> slice_name(std::string_view name) { return unit_name(name, ".slice"); }

}  // namespace keplerd::cli::run
