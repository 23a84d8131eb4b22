// SPDX-License-Identifier: Apache-2.0
#include "cli/history/request.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "cli/fields.h"
#include "client/kinds.h"
#include "varlink/client.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

using varlink::ClientReply;

constexpr std::string_view kInterface = "org.keplerd.History.";
constexpr std::string_view kKinds = "host, units, vms, containers or pods";

bool is_error(const ClientReply& reply, std::string_view name) {
  return reply.error == std::string(kInterface) + std::string(name);
}

Error error_of(const ClientReply& reply) {
  const Json& parameters = reply.parameters;
  if (is_error(reply, "NoSuchWorkload"))
    return {fmt::format("nothing is recorded of '{}'", name_text(parameters, "id")), ENOENT};
  if (is_error(reply, "AmbiguousName")) {
    std::string ids;
    for (const Json& id : client::elements(field(parameters, "ids")))
      if (id.is_string()) ids += (ids.empty() ? "" : ", ") + printable(id.get<std::string>());
    return {fmt::format("'{}' is ambiguous: {}; use one of the ids", name_text(parameters, "name"), ids)};
  }
  if (is_error(reply, "Unreadable"))
    return {"the history cannot be read: " + name_text(parameters, "reason")};
  if (reply.error == "org.varlink.service.PermissionDenied")
    return {"access denied: only root and members of the group keplerd see the history of the host", EACCES};
  if (client::text(parameters, "parameter") == "step")
    return {"the period has too many rows: choose a longer step (--step)"};
  return {fmt::format("keplerd-history answered with the error {} {}", printable(reply.error),
                      printable(json_line(parameters)))};
}

Result<varlink::Client> connect(const std::string& address) {
  auto client = varlink::Client::connect(address);
  if (client) return client;
  const int code = client.error().code;
  if (code != ENOENT && code != ECONNREFUSED) return Error{printable(client.error().message), code};
  return Error{
      fmt::format("{}: {}; is keplerd-history running? (systemctl enable --now keplerd-history.service)",
                  printable(address), code == ENOENT ? "no such socket" : "connection refused"),
      code};
}

Json parameters_of(const Period& period) {
  return {{"fromUsec", period.from.count()}, {"toUsec", period.to.count()}};
}

// Of one kind.
Result<std::vector<Json>> query_kind(const std::string& address, const Subject& subject, const Period& period,
                                     const std::string& step) {
  std::vector<Json> replies;
  const auto queried = query_each(address, subject, period, step,
                                  [&replies](Json reply) { replies.push_back(std::move(reply)); });
  if (!queried) return queried.error();
  return replies;
}

// The reply of a method with one.
Result<Json> call(const std::string& address, const char* method, Json parameters) {
  auto client = connect(address);
  if (!client) return client.error();
  auto reply = client->call(std::string(kInterface) + method, std::move(parameters));
  if (!reply) return reply.error();
  if (!reply->error.empty()) return error_of(*reply);
  return std::move(reply->parameters);
}

}  // namespace

Result<Subject> subject_of(const std::vector<std::string>& words) {
  if (words.empty()) return Subject{"host", ""};
  const client::KindInfo* const kind = client::find_kind(words[0]);
  const bool is_host = words[0] == "host";
  if (words.size() == 1 && kind == nullptr && !is_host) return Subject{"", words[0]};
  const bool is_recorded = is_host || (kind != nullptr && kind->kind != client::Kind::kProcesses &&
                                       kind->kind != client::Kind::kZones);
  if (!is_recorded)
    return Error{fmt::format("no history of '{}' (expected {})", printable(words[0]), kKinds)};
  if (is_host && words.size() > 1) return Error{"there is one host: no id is expected"};
  return Subject{is_host ? "host" : std::string(kind->plural), words.size() > 1 ? words[1] : ""};
}

Result<std::vector<Json>> query(const std::string& address, Subject& subject, const Period& period,
                                const std::string& step) {
  if (!subject.kind.empty()) return query_kind(address, subject, period, step);
  for (const char* const kind : {"vms", "units", "containers", "pods"}) {
    subject.kind = kind;
    auto found = query_kind(address, subject, period, step);
    if (found || found.error().code != ENOENT) return found;
  }
  return Error{fmt::format("nothing is recorded of '{}'", printable(subject.id)), ENOENT};
}

Result<Done> query_each(const std::string& address, const Subject& subject, const Period& period,
                        const std::string& step, const std::function<void(Json reply)>& take) {
  auto client = connect(address);
  if (!client) return client.error();
  Json parameters = parameters_of(period);
  parameters["kind"] = subject.kind;
  parameters["step"] = step;
  if (!subject.id.empty()) parameters["id"] = subject.id;
  if (const auto sent = client->send("org.keplerd.History.Query", std::move(parameters), true); !sent)
    return sent;
  for (bool more = true; more;) {
    auto reply = client->receive();
    if (!reply) return reply.error();
    if (!reply->error.empty()) return error_of(*reply);
    more = reply->continues;
    take(std::move(reply->parameters));
  }
  return Done{};
}

Result<Period> recorded_period(const std::string& address) {
  const auto status = call(address, "GetStatus", Json::object());
  if (!status) return status.error();
  const auto from = integer_field(*status, "recordedSinceUsec"),
             to = integer_field(*status, "lastReadingUsec");
  if (!from || !to) return Error{"nothing is recorded yet"};
  return Period{Time(*from), Time(*to)};
}

Result<Json> list_budgets(const std::string& address) {
  auto reply = call(address, "ListBudgets", Json::object());
  if (!reply && reply.error().code == EACCES)
    return Error{"access denied: only root and members of the group keplerd see budgets", EACCES};
  return reply;
}

Result<Json> report(const std::string& address, const Period& period, const std::string& by) {
  Json parameters = parameters_of(period);
  parameters["by"] = by;
  return call(address, "Report", std::move(parameters));
}

}  // namespace keplerd::cli::history
