// SPDX-License-Identifier: Apache-2.0
// A peer's input: its splitting into messages and their parsing. What is accepted must survive a round
// trip.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "varlink/message.h"

namespace {

using namespace keplerd::varlink;

constexpr std::size_t kLimit = 4096;

void require(bool condition) {
  if (!condition) std::abort();
}

std::string_view without_nul(const std::string& bytes) {
  require(!bytes.empty() && bytes.find('\0') == bytes.size() - 1);
  return std::string_view(bytes).substr(0, bytes.size() - 1);
}

void check_call(std::string_view text) {
  const auto call = parse_call(text);
  if (!call) return;
  require(call->parameters.is_object());
  (void)split_method(call->method);
  const auto bytes = encode(*call);
  const auto again = parse_call(without_nul(bytes));
  require(again.ok());
  require(again->method == call->method && again->more == call->more && again->oneway == call->oneway &&
          again->upgrade == call->upgrade);
  require(encode(*again) == bytes);
}

void check_reply(std::string_view text) {
  const auto reply = parse_reply(text);
  if (!reply) return;
  const auto bytes = reply->error.empty() ? encode(Reply{reply->parameters, reply->continues})
                                          : encode(Failure{reply->error, reply->parameters});
  const auto again = parse_reply(without_nul(bytes));
  require(again.ok());
  require(again->error == reply->error);
}

}  // namespace

// The first byte determines the size of the pieces in which the rest arrives.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{data[0]} + 1;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  Framer framer(kLimit);
  while (!rest.empty() && !framer.too_long()) {
    const std::size_t count = std::min({piece, rest.size(), framer.room()});
    framer.append(rest.substr(0, count));
    rest.remove_prefix(count);
    while (const auto message = framer.next()) {
      require(message->size() <= kLimit);
      check_call(*message);
      check_reply(*message);
    }
  }
  return 0;
}
