// SPDX-License-Identifier: Apache-2.0
// Writes rows of a report as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "report/row_kinds.h"
#include "varlink/message.h"

namespace keplerd {

// Appends one of type Row of varlink/org.keplerd.Energy.varlink.
void write_row(std::string& out, const ReportView& view, RowKind kind, std::size_t index);

// A reply with one row, as of Get and List.
varlink::ReplyText row_reply(const ReportView& view, RowKind kind, std::size_t index);

}  // namespace keplerd
