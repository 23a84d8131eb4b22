// SPDX-License-Identifier: Apache-2.0
#include "varlink/message.h"

#include <cassert>
#include <utility>

#include "varlink/json_text.h"
#include "varlink/parse_json.h"

namespace keplerd::varlink {

namespace {

Result<Json> parse_object(std::string_view text) {
  auto json = parse_json(text);
  if (json && !json->is_object()) return Error{"a message is not a JSON object"};
  return json;
}

// Takes a field of the envelope, in which null means absent. Returns false if it has another type.
bool take_flag(const Json& message, std::string_view name, bool& value) {
  const auto field = message.find(name);
  if (field == message.end() || field->is_null()) return true;
  if (!field->is_boolean()) return false;
  value = field->get<bool>();
  return true;
}

bool take_parameters(Json& message, Json& parameters) {
  parameters = Json::object();
  const auto field = message.find("parameters");
  if (field == message.end() || field->is_null()) return true;
  if (!field->is_object()) return false;
  parameters = std::move(*field);
  return true;
}

std::string to_wire(const Json& message) {
  std::string text = to_text(message);
  text.push_back('\0');
  return text;
}

Json object_or_empty(Json&& parameters) {
  assert(parameters.is_null() || parameters.is_object());
  return parameters.is_object() ? std::move(parameters) : Json::object();
}

}  // namespace

ReplyText::ReplyText(const Json& object) {
  assert(object.is_null() || object.is_object());
  if (object.is_object()) text_ = to_text(object);
}

void Framer::append(std::string_view bytes) {
  assert(bytes.size() <= room());
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    if (has_message()) end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t old_size = buffer_.size();
  buffer_.append(bytes);
  if (!has_message()) end_ = buffer_.find('\0', old_size);
}

std::optional<std::string_view> Framer::next() {
  if (!has_message()) return std::nullopt;
  const auto message = std::string_view(buffer_).substr(begin_, end_ - begin_);
  begin_ = end_ + 1;
  end_ = buffer_.find('\0', begin_);
  return message;
}

Result<CallMessage> parse_call(std::string_view text) {
  auto message = parse_object(text);
  if (!message) return message.error();
  CallMessage call;
  const auto method = message->find("method");
  if (method == message->end() || !method->is_string()) return Error{"a call names no method"};
  call.method = method->get<std::string>();
  if (!take_parameters(*message, call.parameters)) return Error{"a call's parameters are not an object"};
  if (!take_flag(*message, "more", call.more) || !take_flag(*message, "oneway", call.oneway) ||
      !take_flag(*message, "upgrade", call.upgrade)) {
    return Error{"a call's flag is not a boolean"};
  }
  if (call.more + call.oneway + call.upgrade > 1) return Error{"a call's flags contradict each other"};
  return call;
}

Result<ClientReply> parse_reply(std::string_view text) {
  auto message = parse_object(text);
  if (!message) return message.error();
  ClientReply reply;
  const auto error = message->find("error");
  if (error != message->end() && !error->is_null()) {
    if (!error->is_string() || error->get_ref<const std::string&>().empty()) {
      return Error{"a reply's error is not a name"};
    }
    reply.error = error->get<std::string>();
  }
  if (!take_parameters(*message, reply.parameters)) return Error{"a reply's parameters are not an object"};
  if (!take_flag(*message, "continues", reply.continues)) return Error{"a reply's flag is not a boolean"};
  return reply;
}

std::string encode(CallMessage call) {
  Json message{{"method", std::move(call.method)}};
  message["parameters"] = object_or_empty(std::move(call.parameters));
  if (call.more) message["more"] = true;
  if (call.oneway) message["oneway"] = true;
  if (call.upgrade) message["upgrade"] = true;
  return to_wire(message);
}

std::string encode(const Reply& reply) {
  constexpr std::string_view kBegin = R"({"parameters":)", kContinues = R"(,"continues":true)";
  std::string message;
  message.reserve(kBegin.size() + reply.parameters.text().size() + kContinues.size() + 2);
  message.append(kBegin).append(reply.parameters.text());
  if (reply.continues) message.append(kContinues);
  message.append("}").push_back('\0');
  return message;
}

std::string encode(Failure failure) {
  Json message{{"error", std::move(failure.error)}};
  message["parameters"] = object_or_empty(std::move(failure.parameters));
  return to_wire(message);
}

std::optional<MethodName> split_method(std::string_view method) {
  const auto dot = method.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == method.size()) return std::nullopt;
  return MethodName{method.substr(0, dot), method.substr(dot + 1)};
}

}  // namespace keplerd::varlink
