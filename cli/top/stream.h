// SPDX-License-Identifier: Apache-2.0
// The daemon's live stream for a program that must not wait for it: it watches fd() and takes what has come.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "varlink/client.h"
#include "varlink/json.h"

namespace keplerd::cli::top {

class Stream {
 public:
  // Everything of `kind` once, then what changes.
  static Result<Stream> open(const std::string& address, std::string_view kind);

  // The next reply of Monitor; a null value where none has come. An error means that the daemon is lost.
  Result<varlink::Json> take();

  int fd() const { return client_.fd(); }

 private:
  explicit Stream(varlink::Client client) : client_(std::move(client)) {}

  varlink::Client client_;
};

}  // namespace keplerd::cli::top
