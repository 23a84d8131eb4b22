// SPDX-License-Identifier: Apache-2.0
// The default file and the manual page match the table: every key, its default, and nothing more.
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>

#include <gtest/gtest.h>

#include "base/parse.h"
#include "config/load.h"
#include "config/settings_table.h"

namespace keplerd {
namespace {

std::string read_document(const std::string& name) {
  std::ifstream file(std::string(KEPLERD_SOURCE_DIR) + "/" + name);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// A key and its default, as documented.
struct Entry {
  std::string section, key, value;

  bool operator==(const Entry&) const = default;
  friend void PrintTo(const Entry& entry, std::ostream* out) {
    *out << "[" << entry.section << "] " << entry.key << "=" << entry.value;
  }
};

std::vector<Entry> table_entries() {
  std::vector<Entry> entries;
  for (const auto& text : describe_settings(Settings{})) {
    entries.push_back({std::string(text.section), std::string(text.key), text.value});
  }
  return entries;
}

// The text between `before` and `after` if these enclose all of `line`, else nothing.
std::optional<std::string> between(std::string_view before, std::string_view after, std::string_view line) {
  if (line.size() < before.size() + after.size()) return std::nullopt;
  if (!line.starts_with(before) || !line.ends_with(after)) return std::nullopt;
  line.remove_prefix(before.size());
  line.remove_suffix(after.size());
  return std::string(line);
}

// "#Key=value": a comment in prose has a blank after its "#".
bool is_commented_key(std::string_view line) {
  return line.starts_with("#") && line.find('=') != std::string_view::npos && line.substr(1, 1) != " ";
}

std::string uncomment_keys(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    auto line = take_until(text, '\n');
    if (is_commented_key(line)) line.remove_prefix(1);
    out += std::string(line) + "\n";
  }
  return out;
}

std::vector<Entry> file_entries(std::string_view text) {
  std::vector<Entry> entries;
  std::string section;
  while (!text.empty()) {
    auto line = take_until(text, '\n');
    if (const auto name = between("[", "]", line)) section = *name;
    if (!is_commented_key(line)) continue;
    line.remove_prefix(1);
    const auto key = take_until(line, '=');
    entries.push_back({section, std::string(key), std::string(line)});
  }
  return entries;
}

// An entry of the page is ".It Ic KEY=" below ".Ss [SECTION]"; it ends with "Defaults to" and ".Ql VALUE .",
// or with "Empty by default.".
std::vector<Entry> manual_entries(std::string_view text) {
  std::vector<Entry> entries;
  std::string section;
  while (!text.empty()) {
    const auto line = take_until(text, '\n');
    if (const auto name = between(".Ss [", "]", line)) section = *name;
    const auto key = between(".It Ic ", "=", line);
    if (!key) continue;
    std::string_view last;
    const auto is_default = [&last] { return last == "Defaults to" || last == "Empty by default."; };
    while (!is_default() && !text.empty() && !text.starts_with(".It Ic ")) last = take_until(text, '\n');
    const auto value = last == "Empty by default." ? "" : between(".Ql ", " .", take_until(text, '\n'));
    entries.push_back({section, *key, value.value_or("(none)")});
  }
  return entries;
}

// The configuration texts that the page shows between ".Bd" and ".Ed".
std::vector<std::string> manual_examples(std::string_view text) {
  std::vector<std::string> examples;
  while (!text.empty()) {
    if (!take_until(text, '\n').starts_with(".Bd ") || !text.starts_with("[")) continue;
    examples.emplace_back(text.substr(0, text.find(".Ed\n")));
  }
  return examples;
}

TEST(DefaultFile, SetsNothingAsItIs) {
  // On top of non-default settings, so that a key that is not commented out is detected.
  Settings others;
  others.energy.source = "simulated";
  others.energy.zones = {"dram"};
  others.energy.idle_power = others.energy.max_power = Microwatts{1};
  others.energy.guest_meter = others.guests.directory = "/srv/x";
  others.guests.vms = {"all"};
  others.guests.by_metadata = true;
  others.sampling.interval = others.sampling.staleness = Nanoseconds::zero();
  others.workloads.terminated_max = std::nullopt;
  others.workloads.terminated_min_energy = {};
  others.workloads.terminated_retention = std::nullopt;
  others.workloads.vm_retention = std::nullopt;
  others.access.public_access = PublicAccess::kAll;
  const auto settings = parse_settings(read_document("systemd/keplerd.conf"), "keplerd.conf", others);
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(*settings, others);
}

TEST(DefaultFile, StatesTheDefaults) {
  const auto text = uncomment_keys(read_document("systemd/keplerd.conf"));
  const auto settings = parse_settings(text, "keplerd.conf", {});
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(*settings, Settings{});
}

TEST(DefaultFile, HasEveryKeyAndNothingMore) {
  EXPECT_EQ(file_entries(read_document("systemd/keplerd.conf")), table_entries());
}

TEST(ManualPage, HasEveryKeyWithItsDefaultAndNothingMore) {
  EXPECT_EQ(manual_entries(read_document("docs/man/keplerd.conf.5")), table_entries());
}

TEST(ManualPage, ShowsExamplesThatWork) {
  const auto examples = manual_examples(read_document("docs/man/keplerd.conf.5"));
  EXPECT_EQ(examples.size(), 4u);
  for (const auto& example : examples) {
    const auto settings = parse_settings(example, "example", {});
    ASSERT_TRUE(settings.ok()) << settings.error().message;
    EXPECT_NE(*settings, Settings{}) << example;
  }
}

}  // namespace
}  // namespace keplerd
