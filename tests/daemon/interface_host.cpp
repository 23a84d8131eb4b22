// SPDX-License-Identifier: Apache-2.0
#include "daemon/interface_host.h"

#include <unistd.h>

namespace keplerd {

using namespace std::chrono_literals;

InterfaceHost::InterfaceHost(const std::string& name, void (*add_interface)(varlink::Server&, Reports&)) {
  directory = std::filesystem::temp_directory_path() / (name + "-" + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  sd_event_new(&loop);
  server.emplace(loop);
  add_interface(**server, *this);
  const std::string path = directory / "socket";
  EXPECT_TRUE((*server)->listen(*varlink::bind_unix_socket(path, 0600)).ok());
  client = std::make_unique<varlink::Client>(*varlink::Client::connect(path));
}

InterfaceHost::~InterfaceHost() {
  client.reset();
  server.reset();
  sd_event_unref(loop);
  std::filesystem::remove_all(directory);
}

varlink::ClientReply InterfaceHost::receive() {
  auto reply = client->receive(0ms);
  for (int turn = 0; !reply && turn < 1000; ++turn) {
    sd_event_run(loop, 10'000);
    reply = client->receive(0ms);
  }
  return *reply;
}

Caller InterfaceHost::identify(uid_t user, std::span<const gid_t> groups) const {
  EXPECT_EQ(user, ::getuid());
  EXPECT_FALSE(groups.empty());
  return caller;
}

ReportView InterfaceHost::latest(const Caller& who, std::optional<RowKind> kind) {
  access.add(host.meter().report());
  return access.view_for(who, kind);
}

ReportView InterfaceHost::fresh(const Caller& who, std::optional<RowKind> kind) {
  ++asked;
  return latest(who, kind);
}

}  // namespace keplerd
