// SPDX-License-Identifier: Apache-2.0
// Reads the host's processors from /proc/cpuinfo (Linux, Documentation/filesystems/proc.rst).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keplerd::exporter {

// Fields that an architecture does not report are empty.
struct Processor {
  std::string number, vendor_id, model_name, physical_id, core_id;
};

std::vector<Processor> parse_processors(std::string_view cpuinfo);

}  // namespace keplerd::exporter
