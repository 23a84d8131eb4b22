// SPDX-License-Identifier: Apache-2.0
// What public views show of nested rows.
#include "daemon/access/public_energy.h"

#include <array>
#include <cmath>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/access/public_view.h"

namespace keplerd {
namespace {

using testing::ElementsAre;

constexpr Uid kOwner = 1000;

// The units' own energies, by id; those of the rows follow from them.
using Own = std::map<std::string, std::int64_t>;

std::shared_ptr<Report> report_of(const Own& own) {
  auto report = std::make_shared<Report>();
  for (const auto& [id, microjoules] : own) {
    UnitRow& row = report->units.emplace_back();
    UnitInfo info{.id = id, .name = id, .parent = {}};
    const auto slash = id.rfind('/');
    if (slash != 0) info.parent = id.substr(0, slash);
    row.info = std::make_shared<const UnitInfo>(std::move(info));
    row.owner = kOwner;
    row.own = {microjoules};
    for (const auto& [other, energy] : own)
      if (other == id || other.starts_with(id + "/")) row.active += Microjoules{energy};
  }
  return report;
}

std::shared_ptr<const Report> view_of(std::shared_ptr<const Report> report, PublicAccess rule, uid_t user) {
  const auto energies = std::make_shared<const PublicEnergies>(public_energies(*report));
  return public_report({.now = {std::move(report)}, .energies = energies}, rule, user);
}

std::vector<std::int64_t> shown(const Own& own) {
  std::vector<std::int64_t> energies;
  const auto view = view_of(report_of(own), PublicAccess::kOwn, kOwner);
  for (const UnitRow& row : view->units) energies.push_back((row.active + row.idle).value);
  return energies;
}

std::int64_t inside(const Report& report, const std::string& id) {
  Microjoules sum;
  for (const UnitRow& row : report.units)
    if (row.info->parent == id) sum += row.active + row.idle;
  return sum.value;
}

TEST(PublicUnits, ShowTheirOwnInStepsPlusWhatIsShownInside) {
  const Own own{{"/u", 250'000}, {"/u/a", 190'000}, {"/u/a/b", 99'999}, {"/u/c", 100'000}, {"/v", 99'999}};
  EXPECT_THAT(shown(own), ElementsAre(400'000, 100'000, 0, 100'000, 0));
  const auto view = view_of(report_of(own), PublicAccess::kOwn, kOwner);
  for (const UnitRow& row : view->units)
    EXPECT_EQ((row.active + row.idle).value, row.own.value + inside(*view, row.info->id)) << row.info->id;
}

TEST(PublicUnits, ShowTheSameToEveryCaller) {
  const Own own{{"/u", 250'000}, {"/u/a", 190'000}, {"/u/a/b", 160'000}};
  const auto report = report_of(own);
  report->units[2].owner = 0;
  const auto mine = view_of(report, PublicAccess::kOwn, kOwner),
             all = view_of(report, PublicAccess::kAll, kOwner);
  ASSERT_EQ(mine->units.size(), 2U);
  ASSERT_EQ(all->units.size(), 3U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(mine->units[i].active, all->units[i].active);
}

// Each of 80 cgroups adds a known energy to that of the one inside it, 1/80 of a step. The best estimate of
// the innermost one's energy is the mean of all energies that would look the same.
double mean_error(int depth) {
  constexpr std::int64_t kGrain = 2000;
  std::map<std::vector<std::int64_t>, std::vector<double>> alike;
  for (std::int64_t energy = 0; energy < 2 * kPublicStep.value; energy += kGrain) {
    Own own;
    std::string id;
    for (int level = 1; level <= depth; ++level) {
      id += "/g";
      own[id] = level == depth ? energy : kPublicStep.value / 80;
    }
    alike[shown(own)].push_back(static_cast<double>(energy));
  }
  double error = 0, count = 0;
  for (const auto& [numbers, energies] : alike) {
    double mean = 0;
    for (const double energy : energies) mean += energy / static_cast<double>(energies.size());
    for (const double energy : energies) error += std::abs(energy - mean);
    count += static_cast<double>(energies.size());
  }
  return error / count;
}

TEST(PublicUnits, NestedUnitsRevealNoMoreThanOne) {
  EXPECT_NEAR(mean_error(1), 25'000, 1000);
  EXPECT_EQ(mean_error(80), mean_error(1));
}

// A parent of a random id; nothing if there is none.
std::optional<std::string> any(const Own& own, std::mt19937& random) {
  if (own.empty()) return std::nullopt;
  return std::next(own.begin(), static_cast<std::ptrdiff_t>(random() % own.size()))->first;
}

TEST(PublicUnits, NeverGoBackWhenUnitsComeRunAndEnd) {
  std::mt19937 random(7);
  Own own{{"/u", 0}};
  std::map<std::string, std::int64_t> before;
  for (int round = 0; round < 3000; ++round) {
    const std::string id = *any(own, random);
    const bool is_leaf =
        std::ranges::none_of(own, [&](const auto& entry) { return entry.first.starts_with(id + "/"); });
    switch (random() % 4) {
      case 0:
        if (own.size() < 40) own.emplace(id + "/" + static_cast<char>('a' + random() % 5), 0);
        break;
      case 1:
        if (is_leaf && id != "/u") {
          own[id.substr(0, id.rfind('/'))] += own[id];
          own.erase(id);
          before.erase(id);
        }
        break;
      default:
        own[id] += static_cast<std::int64_t>(random() % 150'000);
    }
    const auto report = report_of(own);
    const PublicEnergies energies = public_energies(*report);
    for (std::size_t i = 0; i < report->units.size(); ++i) {
      const UnitRow& row = report->units[i];
      const std::int64_t now = energies.units[i].active.value;
      EXPECT_GE(now, before[row.info->id]) << row.info->id;
      EXPECT_LE(now, row.active.value);
      EXPECT_EQ(now % kPublicStep.value, 0);
      before[row.info->id] = now;
    }
  }
}

struct Container {
  std::string id, parent;
  std::int64_t energy, own, in_parent;
};

std::shared_ptr<Report> report_of(const std::vector<Container>& containers) {
  auto report = std::make_shared<Report>();
  for (const Container& container : containers) {
    const bool is_pod = container.id.starts_with("pod");
    ContainerRow& row = (is_pod ? report->pods : report->containers).emplace_back();
    ContainerInfo info{.id = container.id, .name = container.id, .is_pod = is_pod, .runtime = "x"};
    if (!container.parent.empty()) info.parent = container.parent;
    row.info = std::make_shared<const ContainerInfo>(std::move(info));
    row.active = {container.energy};
    row.own = {container.own};
    row.in_parent = {container.in_parent};
  }
  return report;
}

TEST(PublicContainers, ShowTheirOwnInStepsPlusWhatIsShownInside) {
  const PublicEnergies energies = public_energies(*report_of({{"a", "pod", 460'000, 190'000, 460'000},
                                                              {"b", "a", 270'000, 270'000, 270'000},
                                                              {"c", "pod", 99'999, 99'999, 99'999},
                                                              {"pod", "", 609'999, 50'000, 0}}));
  const auto& [a, b, c] = std::tie(energies.containers[0], energies.containers[1], energies.containers[2]);
  EXPECT_EQ(b.active, Microjoules{200'000});
  EXPECT_EQ(a.active, Microjoules{300'000});
  EXPECT_EQ(a.own, Microjoules{100'000});
  EXPECT_EQ(a.in_parent, Microjoules{300'000});
  EXPECT_EQ(c.active, Microjoules{0});
  EXPECT_EQ(energies.pods[0].own, Microjoules{0});
  EXPECT_EQ(energies.pods[0].active, Microjoules{300'000});
}

TEST(PublicContainers, WhatHasMovedIsInItsParentWithWhatItUsedThere) {
  const PublicEnergies energies = public_energies(*report_of({{"a", "", 350'000, 30'000, 0},
                                                              {"b", "a", 990'000, 770'000, 320'000},
                                                              {"c", "b", 220'000, 220'000, 220'000}}));
  EXPECT_EQ(energies.containers[1].active, Microjoules{900'000});
  EXPECT_EQ(energies.containers[1].in_parent, Microjoules{300'000}) << "100 mJ and those of c";
  EXPECT_EQ(energies.containers[0].active, Microjoules{300'000});
}

TEST(PublicContainers, InsideEachOtherInACircleEndAllTheSame) {
  const PublicEnergies energies =
      public_energies(*report_of({{"a", "b", 100'000, 100'000, 0}, {"b", "a", 100'000, 100'000, 0}}));
  EXPECT_EQ(energies.containers.size(), 2U);
}

}  // namespace
}  // namespace keplerd
