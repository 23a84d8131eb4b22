// SPDX-License-Identifier: Apache-2.0
// keplerd-ipmi: reads the power of this host from its management controller through /dev/ipmi0, for keplerd.
// A process of its own, because that device is full power over the controller, and because it may hang for
// minutes.
#include "meters/ipmi/free_ipmi.h"
#include "meters/ipmi/reader.h"
#include "meters/polling.h"

int main(int argc, char**) {
  using namespace keplerd;
  return meters::run_program("keplerd-ipmi", argc, []() -> int {
    ipmi::FreeIpmi controller;
    ipmi::Reader reader(controller, meters::boot_microseconds);
    meters::publish(meters::directory_in("RUNTIME_DIRECTORY", "/run/keplerd-meters/ipmi"),
                    [&reader] { return reader.poll(); });
  });
}
