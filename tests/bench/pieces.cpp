// SPDX-License-Identifier: Apache-2.0
// bench_pieces: measures the CPU time of the pieces of work in scenarios.h. Options are Google Benchmark's:
// --benchmark_filter=divide, --benchmark_format=json...
#include <chrono>
#include <ctime>
#include <string>

#include <benchmark/benchmark.h>

#include "scenarios.h"

namespace keplerd {
namespace {

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Timed manually: stopping the benchmark's own clock for each preparation would cost more than many a piece.
void measure(benchmark::State& state, const Scenario& scenario) {
  const auto piece = scenario.make();
  for (int i = 0; i < kWarmUp; ++i) {
    piece->prepare();
    piece->run();
  }
  for (auto _ : state) {
    piece->prepare();
    const double begin = cpu_seconds();
    piece->run();
    state.SetIterationTime(cpu_seconds() - begin);
  }
}

}  // namespace
}  // namespace keplerd

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  for (const keplerd::Scenario& scenario : keplerd::scenarios()) {
    benchmark::RegisterBenchmark(std::string(scenario.name).c_str(),
                                 [&scenario](benchmark::State& state) { keplerd::measure(state, scenario); })
        ->UseManualTime()
        ->Iterations(10 * keplerd::kRound)
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
