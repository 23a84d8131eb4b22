// SPDX-License-Identifier: Apache-2.0
// How many files may be held open at a time only because that is cheaper than opening them again. What finds
// no place is opened for each read: it costs more, and nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace keplerd {

class DescriptorBudget {
  struct GiveBack {
    void operator()(DescriptorBudget* budget) const { ++budget->free_; }
  };

 public:
  explicit DescriptorBudget(std::size_t places = SIZE_MAX) : free_(places) {}
  DescriptorBudget(const DescriptorBudget&) = delete;  // places refer to it
  DescriptorBudget& operator=(const DescriptorBudget&) = delete;

  // A place to hold one descriptor, given back when it is destroyed; null where none is free. The budget must
  // outlive it.
  using Place = std::unique_ptr<DescriptorBudget, GiveBack>;
  Place take() {
    if (free_ == 0) return nullptr;
    --free_;
    return Place(this);
  }

 private:
  std::size_t free_;
};

// Of a limit of open files (RLIMIT_NOFILE): the rest is for clients and what is opened for a moment.
std::size_t descriptors_to_hold(std::size_t limit);

// Of this process's present limit.
std::size_t descriptors_to_hold();

// Lifts this process's limit as far as it may do so itself (getrlimit(2): from the soft to the hard one).
void raise_descriptor_limit();

}  // namespace keplerd
