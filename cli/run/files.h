// SPDX-License-Identifier: Apache-2.0
// The files that `keplerctl run` reads and writes.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "varlink/json.h"

namespace keplerd::cli::run {

// An earlier result, of any number of runs.
Result<varlink::Json> read_result(const std::string& path);

Result<std::string> read_file(const std::string& path);

// Appends a run to a file of phases, which is created if there is none. Other keplerctl that do the same
// wait. If it cannot be written, it stays as it was.
Result<Done> append_to_file(const std::string& path, const varlink::Json& run);

// Empties the file, or creates it. Returns it open for writing.
Result<UniqueFd> create_file(const std::string& path);

}  // namespace keplerd::cli::run
