// SPDX-License-Identifier: Apache-2.0
// A row of a report as a client gets it.
#pragma once

#include <string>

#include "daemon/publish/row_text.h"
#include "varlink/json.h"

namespace keplerd {

inline varlink::Json row_json(const ReportView& view, RowKind kind, std::size_t index) {
  std::string text;
  write_row(text, view, kind, index);
  return varlink::Json::parse(text);
}

}  // namespace keplerd
