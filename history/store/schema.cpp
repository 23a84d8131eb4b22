// SPDX-License-Identifier: Apache-2.0
#include "history/store/schema.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "history/store/energies.h"

namespace keplerd::history {
namespace {

constexpr int kApplication = 0x6b706c64;  // "kpld", for file(1)

constexpr std::int64_t kFirstPacked = 3;  // the first version with packed energies

// Each brings the tables of the version before it, from 0 (none), to its own.
constexpr std::array<const char*, kSchemaVersion> kMigrations = {R"(
CREATE TABLE workloads (
  number INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,   -- "units", "vms", "containers", "pods"
  id TEXT NOT NULL,
  owner INTEGER,        -- user id; NULL: unknown
  name TEXT NOT NULL,   -- the last one
  last INTEGER NOT NULL,   -- when it was last known to draw, up to an hour ago
  listed INTEGER NOT NULL  -- 1: in a span that is kept longer than five minutes are
);
CREATE UNIQUE INDEX workloads_by_key ON workloads (kind, id, ifnull(owner, -1));
CREATE TABLE spans (
  number INTEGER PRIMARY KEY,
  step INTEGER NOT NULL,      -- 0: an interruption, 1: five minutes, 2: hour, 3: day, 4: month
  begin INTEGER NOT NULL,     -- microseconds since the epoch
  end INTEGER NOT NULL,
  recorded INTEGER NOT NULL,  -- microseconds
  idle INTEGER NOT NULL,      -- microjoules, as are the following: their sum is the energy of the host
  kernel INTEGER NOT NULL,
  workloads INTEGER NOT NULL,
  unattributed INTEGER NOT NULL,
  part_of INTEGER             -- the next longer span, once it is over
);
CREATE UNIQUE INDEX spans_by_begin ON spans (begin, step, end);
CREATE INDEX spans_that_are_part_of_none ON spans (begin) WHERE part_of IS NULL;
CREATE TABLE energy (
  span INTEGER NOT NULL,
  workload INTEGER NOT NULL,
  active INTEGER NOT NULL,  -- microjoules, with what is nested in it
  idle INTEGER NOT NULL,
  PRIMARY KEY (span, workload)
) WITHOUT ROWID;
-- keplerd's counters at the last reading.
CREATE TABLE counters (
  workload INTEGER PRIMARY KEY,
  since INTEGER NOT NULL,
  active INTEGER NOT NULL,
  idle INTEGER NOT NULL
);
CREATE TABLE last_reading (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  time INTEGER NOT NULL,
  instance TEXT NOT NULL,
  idle INTEGER NOT NULL,
  kernel INTEGER NOT NULL,
  workloads INTEGER NOT NULL,
  unattributed INTEGER NOT NULL
);
)",
                                                                 R"(
-- Budgets of which a part was used up: each is reported once in a period.
CREATE TABLE crossings (
  budget TEXT NOT NULL,      -- as in history.conf
  period INTEGER NOT NULL,   -- its begin, microseconds since the epoch
  percent INTEGER NOT NULL,  -- the highest that was reported
  PRIMARY KEY (budget, period)
) WITHOUT ROWID;
-- Of virtual machines, as libvirt's metadata states it; empty: unknown.
ALTER TABLE workloads ADD COLUMN project TEXT NOT NULL DEFAULT '';
)",
                                                                 R"(
-- Of the workloads in a span, packed (energies.h): millions of rows are too many.
CREATE TABLE energies (
  span INTEGER PRIMARY KEY,
  workloads BLOB NOT NULL
);
ALTER TABLE workloads ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
UPDATE workloads SET project_id = project;
-- `last` is the end of the hour from now on.
UPDATE workloads SET last = last + 3600000000;
CREATE INDEX workloads_by_name ON workloads (kind, name);
)"};

// What SQL alone does not do, after the tables of version 3 are made.
void pack_energies(Database& database) {
  Statement rows =
      database.prepare("SELECT span, workload, active, idle FROM energy ORDER BY span, workload");
  Energies energies;
  std::int64_t span = 0;
  while (rows.step()) {
    if (rows.integer(0) != span) save_energies(database, span, std::exchange(energies, {}));
    span = rows.integer(0);
    energies[rows.integer(1)] = {{rows.integer(2)}, {rows.integer(3)}};
  }
  save_energies(database, span, energies);
  rows.reset();
  database.run("DROP TABLE energy");
}

}  // namespace

void prepare_schema(Database& database) {
  Transaction transaction(database);
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (version > kSchemaVersion)
    throw DatabaseError(
        fmt::format("written by a later version of keplerd-history (schema {}, supported: {})", version,
                    kSchemaVersion),
        SQLITE_ERROR);
  if (version < 0) throw DatabaseError("not a database of keplerd-history", SQLITE_NOTADB);
  for (auto next = static_cast<std::size_t>(version); next < kMigrations.size(); ++next)
    database.run(kMigrations.at(next));
  if (version < kFirstPacked) pack_energies(database);
  database.run(
      fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", kSchemaVersion, kApplication));
  transaction.commit();
}

}  // namespace keplerd::history
