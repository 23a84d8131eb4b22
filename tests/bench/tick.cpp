// SPDX-License-Identifier: Apache-2.0
// bench_tick floor|tick SECONDS [PERIOD_MS]: measures one sample of this very host, in CPU time,
// allocations and memory: `floor` only reads (see floor.h), `tick` is keplerd's complete path from the
// counters to the report. One JSON object; medians over the samples. Run both side by side, so that they
// see the same noise.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/log.h"
#include "daemon/meter.h"
#include "floor.h"
#include "host/host_root.h"

namespace {

std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace keplerd {
namespace {

using Json = nlohmann::json;

std::int64_t cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

std::int64_t anonymous_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Anonymous:")) return std::atoll(line.c_str() + 10) * 1024;
  }
  return 0;
}

template <class Value>
Value median(std::vector<Value> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// Excludes the first samples, which find everything, and a tenth of them, which scan all of /proc: the mean
// includes those.
Json measure(const std::function<void()>& sample, std::chrono::milliseconds period, int samples) {
  constexpr int kBeginning = 3;
  std::vector<std::int64_t> times;
  std::vector<std::size_t> counts;
  auto next = std::chrono::steady_clock::now();
  for (int i = 0; i < kBeginning + samples; ++i) {
    std::this_thread::sleep_until(next += period);
    const std::int64_t begin = cpu_time();
    const std::size_t before = allocations;
    sample();
    if (i < kBeginning) continue;
    times.push_back(cpu_time() - begin);
    counts.push_back(allocations - before);
  }
  std::int64_t sum = 0;
  for (const std::int64_t time : times) sum += time;
  return {{"medianNsec", median(times)},
          {"meanNsec", sum / static_cast<std::int64_t>(times.size())},
          {"allocations", median(counts)},
          {"anonymousBytes", anonymous_bytes()}};
}

int run(std::string_view what, int seconds, std::chrono::milliseconds period) {
  const auto opened = HostRoot::open({});
  if (!opened) return 1;
  const HostRoot& host = *opened;
  const int samples = static_cast<int>(seconds * 1000 / period.count());
  Json result;
  if (what == "floor") {
    const auto root = host.cgroupfs();
    if (!root) return 1;
    Floor floor(*root);
    result = measure([&] { floor.read(); }, period, samples);
    result["groups"] = floor.groups();
    result["clocks"] = floor.clocks();
  } else {
    SourceChoice choice;
    choice.source = "simulated";
    Meter meter(host, choice, Ledger("bench", read_system_clocks().realtime), {}, read_system_clocks);
    result = measure([&] { meter.sample(); }, period, samples);
  }
  std::puts(result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace keplerd

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: bench_tick floor|tick SECONDS [PERIOD_MS]\n");
    return 2;
  }
  const int period = count > 3 ? std::atoi(arguments[3]) : 1000;
  return keplerd::run(arguments[1], std::atoi(arguments[2]), std::chrono::milliseconds(period));
}
