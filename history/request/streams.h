// SPDX-License-Identifier: Apache-2.0
// The replies of Query and Report, computed in steps.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "history/access.h"
#include "history/project.h"
#include "history/request/period_request.h"
#include "history/shares.h"
#include "history/span.h"
#include "varlink/server.h"

namespace keplerd::history {

// A reply that takes several steps.
class SteppedStream : public varlink::Stream {
 public:
  using Next = std::optional<std::variant<varlink::Reply, varlink::Failure>>;

  Next next() final;
  bool is_working() const final { return is_working_; }

 protected:
  // The next period to compute, and the reply that is made of it.
  virtual std::unique_ptr<PeriodRequest> begin() = 0;
  virtual varlink::Reply reply(const PeriodRequest& request) = 0;

 private:
  std::unique_ptr<PeriodRequest> request_;
  bool is_working_ = false;
};

// One reply per span.
class QueryStream : public SteppedStream {
 public:
  struct What {
    Step step{};
    Span period;
    std::optional<Selection> selection;  // unset: the host
    Viewer viewer;
  };
  QueryStream(const PeriodRequest::Means& means, What what, Pricing pricing)
      : means_(means), what_(std::move(what)), pricing_(std::move(pricing)), next_(what_.period.start) {}

 private:
  std::unique_ptr<PeriodRequest> begin() override;
  varlink::Reply reply(const PeriodRequest& request) override;

  PeriodRequest::Means means_;
  What what_;
  Pricing pricing_;
  Time next_;  // in the next span
  Span span_;  // the present one
};

// One reply.
class ReportStream : public SteppedStream {
 public:
  struct What {
    By by{};
    Span period;
    Viewer viewer;
    std::optional<ProjectPattern> project;
  };
  ReportStream(const PeriodRequest::Means& means, What what, Pricing pricing)
      : means_(means), what_(std::move(what)), pricing_(std::move(pricing)) {}

 private:
  std::unique_ptr<PeriodRequest> begin() override;
  varlink::Reply reply(const PeriodRequest& request) override;

  PeriodRequest::Means means_;
  What what_;
  Pricing pricing_;
};

}  // namespace keplerd::history
