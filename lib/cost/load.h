// SPDX-License-Identifier: Apache-2.0
// Reads cost.conf and its drop-ins (keplerd-cost.conf(5)). An error's message is one line, "FILE:LINE: what
// is wrong", or that of apply_config_files() (config/files.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/files.h"
#include "cost/rates.h"

namespace keplerd {

// Rates as they are set so far, by one file after the other.
struct RatesText {
  Rates rates;
  std::string price_place;  // "FILE:LINE" of the last Price=
};

// Applies the text on top of `so_far`; of a key that is set twice the last counts, and an empty value unsets
// it. Stops at the first error. `file` is for its message.
Result<RatesText> parse_rates(std::string_view text, std::string_view file, RatesText so_far);

// What no key says alone: a price needs a currency. For when all files are read.
Result<Rates> finish_rates(const RatesText& text);

// No file at all: nothing is known.
Result<Rates> load_rates(const std::vector<std::string>& directories = kConfigDirectories);

// That file alone; it must exist. If `path` is empty: as without it.
Result<Rates> load_rates_file(const std::string& path);

}  // namespace keplerd
