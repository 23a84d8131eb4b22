// SPDX-License-Identifier: Apache-2.0
// A varlink interface of the daemon over a real socket, on a written host.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include <gtest/gtest.h>
#include <systemd/sd-event.h>

#include "daemon/access/access.h"
#include "daemon/meter_host.h"
#include "daemon/publish/reports.h"
#include "support/open_server.h"
#include "varlink/client.h"

namespace keplerd {

class InterfaceHost : public testing::Test, private Reports {
 protected:
  // `name`: of the socket's directory.
  InterfaceHost(const std::string& name, void (*add_interface)(varlink::Server&, Reports&));
  ~InterfaceHost() override;

  varlink::ClientReply receive();

  Caller identify(uid_t user, std::span<const gid_t> groups) const override;
  ReportView latest(const Caller& who, std::optional<RowKind> kind) override;
  ReportView fresh(const Caller& who, std::optional<RowKind> kind) override;
  void hurry(const Caller&) override {}
  std::shared_ptr<const Listener> listen(const Listener&) override { return nullptr; }
  const Settings& settings() const override { return settings_; }
  using Reports::recorder;

  mutable MeterHost host;
  Access access{0, std::nullopt, [this] { return host.meter().processes(); }};
  Caller caller = kInside;
  std::filesystem::path directory;
  sd_event* loop = nullptr;
  std::optional<OpenServer> server;
  std::unique_ptr<varlink::Client> client;
  Settings settings_;
  int asked = 0;
};

}  // namespace keplerd
