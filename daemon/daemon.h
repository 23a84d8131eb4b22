// SPDX-License-Identifier: Apache-2.0
// Assembles the daemon: one sd-event loop for the sampling timer, signals, the watchdog, saving and the
// publishers.
#pragma once

#include <array>
#include <memory>

#include "base/result.h"
#include "config/load.h"
#include "daemon/access/access.h"
#include "daemon/background_job.h"
#include "daemon/fault_log.h"
#include "daemon/group_events.h"
#include "daemon/libvirt/helper.h"
#include "daemon/meter.h"
#include "daemon/options.h"
#include "daemon/publish/dbus/publisher.h"
#include "daemon/publish/guest_trees.h"
#include "daemon/publish/reports.h"
#include "daemon/sampler.h"
#include "daemon/state_directory.h"
#include "daemon/state_keeper.h"
#include "daemon/watchdog.h"
#include "event/fair_queue.h"
#include "event/sources.h"
#include "host/host_root.h"
#include "varlink/server.h"

namespace keplerd {

class Daemon : private Reports {
 public:
  Daemon(Options options, Settings settings, HostRoot host, StateDirectory state_directory);
  ~Daemon() override;

  // Does everything that can fail: the loop, signals, the socket. Takes the first sample before it succeeds.
  Result<Done> start();

  // Runs until SIGTERM or SIGINT. Returns the exit status.
  int run();

 private:
  Caller identify(uid_t user, std::span<const gid_t> groups) const override;
  ReportView latest(const Caller& caller, std::optional<RowKind> kind) override;
  ReportView fresh(const Caller& caller, std::optional<RowKind> kind) override;
  void hurry(const Caller& caller) override;
  std::shared_ptr<const Listener> listen(const Listener& listener) override;
  const Settings& settings() const override { return settings_; }

  Result<Done> attach_queues();
  Result<Done> add_signals();
  Result<Done> add_timers();
  Result<Done> open_socket();

  Sampler::Sampled sample();
  bool wants_processes();
  void arm();  // sets the timer for the next sample
  void update_libvirt();
  void notify_status();
  void save();
  void reload();

  Options options_;
  Settings settings_;
  HostRoot host_;
  std::unique_ptr<StateKeeper> state_keeper_;
  std::unique_ptr<Meter> meter_;
  Access access_;
  sd_event* loop_ = nullptr;
  FairQueue full_queue_, limited_queue_;  // for requests of callers with full and with limited access
  std::unique_ptr<varlink::Server> server_;
  std::unique_ptr<BusPublisher> bus_;  // null with --bus none
  std::unique_ptr<GuestTrees> guests_;
  std::unique_ptr<LibvirtHelper> libvirt_;
  std::unique_ptr<BackgroundJob> names_;
  std::string bound_socket_;  // to be removed at exit; empty if systemd created it
  std::array<Signal, 3> signals_;
  Timer sampling_timer_, saving_timer_, status_timer_;
  Watchdog watchdog_;
  Sampler sampler_;
  GroupEvents group_events_;
  FaultLog exceptions_;
  bool is_ending_ = false;
};

}  // namespace keplerd
