// SPDX-License-Identifier: Apache-2.0
#include "workloads/name_files.h"

#include <nlohmann/json.hpp>

#include "base/parse.h"
#include "workloads/identifier.h"

namespace keplerd {
namespace {

using Json = nlohmann::json;

std::optional<std::string> to_name(std::string_view raw) {
  if (raw.empty()) return std::nullopt;
  return limited_name(raw);
}

// Receives the events of a JSON parser, so that nothing but the wanted values is stored; does not throw.
// Strings are passed with their depth: 1 in the outermost object or array.
class Listener : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }
  bool start_object(std::size_t) override {
    opened(++depth_, false);
    return true;
  }
  bool start_array(std::size_t) override {
    opened(++depth_, true);
    return true;
  }
  bool end_object() override {
    closed(depth_--);
    return true;
  }
  bool end_array() override {
    closed(depth_--);
    return true;
  }
  bool key(string_t& text) override {
    key_at(depth_, text);
    return true;
  }
  bool string(string_t& text) override {
    string_at(depth_, text);
    return true;
  }

 protected:
  virtual void opened(std::size_t depth, bool array) = 0;
  virtual void closed(std::size_t depth) = 0;
  virtual void key_at(std::size_t depth, const std::string& text) = 0;
  virtual void string_at(std::size_t depth, std::string& text) = 0;

 private:
  std::size_t depth_ = 0;
};

class DockerListener : public Listener {
 public:
  std::optional<std::string> name;

 private:
  void opened(std::size_t, bool) override {}
  void closed(std::size_t) override {}
  void key_at(std::size_t depth, const std::string& text) override {
    if (depth == 1) at_name_ = text == "Name";
  }
  void string_at(std::size_t depth, std::string& text) override {
    if (depth == 1 && at_name_) name = std::move(text);
  }

  bool at_name_ = false;
};

class PodmanListener : public Listener {
 public:
  explicit PodmanListener(std::size_t most) : most_(most) {}

  NamesById<std::string> names;

 private:
  static constexpr std::size_t kList = 1, kContainer = 2, kNames = 3;

  void opened(std::size_t depth, bool array) override {
    if (depth == kList) is_list_ = array;
    if (depth == kContainer) {
      is_container_ = is_list_ && !array;
      key_.clear();
      id_.clear();
      name_.reset();
    }
    if (depth == kNames) in_names_ = is_container_ && array && key_ == "names";
  }

  void closed(std::size_t depth) override {
    if (depth == kNames) in_names_ = false;
    if (depth != kContainer || !is_container_ || !name_ || !is_runtime_id(id_)) return;
    if (names.size() < most_) names.insert_or_assign(std::move(id_), *std::move(name_));
  }

  void key_at(std::size_t depth, const std::string& text) override {
    if (depth == kContainer) key_ = text;
  }

  void string_at(std::size_t depth, std::string& text) override {
    if (depth == kContainer) {
      if (key_ == "id") id_ = std::move(text);
    } else if (depth == kNames && in_names_ && !name_) {
      name_ = to_name(text);
    }
  }

  std::size_t most_;
  bool is_list_ = false, is_container_ = false, in_names_ = false;
  std::string key_, id_;
  std::optional<std::string> name_;
};

bool hear(std::string_view json, Listener& listener) { return Json::sax_parse(json, &listener); }

struct ThreeParts {
  std::string_view first, second, third;
};

// "A_B_C", in which no part contains an "_": they are DNS names.
std::optional<ThreeParts> split_in_three(std::string_view name) {
  ThreeParts parts;
  parts.first = take_until(name, '_');
  parts.second = take_until(name, '_');
  parts.third = name;
  if (parts.first.empty() || parts.second.empty() || parts.third.empty()) return std::nullopt;
  return parts.third.find('_') == name.npos ? std::optional(parts) : std::nullopt;
}

}  // namespace

std::optional<std::string> parse_docker_name(std::string_view json) {
  DockerListener listener;
  if (!hear(json, listener) || !listener.name) return std::nullopt;
  std::string_view name = *listener.name;
  if (name.starts_with('/')) name.remove_prefix(1);
  return to_name(name);
}

NamesById<std::string> parse_podman_names(std::string_view json, std::size_t most) {
  PodmanListener listener(most);
  return hear(json, listener) ? std::move(listener.names) : NamesById<std::string>();
}

std::optional<NameById<PodName>> parse_pod_directory(std::string_view name) {
  const auto parts = split_in_three(name);
  if (!parts) return std::nullopt;
  auto pod = to_name(parts->second);
  auto name_space = to_name(parts->first);
  return NameById<PodName>(parts->third, PodName{*std::move(pod), *std::move(name_space)});
}

std::optional<NameById<std::string>> parse_container_log(std::string_view name) {
  constexpr std::string_view kSuffix = ".log";
  constexpr std::size_t kIdSize = 64;
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const auto parts = split_in_three(name);
  if (!parts || parts->third.size() < kIdSize + 2) return std::nullopt;
  const auto dash = parts->third.size() - kIdSize - 1;
  const auto id = parts->third.substr(dash + 1);
  if (parts->third[dash] != '-' || !is_runtime_id(id)) return std::nullopt;
  return NameById<std::string>(id, *to_name(parts->third.substr(0, dash)));
}

std::optional<std::string> parse_proxmox_value(std::string_view conf, std::string_view key) {
  while (!conf.empty()) {
    std::string_view line = take_until(conf, '\n');
    if (line.starts_with('[')) break;
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.starts_with(':')) return to_name(trim(line.substr(1)));
  }
  return std::nullopt;
}

}  // namespace keplerd
