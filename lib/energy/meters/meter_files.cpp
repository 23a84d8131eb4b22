// SPDX-License-Identifier: Apache-2.0
#include "energy/meters/meter_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/pci_address.h"
#include "base/text.h"

namespace keplerd {
namespace {

constexpr std::size_t kLongestName = 32;
// A clock that counts nanoseconds in 64 bits.
constexpr std::int64_t kLatest = INT64_MAX / 1000;

Error unexpected(std::string_view file, std::string_view text, std::string_view expected) {
  return {.message = fmt::format("{} is '{}' (expected {})", file, escape_name(text), expected)};
}

// The processors' meters count memory apart from them; others do not.
std::optional<Coverage> parse_meter_coverage(std::string_view text) {
  const auto coverage = parse_coverage(text);
  return coverage == Coverage::kDram ? std::nullopt : coverage;
}

// Nobody else says "attributed" or "simulated" of a meter.
std::optional<Quality> parse_meter_quality(std::string_view text) {
  const auto quality = parse_quality(text);
  const bool is_of_a_meter =
      quality == Quality::kMeasured || quality == Quality::kModelled || quality == Quality::kEstimated;
  return is_of_a_meter ? quality : std::nullopt;
}

// More than any host uses in a thousand years: integrals and differences fit.
constexpr std::int64_t kLargest = 1'000'000'000'000'000'000;

Result<std::int64_t> parse_amount(std::string_view file, std::string_view text) {
  const auto number = parse_number<std::int64_t>(trim(text));
  if (!number || *number < 0 || *number > kLargest)
    return unexpected(file, trim(text), "a number that is not negative");
  return *number;
}

}  // namespace

bool is_meter_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kLongestName && is_letter(name.front()) &&
         std::ranges::all_of(name,
                             [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

Result<MeterDescription> describe_meter(const MeterTexts& texts) {
  const auto text_of = [](const std::optional<std::string>& text) {
    return text ? trim(*text) : std::string_view();
  };
  const auto covers = parse_meter_coverage(text_of(texts.covers));
  if (!covers) return unexpected("covers", text_of(texts.covers), "platform, cpu, gpu or other");
  const auto quality = parse_meter_quality(text_of(texts.quality));
  if (!quality) return unexpected("quality", text_of(texts.quality), "measured, modelled or estimated");
  if (texts.energy.has_value() == texts.power.has_value())
    return Error{.message = texts.energy ? "it has energy_uj and power_uw (expected one of them)"
                                         : "it has neither energy_uj nor power_uw"};
  MeterDescription meter{
      *covers, *quality, std::string(coverage_name(*covers)), texts.energy.has_value(), {}};
  if (texts.name) meter.name = text_of(texts.name);
  if (!is_meter_name(meter.name))
    return unexpected("name", meter.name, "at most 32 lower case letters, digits and hyphens");
  if (!texts.device) return meter;
  const auto device = pci_address(text_of(texts.device));
  if (!device || meter.covers != Coverage::kGpu)
    return unexpected("device", text_of(texts.device),
                      "the PCI address of a graphics card, like 0000:03:00.0");
  meter.device = *device;
  return meter;
}

Result<MeterReading> parse_meter_reading(std::string_view value, std::string_view time) {
  const auto amount = parse_amount("its value", value);
  if (!amount) return amount.error();
  const auto at = parse_amount("boottime_us", time);
  if (!at) return at.error();
  if (*at > kLatest) return unexpected("boottime_us", trim(time), "microseconds since the boot");
  return MeterReading{std::chrono::microseconds(*at), *amount};
}

}  // namespace keplerd
