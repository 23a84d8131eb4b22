// SPDX-License-Identifier: Apache-2.0
// Assembles the exporter: one sd-event loop for keplerd's streams, HTTP and signals.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/stream.h"
#include "event/sources.h"
#include "exporter/http/server.h"
#include "exporter/http/web_config.h"
#include "exporter/metrics/render.h"
#include "exporter/options.h"
#include "exporter/pages.h"
#include "exporter/snapshot.h"
#include "exporter/ticks.h"
#include "exporter/top_processes.h"

namespace keplerd::exporter {

class Exporter : private Contents {
 public:
  Exporter(Options options, http::WebConfig web);
  ~Exporter() override;

  // Does everything that can fail: the loop, TLS, the sockets.
  Result<Done> start();

  // Runs until SIGTERM or SIGINT. Returns the exit status.
  int run();

 private:
  std::string metrics(Format format) override;
  std::uint64_t revision() const override { return snapshot_.revision(); }
  bool is_ready() const override { return streams_->is_up(); }

  Result<Done> add_signals();
  Result<std::vector<UniqueFd>> open_sockets() const;
  bool has_numbers() const;
  void wait_for_numbers();
  client::Streams::Plan make_plan() const;
  client::Streams::Events events();
  void take(Kind kind, const varlink::Json& reply);
  bool is_like_zones(Kind kind) const;
  void keep_step();
  void report_left_out(const Rendered& rendered);

  Options options_;
  http::WebConfig web_;
  sd_event* event_ = nullptr;
  Ticks ticks_{[this](Kind kind, const varlink::Json& reply) { take(kind, reply); }};
  Snapshot snapshot_;
  TopProcesses processes_;
  std::vector<Processor> processors_;
  std::string node_name_, architecture_;
  std::chrono::microseconds started_{0};
  client::Streams::Plan plan_ = make_plan();  // what to follow
  std::unique_ptr<client::Streams> streams_;
  std::unique_ptr<Pages> pages_;
  std::unique_ptr<http::Server> server_;
  std::vector<Signal> signals_;
  bool decided_ = false;  // whether keplerd can be reached
  bool reported_left_out_ = false;
};

}  // namespace keplerd::exporter
