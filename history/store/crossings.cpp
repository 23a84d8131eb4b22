// SPDX-License-Identifier: Apache-2.0
#include "history/store/crossings.h"

namespace keplerd::history {
namespace {

constexpr Time kKept = std::chrono::hours(24 * 366);

}  // namespace

int reported_percent(Database& database, const CrossingKey& key) {
  Statement find = database.prepare("SELECT percent FROM crossings WHERE budget = ?1 AND period = ?2");
  if (!find.bind(key.budget, key.period.count()).step()) return 0;
  return static_cast<int>(find.integer(0));
}

void record_crossing(Database& database, const CrossingKey& key, int percent) {
  Transaction transaction(database);
  database.prepare("INSERT OR REPLACE INTO crossings VALUES (?1, ?2, ?3)")
      .bind(key.budget, key.period.count(), percent)
      .run();
  database.prepare("DELETE FROM crossings WHERE period < ?1").bind((key.period - kKept).count()).run();
  transaction.commit();
}

}  // namespace keplerd::history
