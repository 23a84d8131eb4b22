// SPDX-License-Identifier: Apache-2.0
// Asks keplerd which row a user means by an id, a name, a PID or the start of an id.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/kinds.h"
#include "client/requests.h"
#include "varlink/json.h"

namespace keplerd::cli {

// The matches of all kinds.
struct Matches {
  std::vector<varlink::Json> rows;
  std::vector<std::string> ids;  // of the rows, and of others that share the name: "unit /a.service"
};

// `guess`: see find_rows().
Result<Matches> resolve(client::Daemon& daemon, const std::string& wanted, bool guess);

// One row is meant.
bool is_unique(const Matches& matches);

// "'web' is ambiguous: unit ..., virtual machine ...; use one of the ids"
std::string ambiguity(const std::string& wanted, const Matches& matches);

// "no unit, virtual machine, ... or zone is called 'web', or you may not see it". `hint`: where to find them.
std::string nothing_such(const std::string& wanted, bool sees_everything, bool hint);

// Where rows like this are listed: those of the kinds "unit" and "group" together. Null: of an unknown kind.
const client::KindInfo* kind_of(const varlink::Json& row);
// The word for that, as in the lists' names.
std::string kind_word(const varlink::Json& row);

}  // namespace keplerd::cli
