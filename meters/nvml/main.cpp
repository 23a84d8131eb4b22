// SPDX-License-Identifier: Apache-2.0
// keplerd-nvml [DIRECTORY [LIBRARY [USAGE-DIRECTORY]]]: publishes the energy or power of NVIDIA cards, and
// who uses them, for keplerd. A process of its own, because the driver's library may hang or crash, and needs
// devices that keplerd must not open.
#include <array>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "host/host_root.h"
#include "meters/meter_writer.h"
#include "meters/nvml/card_meters.h"
#include "meters/nvml/nvml.h"
#include "meters/usage_writer.h"
#include "usage/process_stat.h"

namespace {

using namespace keplerd;

std::uint64_t read_start(const HostRoot& host, std::int32_t pid) {
  std::array<char, 4096> buffer;
  const auto text = read_file(host.procfs(), (std::to_string(pid) + "/stat").c_str(), buffer);
  const auto stat = text ? parse_process_stat(*text) : Result<ProcessStat>(text.error());
  return stat && stat->id.pid == pid ? stat->id.start : 0;
}

int fail(const std::string& message) {
  std::cerr << "keplerd-nvml: " << message << '\n';
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "/run/keplerd-meters/nvidia";
  const std::string usage_directory = argc > 3 ? argv[3] : "/run/keplerd-usage/nvidia";
  const auto library = nvml::Library::open(argc > 2 ? argv[2] : nvml::kLibrary);
  if (!library) return fail(library.error().message);
  const auto host = HostRoot::open({});
  if (!host) return fail(host.error().message);
  meters::DeviceUses uses;
  const auto start_of = [&](std::int32_t pid) { return read_start(*host, pid); };
  std::int64_t last = meters::boot_microseconds();
  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  while (true) {
    const auto cards = library->read();
    const std::int64_t now = meters::boot_microseconds();
    uses.begin(std::chrono::microseconds(now), {});
    const auto texts = nvml::card_uses(cards, std::chrono::microseconds(now - last), start_of, uses);
    last = now;
    for (const auto& written : {meters::write_meters(directory, nvml::card_meters(cards, now)),
                                meters::write_usage(usage_directory, texts)})
      if (!written) return fail(written.error().message);
    ++next.tv_sec;
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
  }
}
