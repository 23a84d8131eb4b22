// SPDX-License-Identifier: Apache-2.0
// The messages of varlink (https://varlink.org/Method-Call): how a byte stream is cut into them, and their
// JSON. Pure. What comes from outside is bounded before it is parsed: in length, in nesting and in fields, so
// that no input costs more stack or time than its length.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "varlink/json.h"

namespace keplerd::varlink {

// Bounds of received JSON. (Copying and printing nlohmann's values recurses; setting a field of an ordered
// object looks at all those before.)
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxFields = 256;  // of one object

struct CallMessage {
  std::string method;                // in full: "org.keplerd.Energy.GetStatus"
  Json parameters = Json::object();  // always an object
  bool more = false;                 // these three exclude each other
  bool oneway = false;
  bool upgrade = false;
};

struct Reply {
  Json parameters;
  bool continues = false;  // only ever true where the call said `more`
};

struct Failure {
  std::string error;  // "org.varlink.service.InvalidParameter", or one of the interface's own, in full
  Json parameters;
};

// What a client gets: a Reply, or a Failure where `error` says so.
struct ClientReply {
  Json parameters = Json::object();  // always an object
  std::string error;                 // full name; empty: no error
  bool continues = false;            // more replies follow
};

// Cuts a stream of bytes into messages, which end with a NUL. Holds at most one message of the greatest
// length.
class Framer {
 public:
  // `limit`: bytes of one message, without its NUL.
  explicit Framer(std::size_t limit) : limit_(limit) {}

  // How many bytes may be appended now.
  std::size_t room() const { return limit_ + 1 - (buffer_.size() - begin_); }

  // At most room() bytes.
  void append(std::string_view bytes);

  // A whole message is here.
  bool has_message() const { return end_ != std::string::npos; }

  // The message that is here is longer than the limit; nothing more will come out.
  bool too_long() const { return !has_message() && room() == 0; }

  // The next message, without its NUL; valid until the next call of append() or next().
  std::optional<std::string_view> next();

 private:
  std::size_t limit_;
  std::string buffer_;
  std::size_t begin_ = 0;                // of the message in work
  std::size_t end_ = std::string::npos;  // its NUL, once it is here
};

// What a peer sent, without the NUL. Unknown fields are ignored; anything that is not a message is an error.
Result<CallMessage> parse_call(std::string_view text);
Result<ClientReply> parse_reply(std::string_view text);

// As bytes for the wire, with the NUL. Strings that are not UTF-8 get replacement characters.
std::string encode(CallMessage call);
std::string encode(Reply reply);
std::string encode(Failure failure);

struct MethodName {
  std::string_view interface;  // "org.keplerd.Energy"
  std::string_view member;     // "GetStatus"
};

// Nothing where the name is not INTERFACE.MEMBER. Views into `method`.
std::optional<MethodName> split_method(std::string_view method);

}  // namespace keplerd::varlink
