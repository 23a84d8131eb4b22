// SPDX-License-Identifier: Apache-2.0
// Requests to keplerd: the methods of org.keplerd.Energy over one blocking connection, with readable errors.
// Errors are safe for a terminal; one for a missing permission has the code EACCES, all others are those of
// varlink::Client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/kinds.h"
#include "varlink/client.h"
#include "varlink/json.h"

namespace keplerd::client {

struct ListQuery {
  Kind kind{};
  std::optional<std::size_t> limit = {};
  std::string sort = {};  // of sort_keys(); empty: by energy
  std::string idle = {};  // an idle policy to be compared with the one in effect; empty: none
};

// With ListQuery::idle, rows have policyIdleMicrowatts and policyPowerMicrowatts as far as known.
struct Listed {
  std::vector<varlink::Json> rows;
  std::optional<std::int64_t> policy_host;  // policyHostMicrowatts: idle power that would stay with the host
};

// A readable error for `reply`, with the candidate ids if a name is ambiguous. `reply.error` is not
// empty.
std::string describe_error(const varlink::ClientReply& reply);

// The caller is not permitted to make this request.
bool is_denied(const varlink::ClientReply& reply);
// "org.keplerd.Energy.NoSuchUnit" and the like.
bool is_nothing_such(const varlink::ClientReply& reply);
// keplerd is older than its client, and has no rows of this kind.
bool is_unknown_kind(const varlink::ClientReply& reply);
bool is_ambiguous(const varlink::ClientReply& reply);

class Daemon {
 public:
  static Result<Daemon> connect(const std::string& address);

  // GetStatus's reply.
  Result<varlink::Json> status();

  // All rows of a kind.
  Result<std::vector<varlink::Json>> list(const ListQuery& query);
  Result<Listed> list_with_policy(const ListQuery& query);

  // Get's reply; handling its error is left to the caller.
  Result<varlink::ClientReply> get(Kind kind, std::string_view id);

  // Starts to measure a row; its replies are taken as those of start_monitor().
  Result<Done> start_measure(Kind kind, std::string_view id);

  // Starts the live stream; next_tick() then waits for each of its replies, as long as it takes. This
  // connection accepts no further requests.
  Result<Done> start_monitor(varlink::Json parameters);
  Result<varlink::Json> next_tick();

  // For a program that must not block: it watches fd() and calls this until it returns a null value.
  Result<varlink::Json> tick_that_has_come();
  int fd() const { return client_.fd(); }

 private:
  explicit Daemon(varlink::Client client) : client_(std::move(client)) {}

  varlink::Client client_;
};

}  // namespace keplerd::client
