// SPDX-License-Identifier: Apache-2.0
// The barrier between the event loop, which is C, and its callbacks: an exception ends only the callback that
// threw it. It stands for a bug, or for memory exhaustion.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace keplerd {

// Receives a line for each exception caught: "WHERE: WHAT". Without one they are dropped.
using BarrierLog = std::function<void(const std::string& where, const std::string& what)>;
void set_barrier_log(BarrierLog log);

void report_to_barrier(const char* where, const char* what) noexcept;

// Calls `f`; returns false if it threw. `where` names the activity, for the log.
template <class F>
bool behind_barrier(const char* where, F&& f) noexcept {
  try {
    f();
    return true;
  } catch (const std::exception& exception) {
    report_to_barrier(where, exception.what());
  } catch (...) {
    report_to_barrier(where, "unknown exception");
  }
  return false;
}

}  // namespace keplerd
