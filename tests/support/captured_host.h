// SPDX-License-Identifier: Apache-2.0
// A host that `keplerctl doctor --capture` wrote down (cli/doctor/capture.h), laid out as files again.
#pragma once

#include <string>
#include <string_view>

#include "support/fake_host.h"

namespace keplerd {

// The text of tests/fixtures/hosts/NAME.json.
std::string read_capture(const std::string& name);

// Replaces what a new FakeHost is. A file that could not be read then can be opened, and each read fails.
// Throws where `capture` is none.
void lay_out(FakeHost& host, std::string_view capture);

}  // namespace keplerd
