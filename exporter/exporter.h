// SPDX-License-Identifier: Apache-2.0
// Assembles the exporter: one sd-event loop for keplerd's streams, HTTP and signals.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/stream.h"
#include "event/end_signals.h"
#include "exporter/budgets.h"
#include "exporter/follower.h"
#include "exporter/http/server.h"
#include "exporter/http/web_config.h"
#include "exporter/metrics/render.h"
#include "exporter/options.h"
#include "exporter/pages.h"
#include "exporter/present_rates.h"

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
  bool prepare() override;
  std::uint64_t revision() const override { return follower_->snapshot().revision(); }
  bool is_ready() const override { return follower_->is_up(); }

  Result<std::vector<UniqueFd>> open_sockets() const;
  Result<Done> follow();
  void wait_for_numbers();
  client::Streams::Plan make_plan() const;
  void report_left_out(const Rendered& rendered);

  Options options_;
  http::WebConfig web_;
  PresentRates rates_;
  sd_event* event_ = nullptr;
  std::vector<Processor> processors_;
  std::string node_name_, architecture_;
  std::chrono::microseconds started_{0};
  std::size_t last_size_ = 0;  // of the metrics as text
  std::unique_ptr<Follower> follower_;
  std::optional<BudgetReader> budgets_;  // unset: they are not shown
  std::unique_ptr<Pages> pages_;
  std::unique_ptr<http::Server> server_;
  EndSignals signals_;
  bool reported_left_out_ = false;
};

}  // namespace keplerd::exporter
