// SPDX-License-Identifier: Apache-2.0
// A keplerd with canned replies, in a process of its own because the client blocks. It serves from
// construction to destruction; its socket is ready at once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "cli/sample_replies.h"
#include "varlink/server.h"

namespace keplerd::cli {

struct Canned {
  // Successive replies of GetStatus; the last one is repeated.
  std::vector<Json> statuses = {measured_status()};
  std::map<std::string, std::vector<Json>> lists = {{"units", unit_rows()},           {"vms", vm_rows()},
                                                    {"containers", container_rows()}, {"pods", pod_rows()},
                                                    {"processes", process_rows()},    {"zones", zone_rows()}};
  // Replies of Monitor; then the daemon closes the connection with an error, sends nothing more, or ends.
  std::vector<Json> ticks = {};
  bool then_silent = false, then_gone = false;
  bool gone_after_status = false;
  std::int64_t interval = 0;  // Monitor's intervalUsec must be this; 0: must be absent
  std::string failure = {};   // every method replies with this error
};

class FakeDaemon {
 public:
  explicit FakeDaemon(Canned canned = {}) : FakeDaemon(std::vector<Canned>{std::move(canned)}) {}
  // One that is restarted when it ends, except for the last time; its socket stays open meanwhile.
  explicit FakeDaemon(std::vector<Canned> lives);
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  const std::string& address() const { return address_; }

 private:
  std::string directory_, address_;
  pid_t child_ = -1;
};

// The result of a run of keplerctl.
struct Outcome {
  int status = -1;
  std::string out, err;
};

// `keplerctl ARGUMENTS` with its output not on a terminal.
Outcome run_keplerctl(const std::vector<std::string>& arguments);
// The same against a daemon.
Outcome run_keplerctl(const FakeDaemon& daemon, std::vector<std::string> arguments);

}  // namespace keplerd::cli
