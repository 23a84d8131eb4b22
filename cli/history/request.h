// SPDX-License-Identifier: Apache-2.0
// Requests to keplerd-history (varlink/org.keplerd.History.varlink), with readable errors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/history/period.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli::history {

// What to show the history of: the host, all workloads of a kind, or one workload.
struct Subject {
  std::string kind;  // of org.keplerd.History; empty: not known yet
  std::string id;    // empty: all of the kind
};

// Of the words of the command line: [KIND] [ID].
Result<Subject> subject_of(const std::vector<std::string>& words);

// The reply of ListBudgets.
Result<varlink::Json> list_budgets(const std::string& address);

// All replies of Query. Sets the kind if it is not known: that of the first kind that has such a workload.
Result<std::vector<varlink::Json>> query(const std::string& address, Subject& subject, const Period& period,
                                         const std::string& step);

// The replies of Query one by one, for any number of them; the kind of `subject` is known.
Result<Done> query_each(const std::string& address, const Subject& subject, const Period& period,
                        const std::string& step, const std::function<void(varlink::Json reply)>& take);

// From the first recorded span to the last reading. An error if nothing is recorded.
Result<Period> recorded_period(const std::string& address);

// The reply of Report.
Result<varlink::Json> report(const std::string& address, const Period& period, const std::string& by);

}  // namespace keplerd::cli::history
