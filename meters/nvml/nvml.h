// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library (NVML), loaded at run time: it is not needed at build time, and without it
// this does nothing. Its functions and types are those of NVIDIA's documented C interface, which is
// stable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace keplerd::nvml {

inline constexpr char kLibrary[] = "libnvidia-ml.so.1";

// How busy a process kept a card in the time before `time`.
struct ProcessSample {
  std::int32_t pid = 0;
  std::uint64_t time = 0;  // microseconds, of a clock of the driver
  unsigned percent = 0;    // of the time, all engines together
};

// A graphics card's meter, if it has one.
struct Card {
  std::string bus_id;          // "00000000:65:00.0"
  bool counts_energy = false;  // else power
  std::int64_t value = 0;      // microjoules since its driver was loaded, or microwatts now
  // The samples since the last reading. An error if it does not report them: old cards, and those that are
  // divided into instances (MIG).
  Result<std::vector<ProcessSample>> processes = std::vector<ProcessSample>();
};

class Library {
 public:
  // Fails if there is no such library, or no driver for it. `path`: as for dlopen(3).
  static Result<Library> open(const std::string& path = kLibrary);
  ~Library();
  Library(Library&&) noexcept;
  Library& operator=(Library&&) = delete;

  // Cards that currently report energy or power, in the library's order. The first time, nothing is known of
  // processes.
  std::vector<Card> read() const;

 private:
  struct Functions;
  explicit Library(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
};

}  // namespace keplerd::nvml
