// SPDX-License-Identifier: Apache-2.0
// How alike the errors of successive windows are. Alike, they come from the model, and together say less than
// as many independent ones.
#pragma once

#include <cstddef>

#include "attribution/model/recent_errors.h"

namespace keplerd {

class ErrorCorrelation {
 public:
  // Adds the error of a window of `seconds`, in W. Returns by how much the variance of the noise has to be
  // multiplied: 1 where errors are independent, or the noise would be taken for knowledge.
  double inflation(double error, double seconds);

 private:
  RecentErrors errors_;
  std::size_t windows_ = 0;
  double squared_ = 0, near_ = 0, late_ = 0;  // W^2, means; of products with earlier errors
};

}  // namespace keplerd
