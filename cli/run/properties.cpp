// SPDX-License-Identifier: Apache-2.0
#include "cli/run/properties.h"

#include <array>
#include <csignal>
#include <cstring>
#include <limits>
#include <optional>

#include "base/parse.h"
#include "base/text.h"
#include "config/time_span.h"

namespace keplerd::cli::run {
namespace {

enum class Type { kBoolean, kText, kWeight, kBytes, kCount, kQuota, kTime, kCpus, kSignal };

struct Known {
  std::string_view name;
  Type type;
  std::string_view on_bus = {};  // if it has another name there
};

constexpr Known kKnown[] = {
    {"AllowedCPUs", Type::kCpus},
    {"AllowedMemoryNodes", Type::kCpus},
    {"CPUQuota", Type::kQuota, "CPUQuotaPerSecUSec"},
    {"CPUWeight", Type::kWeight},
    {"Delegate", Type::kBoolean},
    {"Description", Type::kText},
    {"IOAccounting", Type::kBoolean},
    {"IOWeight", Type::kWeight},
    {"KillMode", Type::kText},
    {"KillSignal", Type::kSignal},
    {"ManagedOOMMemoryPressure", Type::kText},
    {"ManagedOOMSwap", Type::kText},
    {"MemoryAccounting", Type::kBoolean},
    {"MemoryHigh", Type::kBytes},
    {"MemoryLow", Type::kBytes},
    {"MemoryMax", Type::kBytes},
    {"MemoryMin", Type::kBytes},
    {"MemorySwapMax", Type::kBytes},
    {"OOMPolicy", Type::kText},
    {"RuntimeMaxSec", Type::kTime, "RuntimeMaxUSec"},
    {"SendSIGHUP", Type::kBoolean},
    {"SendSIGKILL", Type::kBoolean},
    {"TasksAccounting", Type::kBoolean},
    {"TasksMax", Type::kCount},
    {"TimeoutStopSec", Type::kTime, "TimeoutStopUSec"},
};

constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();

using Value = std::optional<Property>;

Value boolean(const std::string& name, std::string_view text) {
  for (const std::string_view yes : {"1", "yes", "y", "true", "t", "on"})
    if (equals_ignoring_case(text, yes)) return Property{name, true};
  for (const std::string_view no : {"0", "no", "n", "false", "f", "off"})
    if (equals_ignoring_case(text, no)) return Property{name, false};
  return std::nullopt;
}

Value weight(const std::string& name, std::string_view text) {
  if (name == "CPUWeight" && text == "idle") return Property{name, std::uint64_t{0}};
  const auto number = parse_number<std::uint64_t>(text);
  if (!number || *number < 1 || *number > 10'000) return std::nullopt;
  return Property{name, *number};
}

// A share of what the host has, in units of 2^-32.
Value percentage(const std::string& name, std::string_view text) {
  const auto percent = parse_number<std::uint32_t>(text);
  if (!percent || *percent > 100) return std::nullopt;
  const std::uint64_t scale = std::numeric_limits<std::uint32_t>::max() * std::uint64_t{*percent} / 100;
  return Property{name + "Scale", static_cast<std::uint32_t>(scale)};
}

Value count(const std::string& name, std::string_view text) {
  if (text == "infinity") return Property{name, kInfinity};
  if (take_suffix(text, "%")) return percentage(name, text);
  const auto number = parse_number<std::uint64_t>(text);
  return number ? Value(Property{name, *number}) : std::nullopt;
}

Value bytes(const std::string& name, std::string_view text) {
  constexpr std::string_view kSuffixes = "KMGTPE";
  const auto power = text.empty() ? std::string_view::npos : kSuffixes.find(text.back());
  if (power == std::string_view::npos) return count(name, text);
  text.remove_suffix(1);
  const auto number = parse_number<std::uint64_t>(text);
  const int shift = 10 * (static_cast<int>(power) + 1);
  if (!number || *number > kInfinity >> shift) return std::nullopt;
  return Property{name, *number << shift};
}

Value quota(const std::string& name, std::string_view text) {
  if (text.empty()) return Property{name, kInfinity};
  if (!take_suffix(text, "%")) return std::nullopt;
  const auto percent = parse_number<std::uint32_t>(text);
  if (!percent || *percent == 0) return std::nullopt;
  return Property{name, std::uint64_t{*percent} * 10'000};
}

Value time(const std::string& name, std::string_view text) {
  if (text == "infinity") return Property{name, kInfinity};
  const auto span = parse_time_span(text);
  return span ? Value(Property{name, static_cast<std::uint64_t>(to_usec(*span))}) : std::nullopt;
}

// "0-3,8" as a mask: bit N of the bytes is CPU or node N.
Value cpus(const std::string& name, std::string_view text) {
  constexpr std::size_t kMostCpus = 8192;
  Bytes mask;
  while (!text.empty()) {
    std::string_view range = take_until(text, ',');
    const auto first = parse_number<std::size_t>(take_until(range, '-'));
    const auto last = range.empty() ? first : parse_number<std::size_t>(range);
    if (!first || !last || *last < *first || *last >= kMostCpus) return std::nullopt;
    if (mask.size() <= *last / 8) mask.resize(*last / 8 + 1);
    for (std::size_t cpu = *first; cpu <= *last; ++cpu)
      mask[cpu / 8] = static_cast<std::uint8_t>(mask[cpu / 8] | 1u << cpu % 8);
  }
  return mask.empty() ? std::nullopt : Value(Property{name, mask});
}

Value signal(const std::string& name, std::string_view text) {
  take_prefix(text, "SIG");
  for (int number = 1; number < SIGRTMIN; ++number) {
    const char* known = sigabbrev_np(number);
    if (known != nullptr && (text == known || parse_number<int>(text) == number))
      return Property{name, number};
  }
  return std::nullopt;
}

Value parse_value(const Known& known, std::string_view text) {
  const std::string name(known.on_bus.empty() ? known.name : known.on_bus);
  switch (known.type) {
    case Type::kBoolean:
      return boolean(name, text);
    case Type::kText:
      return Property{name, std::string(text)};
    case Type::kWeight:
      return weight(name, text);
    case Type::kBytes:
      return bytes(name, text);
    case Type::kCount:
      return count(name, text);
    case Type::kQuota:
      return quota(name, text);
    case Type::kTime:
      return time(name, text);
    case Type::kCpus:
      return cpus(name, text);
    case Type::kSignal:
      return signal(name, text);
  }
  return std::nullopt;
}

std::string known_names() {
  std::string out;
  for (const Known& known : kKnown) out += (out.empty() ? "" : ", ") + std::string(known.name);
  return out;
}

}  // namespace

Result<Property> parse_property(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string_view::npos || sign == 0)
    return Error{"invalid property '" + escape_name(text) + "' (expected NAME=VALUE)"};
  const std::string_view name = text.substr(0, sign), value = text.substr(sign + 1);
  for (const Known& known : kKnown) {
    if (known.name != name) continue;
    if (auto property = parse_value(known, value)) return *std::move(property);
    return Error{"invalid value '" + escape_name(value) + "' of the property " + std::string(name)};
  }
  return Error{"unknown property '" + escape_name(name) + "' (expected " + known_names() + ")"};
}

}  // namespace keplerd::cli::run
