// SPDX-License-Identifier: Apache-2.0
// The rows of a list, kept up to date and in order.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "varlink/json.h"

namespace keplerd::cli {

// What rows can be sorted by: "energy", "power", "cpu" (most first), "name", "id" (as text). Equal ones by
// id.
const std::vector<std::string>& sort_keys();
void sort_rows(std::vector<varlink::Json>& rows, std::string_view key);

// The complete list that the live stream's changes add up to.
class RowSet {
 public:
  // `tick`: one reply of Monitor.
  void apply(const varlink::Json& tick);

  // In the order of their ids.
  const std::map<std::string, varlink::Json>& rows() const { return rows_; }

 private:
  std::map<std::string, varlink::Json> rows_;
};

}  // namespace keplerd::cli
