// SPDX-License-Identifier: Apache-2.0
// Limits how many files are held open merely because reopening them would cost more. A file without a place
// is opened for each read: slower, but nothing fails.
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
  DescriptorBudget(const DescriptorBudget&) = delete;  // not copyable: places refer to it
  DescriptorBudget& operator=(const DescriptorBudget&) = delete;

  // Returns a place to hold one descriptor, released when it is destroyed; null if none is free. The budget
  // must outlive it.
  using Place = std::unique_ptr<DescriptorBudget, GiveBack>;
  Place take() {
    if (free_ == 0) return nullptr;
    --free_;
    return Place(this);
  }

 private:
  std::size_t free_;
};

// How many files to hold, given a limit (RLIMIT_NOFILE): the rest is for clients and short-lived
// opens.
std::size_t descriptors_to_hold(std::size_t limit);

// Under this process's current limit.
std::size_t descriptors_to_hold();

// Raises this process's limit as far as it may itself (getrlimit(2): from the soft to the hard one).
void raise_descriptor_limit();

}  // namespace keplerd
