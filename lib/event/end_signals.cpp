// SPDX-License-Identifier: Apache-2.0
#include "event/end_signals.h"

#include <csignal>

namespace keplerd {

Result<Done> EndSignals::attach(sd_event* loop) {
  const auto end = [loop] { sd_event_exit(loop, 0); };
  if (const auto added = signals_[0].attach(loop, SIGTERM, "ending", end); !added) return added;
  if (const auto added = signals_[1].attach(loop, SIGINT, "ending", end); !added) return added;
  ::signal(SIGPIPE, SIG_IGN);
  return Done{};
}

void EndSignals::reset() {
  for (Signal& signal : signals_) signal.reset();
}

}  // namespace keplerd
