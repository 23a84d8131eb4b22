// SPDX-License-Identifier: Apache-2.0
// Repeated runs of one command, the comparison with an earlier result, and the phases of a lifecycle. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/output/table.h"
#include "cli/run/report.h"
#include "cli/run/statistics.h"

namespace keplerd::cli::run {

// The value of "run". Of one run, that of report_json(); of several, the fields are means, the highest peak,
// and the largest exit status, with the runs themselves in "runs", and "mean" and "stdevPercent" of the
// energy.
Json series_json(const std::vector<Report>& runs);

// The runs that succeeded, or all of them if none did: what means are of.
std::vector<Report> successful(const std::vector<Report>& runs);

// "10 runs, on average: ... 12.3 J +- 1.2 %", after the last report. Empty for one run.
std::string series_text(const std::vector<Report>& runs, const TableStyle& style = {});

// The mean energy; unset if one of them is not known.
std::optional<Microjoules> mean_energy(const std::vector<Report>& runs);

// The energies of {"run":...}, or of its "runs". An error: it is not such a result, or has no energy.
Result<std::vector<double>> energies_of(const Json& result);

// "Compared with FILE: 12.3 J before, 10.1 J now, -17.9 %; larger than the noise (p = 0.003)."
std::string comparison_text(std::string_view file, const std::vector<double>& before,
                            const std::vector<double>& now);
Json comparison_json(std::string_view file, const std::vector<double>& before,
                     const std::vector<double>& now);

// `text`: of a file of phases, {"phases":[RUN,...]}, or empty. Returns it with another run at its end.
Result<std::string> append_phase(std::string_view text, const Json& run);

// The phases as a table, with their sum.
Result<std::string> phases_table(std::string_view text, const TableStyle& style);

}  // namespace keplerd::cli::run
