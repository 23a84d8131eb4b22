// SPDX-License-Identifier: Apache-2.0
// The values of settings as text: what keplerd.conf(5) accepts, and what it would have to contain. Errors say
// what is accepted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace keplerd {

Result<std::vector<std::string>> parse_zones(std::string_view text);
Result<std::vector<std::string>> parse_vms(std::string_view text);
Result<std::vector<std::string>> parse_patterns(std::string_view text);
std::string format_names(const std::vector<std::string>& names);
Result<std::string> parse_directory(std::string_view text);
std::string_view format_directory(std::string_view directory);
Result<Nanoseconds> parse_span(std::string_view text);
Result<Nanoseconds> parse_interval(std::string_view text);
Result<Nanoseconds> parse_unwatched_interval(std::string_view text);
Result<Nanoseconds> parse_staleness(std::string_view text);
Result<std::optional<std::size_t>> parse_count(std::string_view text);
Result<std::size_t> parse_descriptors(std::string_view text);
std::string format_descriptors(std::size_t count);
std::string format_count(std::optional<std::size_t> count);
Result<std::optional<Nanoseconds>> parse_retention(std::string_view text);
std::string format_retention(std::optional<Nanoseconds> span);
Result<Microjoules> parse_least_energy(std::string_view text);
Result<std::optional<Microwatts>> parse_watts(std::string_view text);
std::string format_watts(std::optional<Microwatts> power);

}  // namespace keplerd
