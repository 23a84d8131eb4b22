// SPDX-License-Identifier: Apache-2.0
// Runs commands in parallel, without a shell, and collects what they write. Everything is bounded: how many
// run at once, how long each of them runs, and how much of its output is kept.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace keplerd::cli::fleet {

struct Limits {
  std::size_t at_once = 32;
  std::size_t most_output = std::size_t{16} << 20;  // of each; one that writes more is ended
  std::size_t most_errors = 4096;                   // of each: the end of standard error that is kept
  std::chrono::milliseconds longest{30'000};        // of each, from its own start
  std::chrono::milliseconds grace{2'000};           // from SIGTERM to SIGKILL
};

enum class Stopped { kNo, kTooLong, kTooMuch };

struct Ended {
  std::string output, errors;
  int status = 0;  // as a shell has it: 128 + N after signal N; 255 if it cannot be started, as ssh has it
  Stopped stopped = Stopped::kNo;
};

// Calls `done` for each command, by its index, as soon as it has ended; returns when all have. Their standard
// input is empty. They end with this process.
void run_all(const std::vector<std::vector<std::string>>& commands, const Limits& limits,
             const std::function<void(std::size_t index, Ended ended)>& done);

}  // namespace keplerd::cli::fleet
