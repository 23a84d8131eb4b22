// SPDX-License-Identifier: Apache-2.0
// keplerd-nvml [DIRECTORY [LIBRARY]]: publishes the energy or power of NVIDIA cards for keplerd. A process
// of its own, because the driver's library may hang or crash, and needs devices that keplerd must not
// open.
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "meters/meter_writer.h"
#include "meters/nvml/card_meters.h"
#include "meters/nvml/nvml.h"

int main(int argc, char** argv) {
  using namespace keplerd;
  const std::string directory = argc > 1 ? argv[1] : "/run/keplerd-meters/nvidia";
  const auto library = nvml::Library::open(argc > 2 ? argv[2] : nvml::kLibrary);
  if (!library) {
    std::cerr << "keplerd-nvml: " << library.error().message << '\n';
    return EXIT_FAILURE;
  }
  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  while (true) {
    const std::vector<nvml::Card> cards = library->read();
    const auto written =
        meters::write_meters(directory, nvml::card_meters(cards, meters::boot_microseconds()));
    if (!written) {
      std::cerr << "keplerd-nvml: " << written.error().message << '\n';
      return EXIT_FAILURE;
    }
    ++next.tv_sec;
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
  }
}
