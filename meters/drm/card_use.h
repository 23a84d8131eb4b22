// SPDX-License-Identifier: Apache-2.0
// The use of all graphics cards of the host, as texts of usage files.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/units.h"
#include "meters/drm/client_times.h"
#include "meters/drm/process_files.h"
#include "meters/usage_writer.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::drm {

class CardUse {
 public:
  // `host` must outlive it.
  explicit CardUse(const HostRoot& host) : host_(host), files_(host) {}

  // Scans, once a second, at `now` (CLOCK_BOOTTIME). Returns the texts by PCI address.
  std::map<std::string, std::string> read(Nanoseconds now);

  const ProcessFiles& files() const { return files_; }

 private:
  std::string unknown(const std::string& address, const std::string& driver) const;

  const HostRoot& host_;
  ProcessFiles files_;
  ClientTimes times_;
  meters::DeviceUses uses_;
  std::optional<Nanoseconds> last_;
  std::set<std::string> reporting_,
      silent_;  // cards that had a client with a time for an engine, and without
};

}  // namespace keplerd::drm
