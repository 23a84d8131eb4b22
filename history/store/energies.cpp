// SPDX-License-Identifier: Apache-2.0
#include "history/store/energies.h"

#include <sqlite3.h>

namespace keplerd::history {
namespace {

void put(std::string& packed, std::int64_t integer) {
  constexpr std::uint64_t kMore = 0x80;
  auto value = static_cast<std::uint64_t>(integer);
  for (; value >= kMore; value >>= 7U) packed += static_cast<char>(value | kMore);
  packed += static_cast<char>(value);
}

}  // namespace

void Unpacker::fail() { throw DatabaseError("damaged: the energies of a span", SQLITE_CORRUPT); }

std::string pack(const Energies& energies) {
  std::string packed;
  std::int64_t last = 0;
  for (const auto& [workload, amounts] : energies) {
    put(packed, workload - last);
    put(packed, amounts.active.value);
    put(packed, amounts.idle.value);
    last = workload;
  }
  return packed;
}

void add_packed(Energies& energies, std::string_view packed) {
  auto hint = energies.begin();
  for (Unpacker unpacker(packed); !unpacker.is_at_end();) {
    const auto [workload, amounts] = unpacker.next();
    hint = energies.try_emplace(hint, workload);
    hint->second += amounts;
    ++hint;
  }
}

std::string packed_energies(Database& database, std::int64_t span) {
  Statement find = database.prepare("SELECT workloads FROM energies WHERE span = ?1");
  return find.bind(span).step() ? find.text(0) : std::string();
}

void save_energies(Database& database, std::int64_t span, const Energies& energies) {
  if (energies.empty()) return;
  database.prepare("INSERT OR REPLACE INTO energies VALUES (?1, ?2)").bind(span, Blob{pack(energies)}).run();
}

}  // namespace keplerd::history
