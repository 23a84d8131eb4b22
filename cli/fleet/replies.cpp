// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/replies.h"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/parse.h"
#include "cli/exit_status.h"
#include "cli/fields.h"
#include "cli/output/width.h"
#include "varlink/parse_json.h"

namespace keplerd::cli::fleet {
namespace {

constexpr int kOfSsh = 255;
constexpr int kNotFound = 127;
constexpr std::string_view kKeplerctl = "keplerctl: ";

// The last line of `text` that is not blank and begins with `start`.
std::string_view last_line(std::string_view text, std::string_view start = "") {
  while (!text.empty()) {
    const auto newline = text.rfind('\n', text.size() - 1);
    const std::string_view line = trim(newline == std::string_view::npos ? text : text.substr(newline + 1));
    if (!line.empty() && line.starts_with(start)) return line;
    text = newline == std::string_view::npos ? "" : text.substr(0, newline);
  }
  return {};
}

std::string shown(std::string_view line) {
  constexpr int kWidth = 200;
  return shorten(printable(line), kWidth, Keep::kStart);
}

std::string limit_text(const Ended& ended, const Limits& limits) {
  if (ended.stopped == Stopped::kTooLong)
    return fmt::format("no answer within {}",
                       std::chrono::duration_cast<std::chrono::seconds>(limits.longest));
  return fmt::format("its answer is larger than {} MiB", limits.most_output >> 20);
}

std::string problem_of(const Ended& ended, std::string_view verb, const Limits& limits) {
  if (ended.stopped != Stopped::kNo) return limit_text(ended, limits);
  const std::string_view last = last_line(ended.errors);
  std::string_view own = last_line(ended.errors, kKeplerctl);
  take_prefix(own, kKeplerctl);
  if (ended.status == kUsage && !own.empty())
    return fmt::format("its keplerctl cannot do this; it is probably older: {}", shown(own));
  if (!own.empty()) return shown(own);
  if (ended.status == kNotFound) return "there is no keplerctl";
  if (ended.status == kOfSsh) return last.empty() ? "ssh failed" : shown(last);
  return fmt::format("'keplerctl {}' has failed there with status {}{}{}", verb, ended.status,
                     last.empty() ? "" : ": ", shown(last));
}

}  // namespace

Reply reply_of(const std::string& host, std::string_view verb, std::string_view key, const Ended& ended,
               const Limits& limits) {
  Reply reply{host, {}, ""};
  if (ended.status != 0 || ended.stopped != Stopped::kNo) {
    reply.problem = problem_of(ended, verb, limits);
    return reply;
  }
  // The shell there may have written something before.
  auto value = varlink::parse_json(last_line(ended.output));
  if (!value || !value->is_object()) {
    reply.problem = "its answer is not JSON";
  } else if (field(*value, key).is_null()) {
    reply.problem = fmt::format("its answer has no '{}': its keplerctl is older", key);
  } else {
    reply.value = *std::move(value);
  }
  return reply;
}

std::vector<Json> rows_of(const Reply& reply, std::string_view key) {
  std::vector<Json> rows;
  for (const Json& row : client::elements(field(reply.value, key))) {
    if (!row.is_object()) continue;
    Json with_host = {{"host", reply.host}};
    for (const auto& [name, value] : row.items()) {
      if (name != "host") with_host[name] = value;
    }
    rows.push_back(std::move(with_host));
  }
  return rows;
}

Json failures_json(const std::vector<Reply>& replies) {
  Json failures = Json::array();
  for (const Reply& reply : replies) {
    if (!reply.answered()) failures.push_back({{"host", reply.host}, {"problem", reply.problem}});
  }
  return failures;
}

}  // namespace keplerd::cli::fleet
