// SPDX-License-Identifier: Apache-2.0
#include "workloads/machined_records.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "host/host_root.h"
#include "workloads/identifier.h"

namespace keplerd {
namespace {

constexpr char kDirectory[] = "run/systemd/machines";
constexpr std::size_t kRecordLimit = 16 << 10;
constexpr std::size_t kMostRecords = 10'000;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// systemd C-escapes values (cescape): "a\\x2db" for "a\x2db", which is the unit's own escape of "a-b".
std::string unescape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool hexadecimal =
        text.size() >= 4 && text.starts_with("\\x") && digit(text[2]) >= 0 && digit(text[3]) >= 0;
    if (hexadecimal) {
      out += static_cast<char>(digit(text[2]) * 16 + digit(text[3]));
      text.remove_prefix(4);
    } else {
      if (text.starts_with("\\") && text.size() > 1) text.remove_prefix(1);
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

std::optional<MachinedRecord> parse_machined_record(std::string_view text) {
  MachinedRecord record;
  while (!text.empty()) {
    std::string_view value = take_until(text, '\n');
    const std::string_view key = take_until(value, '=');
    if (key == "NAME") record.name = limited_name(unescape(value));
    if (key == "SCOPE") record.unit = limited_name(unescape(value));
    if (key == "SERVICE") record.service = limited_name(unescape(value));
    if (key == "CLASS") record.is_container = value == "container";
  }
  if (record.name.empty() || record.unit.empty() || record.name.find('/') != record.name.npos)
    return std::nullopt;
  return record;
}

// Each change replaces a machine's file by a new inode (rename), which also changes the directory.
void MachinedRecords::refresh(Nanoseconds now, bool expected) {
  if (!checked_.is_due(now, !expected)) return;
  const auto directory = open_inside(host_.root(), kDirectory);
  if (!directory) {
    files_.clear();
    containers_.clear();
    listed_ = {};
    return;
  }
  const auto names = list_if_changed(directory->get(), kMostRecords, listed_);
  if (!names || !*names) return;
  const std::set<std::string_view> there((*names)->begin(), (*names)->end());
  std::erase_if(files_, [&there](const auto& file) { return !there.contains(file.first); });
  containers_.clear();
  for (const std::string& name : **names) {
    if (name.starts_with("unit:")) continue;  // a link to another one
    File& file = files_[name];
    const auto text = read_if_changed(directory->get(), name.c_str(), kRecordLimit, file.stamp);
    if (!text) file.record.reset();
    if (text && *text) file.record = parse_machined_record(**text);
    if (file.record && file.record->is_container) containers_[file.record->unit] = *file.record;
  }
}

}  // namespace keplerd
