// SPDX-License-Identifier: Apache-2.0
// What callers request for as long as they hold it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace keplerd {

template <class Request>
class HeldRequests {
 public:
  // It lasts until the result is dropped.
  std::shared_ptr<const Request> start(Request request) {
    auto held = std::make_shared<const Request>(std::move(request));
    held_.push_back(held);
    return held;
  }

  // Those that last, in the order of their start.
  std::vector<Request> all() {
    std::vector<Request> requests;
    std::erase_if(held_, [&](const std::weak_ptr<const Request>& one) {
      const auto request = one.lock();
      if (request) requests.push_back(*request);
      return request == nullptr;
    });
    return requests;
  }

 private:
  std::vector<std::weak_ptr<const Request>> held_;
};

}  // namespace keplerd
