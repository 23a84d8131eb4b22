// SPDX-License-Identifier: Apache-2.0
// Adds up for how long the engines of graphics cards have worked for each process. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/units.h"
#include "meters/drm/fdinfo.h"
#include "meters/usage_writer.h"
#include "usage/process_id.h"

namespace keplerd::drm {

// A client, and a process that has it open.
struct SeenClient {
  ProcessId process;
  // The process, or its descriptors, were looked at before the client was opened: all of its time is new.
  bool is_new = false;
  ClientInfo info;
};

class ClientTimes {
 public:
  // Takes what was seen at `now`. A client that several processes have open counts once: for the process that
  // it counted for before, else for the one that was started last; the session manager, which opens a card
  // for a compositor, was started before.
  void take(Nanoseconds now, const std::vector<SeenClient>& seen, meters::DeviceUses& uses);

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // device, client
  struct Client {
    ProcessId process;
    std::map<std::string, EngineTime> engines;
    Nanoseconds seen{0};
  };
  static Nanoseconds advance(Client& client, const ClientInfo& info, Nanoseconds now);

  std::map<Key, Client> clients_;
};

}  // namespace keplerd::drm
