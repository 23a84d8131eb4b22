// SPDX-License-Identifier: Apache-2.0
// Reads cost.conf, its drop-ins and the file of intensities (keplerd-cost.conf(5)). An error's message is one
// line, "FILE:LINE: what is wrong", or that of apply_config_files() (config/files.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/files.h"
#include "cost/tariff.h"

namespace keplerd {

// What is set so far, by one file after the other.
struct TariffText {
  Tariff tariff;
  std::string price_place;     // "FILE:LINE" of the last Price=
  std::string intensity_file;  // to be read: the path

  bool operator==(const TariffText&) const = default;
};

// Applies the text on top of `so_far`; an empty value unsets what is set. Stops at the first error. `file` is
// for its message.
Result<TariffText> parse_tariff(std::string_view text, std::string_view file, TariffText so_far);

// What no key says alone: prices need a currency, and one that always applies. For when all files are read.
Result<Tariff> finish_tariff(const TariffText& text);

// The same, with the intensities of the file.
Result<Tariff> finish_with_intensities(const TariffText& text);

// That file alone, which must exist; empty: cost.conf and its drop-ins.
Result<TariffText> load_tariff_text(const std::string& path,
                                    const std::vector<std::string>& directories = kConfigDirectories);

// No file at all: nothing is known.
Result<Tariff> load_tariff(const std::vector<std::string>& directories = kConfigDirectories);

// That file alone; it must exist. If `path` is empty: as without it.
Result<Tariff> load_tariff_file(const std::string& path);

}  // namespace keplerd
