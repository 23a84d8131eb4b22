// SPDX-License-Identifier: Apache-2.0
// The messages of varlink (https://varlink.org/Method-Call): splitting a byte stream into them, and their
// JSON. Pure. Input is bounded before it is parsed (in length, nesting and number of fields), so that the
// stack and time it takes are bounded by its length.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "varlink/json.h"

namespace keplerd::varlink {

// Limits of received JSON. (Copying and printing nlohmann's values recurses; setting a field of an ordered
// object is linear in the number of its fields.)
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxFields = 256;  // of one object

struct CallMessage {
  std::string method;                // in full: "org.keplerd.Energy.GetStatus"
  Json parameters = Json::object();  // always an object
  bool more = false;                 // this and the next two are mutually exclusive
  bool oneway = false;
  bool upgrade = false;
};

// The parameters of a reply: an object, as text.
class ReplyText {
 public:
  ReplyText() = default;          // {}
  ReplyText(const Json& object);  // null: {}; invalid UTF-8 becomes replacement characters

  // Appends a complete object to an empty string.
  explicit ReplyText(std::invocable<std::string&> auto write) : text_() { write(text_); }

  const std::string& text() const { return text_; }

 private:
  std::string text_ = "{}";
};

struct Reply {
  ReplyText parameters;
  bool continues = false;  // only true if the call said `more`
};

struct Failure {
  std::string error;  // "org.varlink.service.InvalidParameter", or one of the interface's own, in full
  Json parameters;
};

// What a client receives: a Reply, or a Failure if `error` is set.
struct ClientReply {
  Json parameters = Json::object();  // always an object
  std::string error;                 // full name; empty: no error
  bool continues = false;            // more replies follow
};

// Splits a stream of bytes into messages, which end with a NUL. Holds at most one message of the maximum
// length.
class Framer {
 public:
  // `limit`: bytes of one message, without its NUL.
  explicit Framer(std::size_t limit) : limit_(limit) {}

  // How many bytes may be appended now.
  std::size_t room() const { return limit_ + 1 - (buffer_.size() - begin_); }

  // At most room() bytes.
  void append(std::string_view bytes);

  // A complete message is available.
  bool has_message() const { return end_ != std::string::npos; }

  // The pending message exceeds the limit; no further message will be returned.
  bool too_long() const { return !has_message() && room() == 0; }

  // The next message, without its NUL; valid until the next call of append() or next().
  std::optional<std::string_view> next();

 private:
  std::size_t limit_;
  std::string buffer_;
  std::size_t begin_ = 0;                // of the current message
  std::size_t end_ = std::string::npos;  // its NUL, once received
};

// Parses a peer's message, without the NUL. Unknown fields are ignored; anything but a message is an
// error.
Result<CallMessage> parse_call(std::string_view text);
Result<ClientReply> parse_reply(std::string_view text);

// As bytes for the wire, with the NUL. Invalid UTF-8 in strings is replaced by replacement characters.
std::string encode(CallMessage call);
std::string encode(const Reply& reply);
std::string encode(Failure failure);

struct MethodName {
  std::string_view interface;  // "org.keplerd.Energy"
  std::string_view member;     // "GetStatus"
};

// Nothing if the name is not INTERFACE.MEMBER. Views into `method`.
std::optional<MethodName> split_method(std::string_view method);

}  // namespace keplerd::varlink
