// SPDX-License-Identifier: Apache-2.0
// Pieces of keplerd's work on hosts that are the same every time: bench_guard counts their instructions,
// bench_pieces measures their time.
#pragma once

#include <memory>
#include <span>
#include <string_view>

namespace keplerd {

class Piece {
 public:
  virtual ~Piece() = default;
  virtual void prepare() = 0;  // the host's and keplerd's preparation: a second passes; not measured
  virtual void run() = 0;      // the piece of work
};

// After this many steps the initial work is over.
inline constexpr int kWarmUp = 4;
// Within this many steps every periodic task has its turn, such as scanning all of /proc.
inline constexpr int kRound = 10;

struct Scenario {
  std::string_view name;
  std::unique_ptr<Piece> (*make)();
};

std::span<const Scenario> scenarios();

// On written trees: from files to report.
std::unique_ptr<Piece> tick_idle();   // 200 units, 2,000 processes, all idle
std::unique_ptr<Piece> tick_moved();  // the same, with 10 units and their 100 processes active
std::unique_ptr<Piece> tick_vms();    // 100 VMs of 4 vCPUs, all active
std::unique_ptr<Piece> log_idle();    // of the write-ahead log, what tick_idle() and tick_moved() add to it
std::unique_ptr<Piece> log_moved();

// On numbers: from a live host's sensor values to the report.
std::unique_ptr<Piece> divide_idle();   // 200 units, 2,000 processes, all idle
std::unique_ptr<Piece> divide_moved();  // the same, with 10 units and their 100 processes active
std::unique_ptr<Piece>
divide_large();  // 2,000 units, 20,000 processes, 10 units and their 100 processes active
std::unique_ptr<Piece> divide_vms();  // 100 VMs of 4 vCPUs, all active
// From the report to the text for one reader. Of 200 units and 2,000 processes, 10 and 100 are active.
std::unique_ptr<Piece> monitor_host();
std::unique_ptr<Piece> monitor_units();
std::unique_ptr<Piece> monitor_processes();
std::unique_ptr<Piece> monitor_vms();  // 100, all active
std::unique_ptr<Piece> public_view();  // a tenth of them belong to the caller

}  // namespace keplerd
