// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace keplerd {

// Whether stderr is connected to the journal: systemd.exec(5), JOURNAL_STREAM.
bool stderr_is_journal();

}  // namespace keplerd
