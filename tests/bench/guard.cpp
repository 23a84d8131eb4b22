// SPDX-License-Identifier: Apache-2.0
// bench_guard [SCENARIO]: runs a piece of work ten times, for callgrind to count its instructions only;
// guard.py runs it. Without an argument: prints the compiler, and the scenarios.
#include <cstdio>
#include <string>

#include <valgrind/callgrind.h>

#include "scenarios.h"

namespace keplerd {
namespace {

void list() {
#ifndef NDEBUG
  std::puts("not optimised");
#elif defined(__clang__)
  std::puts("clang " __clang_version__);
#else
  std::puts("gcc " __VERSION__);
#endif
  for (const Scenario& scenario : scenarios()) std::puts(std::string(scenario.name).c_str());
}

void count(Piece& piece) {
  for (int i = 0; i < kWarmUp; ++i) {
    piece.prepare();
    piece.run();
  }
  for (int i = 0; i < kRound; ++i) {
    piece.prepare();
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_TOGGLE_COLLECT;
    piece.run();
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_STOP_INSTRUMENTATION;
  }
}

int run(std::string_view name) {
  for (const Scenario& scenario : scenarios()) {
    if (scenario.name != name) continue;
    count(*scenario.make());
    return 0;
  }
  std::fprintf(stderr, "bench_guard: no such scenario\n");
  return 2;
}

}  // namespace
}  // namespace keplerd

int main(int count, char** arguments) {
  if (count > 1) return keplerd::run(arguments[1]);
  keplerd::list();
}
