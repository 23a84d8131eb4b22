// SPDX-License-Identifier: Apache-2.0
#include "client/requests.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "client/fields.h"

namespace keplerd::client {
namespace {

using varlink::ClientReply;
using varlink::Json;

constexpr std::string_view kInterface = "org.keplerd.Energy.";
constexpr std::string_view kService = "org.varlink.service.";

std::string method(std::string_view name) { return std::string(kInterface) + std::string(name); }

// The error's name without its interface; empty if it belongs to another interface.
std::string_view own_error(const ClientReply& reply, std::string_view interface) {
  std::string_view name = reply.error;
  if (!name.starts_with(interface)) return {};
  name.remove_prefix(interface.size());
  return name;
}

Error failure(const ClientReply& reply) { return {describe_error(reply), is_denied(reply) ? EACCES : 0}; }

Result<Json> parameters_of(Result<ClientReply> reply) {
  if (!reply) return reply.error();
  if (!reply->error.empty()) return failure(*reply);
  return std::move(reply->parameters);
}

std::string name_text(const Json& object, std::string_view name) { return printable(text(object, name)); }

std::string ambiguous_text(const Json& parameters) {
  std::string ids;
  for (const Json& id : elements(field(parameters, "ids"))) {
    if (!id.is_string()) continue;
    ids += (ids.empty() ? "" : ", ") + printable(id.get<std::string>());
  }
  return fmt::format("'{}' is ambiguous: {}; use one of the ids", name_text(parameters, "name"), ids);
}

std::string service_error_text(std::string_view name, const Json& parameters) {
  if (name == "InvalidParameter") {
    return fmt::format("keplerd does not accept the parameter '{}'", name_text(parameters, "parameter"));
  }
  if (name == "PermissionDenied")
    return "access denied: only root and members of the group keplerd may query keplerd";
  if (name == "MethodNotFound" || name == "InterfaceNotFound" || name == "MethodNotImplemented") {
    const std::string what = name_text(parameters, name == "InterfaceNotFound" ? "interface" : "method");
    return fmt::format("the service does not support '{}': is it keplerd, of the same version as keplerctl?",
                       what);
  }
  return {};
}

}  // namespace

std::string describe_error(const ClientReply& reply) {
  const std::string_view own = own_error(reply, kInterface);
  const Json& parameters = reply.parameters;
  if (own == "AmbiguousName") return ambiguous_text(parameters);
  for (const KindInfo& kind : kKinds) {
    if (own == kind.no_such) return fmt::format("no such {}: '{}'", kind.word, name_text(parameters, "id"));
  }
  std::string answer = service_error_text(own_error(reply, kService), parameters);
  if (!answer.empty()) return answer;
  const std::string details = parameters.empty() ? "" : " " + printable(json_line(parameters));
  return fmt::format("keplerd answered with the error {}{}", printable(reply.error), details);
}

bool is_denied(const ClientReply& reply) { return own_error(reply, kService) == "PermissionDenied"; }

bool is_nothing_such(const ClientReply& reply) { return own_error(reply, kInterface).starts_with("NoSuch"); }

bool is_unknown_kind(const ClientReply& reply) {
  return own_error(reply, kService) == "InvalidParameter" &&
         string_field(reply.parameters, "parameter") == "kind";
}

bool is_ambiguous(const ClientReply& reply) { return own_error(reply, kInterface) == "AmbiguousName"; }

Result<Daemon> Daemon::connect(const std::string& address) {
  auto client = varlink::Client::connect(address);
  if (!client) return client.error();
  return Daemon(std::move(*client));
}

Result<Json> Daemon::status() { return parameters_of(client_.call(method("GetStatus"), Json::object())); }

Result<std::vector<Json>> Daemon::list(const ListQuery& query) {
  auto listed = list_with_policy(query);
  if (!listed) return listed.error();
  return std::move(listed->rows);
}

Result<Listed> Daemon::list_with_policy(const ListQuery& query) {
  Json parameters = {{"kind", name_of(query.kind)}};
  if (query.limit) parameters["limit"] = *query.limit;
  if (!query.sort.empty()) parameters["sort"] = query.sort;
  if (!query.idle.empty()) parameters["idle"] = query.idle;
  if (auto sent = client_.send(method("List"), std::move(parameters), true); !sent) return sent.error();

  Listed listed;
  for (bool more = true; more;) {
    auto reply = client_.receive();
    if (!reply) return reply.error();
    if (!reply->error.empty()) return failure(*reply);
    more = reply->continues;
    Json& answer = reply->parameters;
    listed.policy_host = integer_field(answer, "policyHostMicrowatts");
    // An empty list is sent as one reply without a row.
    const auto row = answer.find("row");
    if (row == answer.end()) continue;
    for (const char* const name : {"policyIdleMicrowatts", "policyPowerMicrowatts"}) {
      const auto power = integer_field(answer, name);
      if (power && row->is_object()) (*row)[name] = *power;
    }
    listed.rows.push_back(std::move(*row));
  }
  return listed;
}

Result<ClientReply> Daemon::get(Kind kind, std::string_view id) {
  return client_.call(method("Get"), {{"kind", name_of(kind)}, {"id", id}});
}

Result<Done> Daemon::start_measure(Kind kind, std::string_view id) {
  return client_.send(method("Measure"), {{"kind", name_of(kind)}, {"id", id}}, true);
}

Result<Done> Daemon::start_monitor(Json parameters) {
  return client_.send(method("Monitor"), std::move(parameters), true);
}

Result<Json> Daemon::next_tick() { return parameters_of(client_.receive(std::nullopt)); }

Result<Json> Daemon::tick_that_has_come() {
  auto reply = client_.receive(std::chrono::milliseconds(0));
  if (!reply && reply.error().code == ETIMEDOUT) return Json();
  return parameters_of(std::move(reply));
}

}  // namespace keplerd::client
