// SPDX-License-Identifier: Apache-2.0
#include "cli/history/costs.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/human.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

constexpr std::string_view kCost = "costMicro", kCarbon = "milligramsCO2e";
constexpr std::int64_t kMicrogramsPerMilligram = 1000;

std::string time_text(std::int64_t usec) {
  return format_time(std::chrono::floor<std::chrono::seconds>(std::chrono::microseconds(usec)));
}

// "350 ugCO2e": less than what emissions are usually shown in.
std::string micrograms_text(std::int64_t micrograms) {
  constexpr std::int64_t kMost = 10 * kMicrogramsPerMilligram;
  if (micrograms < kMost) return fmt::format("{} ugCO2e", micrograms);
  return format_carbon({(micrograms + kMicrogramsPerMilligram / 2) / kMicrogramsPerMilligram});
}

}  // namespace

void LargestCosts::include(const Json& object) {
  if (const auto amount = integer_field(object, kCost)) cost = std::max(*amount, cost.value_or(0));
  if (const auto amount = integer_field(object, kCarbon)) carbon = std::max(*amount, carbon.value_or(0));
}

CostColumns::CostColumns(std::string currency, const LargestCosts& largest)
    : currency_(std::move(currency)), decimals_(cost_decimals({largest.cost.value_or(0)})) {
  if (largest.carbon) carbon_.emplace(Quantity::kCarbon, *largest.carbon);
}

void CostColumns::add_to(std::vector<Column>& columns) const {
  if (!currency_.empty()) columns.push_back({.header = "COST", .leaves = 2});
  if (carbon_) columns.push_back({.header = "EMISSIONS", .leaves = 3});
}

void CostColumns::add_cells(std::vector<std::string>& cells, const Json& object) const {
  const auto cost = integer_field(object, kCost), carbon = integer_field(object, kCarbon);
  if (!currency_.empty()) cells.push_back(cost ? format_cost({*cost}, decimals_) + " " + currency_ : "");
  if (carbon_) cells.push_back(carbon ? carbon_->text(*carbon) : "");
}

std::string currency_of(const Json& reply) { return name_text(reply, "currency"); }

void copy_costs(Json& to, const Json& from, const Json& reply) {
  if (const auto cost = integer_field(from, kCost)) {
    to[std::string(kCost)] = *cost;
    to["currency"] = field(reply, "currency");
  }
  if (const auto carbon = integer_field(from, kCarbon)) to[std::string(kCarbon)] = *carbon;
}

std::string cost_notes(const std::vector<Json>& replies) {
  std::int64_t mean = 0, unknown = 0, energy = 0;
  for (const Json& reply : replies) {
    mean += integer_field(reply, "meanRateUsec").value_or(0);
    unknown += integer_field(reply, "noIntensityUsec").value_or(0);
    energy += integer_field(reply, "noIntensityMicrojoules").value_or(0);
  }
  std::string notes;
  if (mean > 0)
    notes += fmt::format("Mean rates are applied to {}: it is not recorded when in it energy was used.\n",
                         time_text(mean));
  if (unknown > 0)
    notes += fmt::format("Emissions of {}{} are not included: the carbon intensity is not known.\n",
                         time_text(unknown),
                         energy > 0 ? fmt::format(" ({} of the host)", format_energy({energy})) : "");
  return notes;
}

std::string rates_problem(const Json& reply) { return name_text(reply, "ratesProblem"); }

Result<Done> add_intensity_score(Json& report, std::int64_t functional_units) {
  const auto operation = integer_field(report, kCarbon);
  const auto embodied = integer_field(report, "embodiedMilligramsCO2e");
  if (!report.contains("accounts"))
    return Error{"--functional-unit: the energy of the host is not shown to you"};
  if (!operation || !embodied)
    return Error{
        "--functional-unit: the carbon intensity and the embodied emissions are not known "
        "(Intensity= and EmbodiedGrams=, see keplerd-cost.conf(5))"};
  const __int128 micrograms = (static_cast<__int128>(*operation) + *embodied) * kMicrogramsPerMilligram;
  report["softwareCarbonIntensity"] = {
      {"functionalUnits", functional_units},
      {"operationalMilligramsCO2e", *operation},
      {"embodiedMilligramsCO2e", *embodied},
      {"microgramsCO2ePerUnit",
       static_cast<std::int64_t>((micrograms + functional_units / 2) / functional_units)}};
  return Done{};
}

std::string intensity_score_text(const Json& report) {
  const Json& score = field(report, "softwareCarbonIntensity");
  const auto amount = [&score](std::string_view name) { return integer_field(score, name).value_or(0); };
  if (!score.is_object()) return "";
  return fmt::format(
      "Software Carbon Intensity: {} for each of {} functional units\n({} for energy, {} for the host).\n",
      micrograms_text(amount("microgramsCO2ePerUnit")), amount("functionalUnits"),
      format_carbon({amount("operationalMilligramsCO2e")}),
      format_carbon({amount("embodiedMilligramsCO2e")}));
}

}  // namespace keplerd::cli::history
