// SPDX-License-Identifier: Apache-2.0
#include "history/store/energies.h"

#include <cstdint>

#include <gmock/gmock.h>

namespace keplerd::history {
namespace {

using testing::IsEmpty;

Energies unpacked(const std::string& packed) {
  Energies energies;
  add_packed(energies, packed);
  return energies;
}

TEST(PackedEnergies, AreReadBack) {
  const Energies energies = {{1, {{0}, {0}}},
                             {2, {{127}, {128}}},
                             {300, {{INT64_MAX}, {1}}},
                             {INT64_MAX, {{5'000'000'000}, {INT64_MAX}}}};
  EXPECT_EQ(unpacked(pack(energies)), energies);
  EXPECT_THAT(pack({}), IsEmpty());
  EXPECT_THAT(unpacked(""), IsEmpty());
}

TEST(PackedEnergies, AreInTheFormatOfTheManual) {
  EXPECT_EQ(pack({{2, {{300}, {0}}}, {5, {{1}, {127}}}}), std::string("\x02\xac\x02\x00\x03\x01\x7f", 7));
}

TEST(PackedEnergies, AreAdded) {
  Energies energies = {{1, {{10}, {1}}}, {3, {{30}, {3}}}};
  add_packed(energies, pack({{1, {{5}, {0}}}, {2, {{7}, {7}}}, {9, {{1}, {1}}}}));
  EXPECT_EQ(energies, (Energies{{1, {{15}, {1}}}, {2, {{7}, {7}}}, {3, {{30}, {3}}}, {9, {{1}, {1}}}}));
}

TEST(PackedEnergies, WhatIsDamagedIsAnError) {
  const std::string packed = pack({{2, {{300}, {0}}}, {5, {{1}, {127}}}});
  for (const std::size_t size : {1u, 2u, 3u, 5u})
    EXPECT_THROW(unpacked(packed.substr(0, size)), DatabaseError);
  EXPECT_THROW(unpacked(std::string(30, '\xff')), DatabaseError) << "an integer of more than 63 bits";
  EXPECT_THROW(unpacked(std::string("\x00\x01\x01", 3)), DatabaseError) << "two workloads of one number";
  const std::string twice = pack({{INT64_MAX, {}}}) + pack({{1, {}}});
  EXPECT_THROW(unpacked(twice), DatabaseError) << "a number that does not fit";
}

}  // namespace
}  // namespace keplerd::history
