// SPDX-License-Identifier: Apache-2.0
// The tables of the database. keplerd-history(8) documents them.
#pragma once

#include "history/store/database.h"

namespace keplerd::history {

inline constexpr int kSchemaVersion = 3;

// Creates the tables, or brings those of an earlier version to the present one; in one transaction. Throws if
// they are of a later version.
void prepare_schema(Database& database);

}  // namespace keplerd::history
