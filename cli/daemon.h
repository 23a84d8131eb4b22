// SPDX-License-Identifier: Apache-2.0
// keplerd as its client sees it: the methods of org.keplerd.Energy, and its errors in words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "varlink/client.h"
#include "varlink/json.h"

namespace keplerd::cli {

struct ListQuery {
  std::string kind;  // "units", ...
  std::optional<std::size_t> limit;
  std::string sort;
};

// The error of `reply` for people, with the ids that an ambiguous name may mean. `reply.error` is not empty.
std::string describe_error(const varlink::ClientReply& reply);

// "org.keplerd.Energy.NoSuchUnit" and its like.
bool is_nothing_such(const varlink::ClientReply& reply);
// It is older than this keplerctl, and has no rows of the kind that was asked for.
bool is_unknown_kind(const varlink::ClientReply& reply);
bool is_ambiguous(const varlink::ClientReply& reply);

class Daemon {
 public:
  static Result<Daemon> connect(const std::string& address);

  // GetStatus's reply.
  Result<varlink::Json> status();

  // All rows of a kind.
  Result<std::vector<varlink::Json>> list(const ListQuery& query);

  // Get's reply; the caller looks at its error.
  Result<varlink::ClientReply> get(std::string_view kind, std::string_view id);

  // Starts the live stream; next_tick() then waits for each of its replies, as long as it takes. Nothing else
  // may be asked on this connection any more.
  Result<Done> start_monitor(varlink::Json parameters);
  Result<varlink::Json> next_tick();

  // For a program that must not wait: it watches fd() and takes replies until this yields a null value.
  Result<varlink::Json> tick_that_has_come();
  int fd() const { return client_.fd(); }

 private:
  explicit Daemon(varlink::Client client) : client_(std::move(client)) {}

  varlink::Client client_;
};

}  // namespace keplerd::cli
