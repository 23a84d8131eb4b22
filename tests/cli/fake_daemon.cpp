// SPDX-License-Identifier: Apache-2.0
#include "cli/fake_daemon.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/program.h"
#include "client/kinds.h"
#include "client/row_set.h"
#include "support/open_server.h"

namespace keplerd::cli {
namespace {

using varlink::Answer;
using varlink::Call;
using varlink::Failure;
using varlink::Reply;

class CannedStream : public varlink::Stream {
 public:
  explicit CannedStream(std::vector<std::variant<Reply, Failure>> replies, std::function<void()> at_end = {})
      : replies_(std::move(replies)), at_end_(std::move(at_end)) {}
  std::optional<std::variant<Reply, Failure>> next() override {
    if (next_ < replies_.size()) return replies_[next_++];
    if (at_end_) at_end_();
    return std::nullopt;
  }

 private:
  std::vector<std::variant<Reply, Failure>> replies_;
  std::function<void()> at_end_;
  std::size_t next_ = 0;
};

Failure failure(std::string_view name, Json parameters) {
  return {"org.keplerd.Energy." + std::string(name), std::move(parameters)};
}

Answer stream_of(std::vector<std::variant<Reply, Failure>> replies) {
  return std::make_unique<CannedStream>(std::move(replies));
}

Answer list(const Canned& canned, const Call& call) {
  if (!canned.lists.contains(call.parameters.at("kind"))) return varlink::invalid_parameter("kind");
  std::vector<std::variant<Reply, Failure>> replies;
  auto rows = canned.lists.at(call.parameters.at("kind"));
  // Otherwise as they are, for clients that did not request an order.
  if (call.parameters.contains("sort"))
    client::sort_rows(rows, call.parameters.at("sort").get<std::string>());
  const bool is_metered =
      std::ranges::any_of(rows, [](const Json& row) { return row.contains("powerMicrowatts"); });
  const std::size_t limit = call.parameters.value("limit", rows.size());
  for (std::size_t i = 0; i < std::min(limit, rows.size()); ++i) {
    Json json{{"row", rows[i]}};
    if (call.parameters.contains("idle") && rows[i].contains("powerMicrowatts")) {
      constexpr std::int64_t kIdle = 1'500'000;
      json["policyIdleMicrowatts"] = kIdle;
      json["policyPowerMicrowatts"] = rows[i]["powerMicrowatts"].get<std::int64_t>() + kIdle;
    }
    if (call.parameters.contains("idle") && is_metered) json["policyHostMicrowatts"] = 24'000'000;
    replies.push_back(Reply{std::move(json), true});
  }
  if (replies.empty()) replies.push_back(Reply{Json::object(), false});
  std::get<Reply>(replies.back()).continues = false;
  return stream_of(std::move(replies));
}

Answer get(const Canned& canned, const Call& call) {
  const std::string kind = call.parameters.at("kind");
  if (!canned.lists.contains(kind)) return varlink::invalid_parameter("kind");
  const std::string wanted = call.parameters.at("id");
  std::vector<Json> found;
  std::vector<std::string> ids;
  for (const Json& row : canned.lists.at(kind)) {
    if (row.at("id") == wanted) return Reply{Json{{"row", row}}};
    if (row.at("name") != wanted) continue;
    found.push_back(row);
    ids.push_back(row.at("id"));
  }
  if (found.size() == 1) return Reply{Json{{"row", found.front()}}};
  if (found.size() > 1) return failure("AmbiguousName", Json{{"name", wanted}, {"ids", ids}});
  return failure(client::find_kind(kind)->no_such, Json{{"id", wanted}});
}

// When everything else has been done: what was replied has been sent.
void end_soon(sd_event* event) {
  const auto end = [](sd_event_source* source, void*) {
    return sd_event_exit(sd_event_source_get_event(source), 0);
  };
  sd_event_source* source = nullptr;
  if (sd_event_add_defer(event, &source, end, nullptr) < 0 ||
      sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IDLE) < 0) {
    _exit(1);
  }
}

Answer monitor(const Canned& canned, const Call& call, sd_event* event) {
  if (call.parameters.value("intervalUsec", std::int64_t{0}) != canned.interval) {
    return varlink::invalid_parameter("intervalUsec");
  }
  std::vector<std::variant<Reply, Failure>> replies;
  for (const Json& tick : canned.ticks) replies.push_back(Reply{tick, true});
  if (canned.then_gone)
    return std::make_unique<CannedStream>(std::move(replies), [event] { end_soon(event); });
  if (!canned.then_silent) replies.push_back(Failure{"org.example.Ended", Json::object()});
  return stream_of(std::move(replies));
}

[[noreturn]] void serve(UniqueFd socket, Canned canned) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sd_event* event = nullptr;
  if (sd_event_new(&event) < 0) _exit(1);
  OpenServer server(event);
  varlink::Interface interface {
    "org.keplerd.Energy", "interface org.keplerd.Energy", {}
  };
  std::size_t calls = 0;
  interface.methods["GetStatus"] = [&](const Call&) -> Answer {
    if (canned.gone_after_status) end_soon(event);
    return Reply{canned.statuses.at(std::min(calls++, canned.statuses.size() - 1))};
  };
  interface.methods["List"] = [&](const Call& call) { return list(canned, call); };
  interface.methods["Get"] = [&](const Call& call) { return get(canned, call); };
  interface.methods["Monitor"] = [&](const Call& call) { return monitor(canned, call, event); };
  if (!canned.failure.empty()) {
    for (auto& [name, handler] : interface.methods) {
      handler = [&](const Call&) -> Answer { return Failure{canned.failure, Json::object()}; };
    }
  }
  server->add(std::move(interface));
  if (!server->listen(std::move(socket))) _exit(1);
  sd_event_loop(event);
  _exit(0);
}

[[noreturn]] void serve(UniqueFd socket, std::vector<Canned> lives) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Canned last = std::move(lives.back());
  lives.pop_back();
  for (Canned& life : lives) {
    const pid_t child = fork();
    if (child == 0) serve(std::move(socket), std::move(life));
    waitpid(child, nullptr, 0);
  }
  serve(std::move(socket), std::move(last));
}

}  // namespace

FakeDaemon::FakeDaemon(std::vector<Canned> lives) {
  std::string directory = std::filesystem::temp_directory_path() / "keplerctl-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) throw std::runtime_error("mkdtemp");
  directory_ = directory;
  address_ = directory_ + "/socket";
  auto socket = varlink::bind_unix_socket(address_, 0600);
  if (!socket) throw std::runtime_error(socket.error().message);
  child_ = fork();
  if (child_ == 0) serve(std::move(*socket), std::move(lives));
}

FakeDaemon::~FakeDaemon() {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  std::filesystem::remove_all(directory_);
}

Outcome run_keplerctl(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int status = run_program(arguments, {}, out, err);
  return {status, out.str(), err.str()};
}

Outcome run_keplerctl(const FakeDaemon& daemon, std::vector<std::string> arguments) {
  arguments.push_back("--varlink=" + daemon.address());
  return run_keplerctl(arguments);
}

}  // namespace keplerd::cli
