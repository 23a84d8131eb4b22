// SPDX-License-Identifier: Apache-2.0
#include "daemon/nvml/card_files.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

namespace keplerd::nvml {
namespace {

namespace fs = std::filesystem;

// Bus ids consist of hexadecimal digits, colons and dots; nothing else may become a path.
bool is_bus_id(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF:.") == text.npos && text[0] != '.';
}

void write_file(const fs::path& path, const std::string& text) {
  const fs::path draft = path.string() + "~";
  std::ofstream(draft, std::ios::trunc) << text << "\n";
  fs::rename(draft, path);
}

void write_card(const fs::path& directory, const Card& card) {
  if (!fs::exists(directory / "name")) {
    fs::create_directories(directory);
    fs::create_symlink("../" + card.bus_id, directory / "device");
    write_file(directory / "name", "nvml");
  }
  write_file(directory / (card.counts_energy ? "energy1_input" : "power1_input"), std::to_string(card.value));
  fs::remove(directory / (card.counts_energy ? "power1_input" : "energy1_input"));
}

}  // namespace

Result<Done> write_cards(const std::string& directory, const std::vector<Card>& cards) {
  try {
    std::set<std::string> present;
    for (const Card& card : cards) {
      if (!is_bus_id(card.bus_id)) continue;
      present.insert(card.bus_id);
      write_card(fs::path(directory) / card.bus_id, card);
    }
    std::vector<fs::path> gone;
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (!present.contains(entry.path().filename())) gone.push_back(entry.path());
    }
    for (const fs::path& path : gone) fs::remove_all(path);
    return Done{};
  } catch (const fs::filesystem_error& error) {
    return Error{.message = error.what(), .code = error.code().value()};
  }
}

}  // namespace keplerd::nvml
