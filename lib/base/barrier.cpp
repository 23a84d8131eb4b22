// SPDX-License-Identifier: Apache-2.0
#include "base/barrier.h"

#include <utility>

namespace keplerd {
namespace {

BarrierLog& barrier_log() {
  static BarrierLog log;
  return log;
}

}  // namespace

void set_barrier_log(BarrierLog log) { barrier_log() = std::move(log); }

void report_to_barrier(const char* where, const char* what) noexcept {
  try {
    if (barrier_log()) barrier_log()(where, what);
  } catch (...) {  // reporting the exception failed too: nothing left to do
  }
}

}  // namespace keplerd
