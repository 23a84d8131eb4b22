// SPDX-License-Identifier: Apache-2.0
// For tests of what follows keplerd: one that serves Monitor on the loop of the test.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "support/open_server.h"
#include "varlink/socket.h"

namespace keplerd::client {

using Answered = std::variant<varlink::Reply, varlink::Failure>;

// One reply, then silence; or an end. The reply comes when its kind is not held back.
class OneReply : public varlink::Stream {
 public:
  OneReply(Answered reply, std::string kind, const std::set<std::string>& held_back, int& open)
      : reply_(std::move(reply)), kind_(std::move(kind)), held_back_(held_back), open_(open) {
    ++open_;
  }
  ~OneReply() override { --open_; }
  std::optional<Answered> next() override {
    if (held_back_.contains(kind_)) return std::nullopt;
    return std::exchange(reply_, std::nullopt);
  }

 private:
  std::optional<Answered> reply_;
  std::string kind_;
  const std::set<std::string>& held_back_;
  int& open_;
};

class FollowedKeplerd : public testing::Test {
 protected:
  // `name`: of the socket's directory.
  explicit FollowedKeplerd(const std::string& name)
      : directory(std::filesystem::temp_directory_path() / (name + "-" + std::to_string(::getpid()))),
        path(directory / "socket") {
    std::filesystem::create_directory(directory);
    sd_event_new(&loop);
  }
  ~FollowedKeplerd() override {
    server.reset();
    sd_event_unref(loop);
    std::filesystem::remove_all(directory);
  }

  void serve() {
    server.emplace(loop);
    (*server)->add({.name = "org.keplerd.Energy",
                    .description = "interface org.keplerd.Energy",
                    .methods = {{"Monitor", [this](const varlink::Call& call) -> varlink::Answer {
                                   calls.push_back(call.parameters.dump());
                                   return std::make_unique<OneReply>(
                                       answer(call.parameters), call.parameters.at("kind"), held_back, open);
                                 }}}});
    EXPECT_TRUE((*server)->listen(*varlink::bind_unix_socket(path, 0600)).ok());
  }
  // What was held back of this kind arrives.
  void release(const std::string& kind) {
    held_back.erase(kind);
    (*server)->wake();
  }
  template <class Condition>
  void run_until(Condition condition) {
    for (int turn = 0; !condition() && turn < 100'000; ++turn) ASSERT_GE(sd_event_run(loop, 100'000), 0);
    ASSERT_TRUE(condition());
  }

  std::filesystem::path directory;
  std::string path;  // of the socket
  sd_event* loop = nullptr;
  std::function<Answered(const varlink::Json& parameters)> answer;  // to Monitor
  std::vector<std::string> calls;                                   // the parameters of Monitor
  std::set<std::string> held_back;                                  // the kinds whose replies do not come
  int open = 0;                                                     // streams
  std::optional<OpenServer> server;                                 // unset: it does not run
};

}  // namespace keplerd::client
