// SPDX-License-Identifier: Apache-2.0
// The barrier between the event loop, which is C, and what it calls: an exception ends the callback that it
// was thrown in, and nothing else. It stands for a bug, or for memory that has run out.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace keplerd {

// Is given a line for each exception that was caught: "WHERE: WHAT". Without one they are lost.
using BarrierLog = std::function<void(const std::string& where, const std::string& what)>;
void set_barrier_log(BarrierLog log);

void report_to_barrier(const char* where, const char* what) noexcept;

// Calls `f`; false where it has thrown. `where`: what was being done, for the log.
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
