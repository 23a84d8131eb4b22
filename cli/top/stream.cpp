// SPDX-License-Identifier: Apache-2.0
#include "cli/top/stream.h"

#include <cerrno>

#include "cli/daemon.h"

namespace keplerd::cli::top {

using varlink::Json;

Result<Stream> Stream::open(const std::string& address, std::string_view kind) {
  auto client = varlink::Client::connect(address);
  if (!client) return client.error();
  if (auto sent = client->send("org.keplerd.Energy.Monitor", {{"kind", kind}}, true); !sent)
    return sent.error();
  return Stream(std::move(*client));
}

Result<Json> Stream::take() {
  auto reply = client_.receive(std::chrono::milliseconds(0));
  if (!reply) {
    if (reply.error().code == ETIMEDOUT) return Json();
    return reply.error();
  }
  if (!reply->error.empty()) return Error{describe_error(*reply), 0};
  return std::move(reply->parameters);
}

}  // namespace keplerd::cli::top
