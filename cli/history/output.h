// SPDX-License-Identifier: Apache-2.0
// History and reports, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "cli/history/request.h"
#include "cli/output/table.h"
#include "cost/rates.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli::history {

// One object per span and row, without spans in which nothing is recorded; of the host a row of its own.
varlink::Json history_json(const Subject& subject, const std::vector<varlink::Json>& replies,
                           const Rates& rates);
std::string history_csv(const varlink::Json& history);
std::string history_text(const Subject& subject, const std::vector<varlink::Json>& replies,
                         const Rates& rates, const TableStyle& style);

// The reply with costs and emissions, and the shares that people ask for.
varlink::Json report_json(varlink::Json report, const Rates& rates);
std::string report_csv(const varlink::Json& report);
std::string report_text(const varlink::Json& report, const std::string& by, const Rates& rates,
                        const TableStyle& style);

}  // namespace keplerd::cli::history
