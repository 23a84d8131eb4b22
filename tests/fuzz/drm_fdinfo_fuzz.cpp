// SPDX-License-Identifier: Apache-2.0
// The texts of /proc/PID/fdinfo/FD at several times: processes choose which files they open, and some of the
// text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/parse.h"
#include "base/pci_address.h"
#include "meters/drm/client_times.h"
#include "meters/drm/fdinfo.h"
#include "usage/usage_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keplerd;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  drm::ClientTimes times;
  meters::DeviceUses uses;
  const ProcessId process{42, 7};
  for (Nanoseconds now = std::chrono::seconds(1); !rest.empty(); now += std::chrono::seconds(1)) {
    auto info = drm::parse_fdinfo(take_until(rest, '\0'));
    if (!info) continue;
    if (info->driver.empty() || pci_address(info->device) != info->device) std::abort();
    if (info->engines.size() > drm::kMostEngines) std::abort();
    const std::string device = info->device;
    uses.begin(now, {process});
    times.take(now, {{process, now == std::chrono::seconds(1), *std::move(info)}}, uses);
    if (!parse_usage_file(uses.text(device))) std::abort();
  }
  return 0;
}
