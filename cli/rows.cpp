// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include <algorithm>
#include <map>
#include <set>

#include "client/row_set.h"

namespace keplerd::cli {
namespace {

std::string text_of(const Json& row, std::string_view name) { return string_field(row, name).value_or(""); }

// "/a", "/a/b" for "/a/b/c".
std::vector<std::string> paths_above(const std::string& path) {
  std::vector<std::string> out;
  for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    out.push_back(path.substr(0, slash));
  }
  return out;
}

bool is_service_or_scope(std::string_view path) {
  return path.ends_with(".service") || path.ends_with(".scope");
}

class Tree {
 public:
  Tree(const std::vector<Json>& rows, bool unicode) : unicode_(unicode) {
    std::set<std::string> ids;
    for (const Json& row : rows) ids.insert(text_of(row, "id"));
    for (const Json& row : rows) {
      const std::string parent = text_of(row, "parent");
      const bool is_root = !ids.contains(parent) || parent == text_of(row, "id");
      (is_root ? roots_ : children_[parent]).push_back(&row);
    }
  }

  std::vector<TreeRow> rows() {
    for (const Json* root : roots_) {
      out_.push_back({*root, ""});
      add_children(*root, "");
    }
    return std::move(out_);
  }

 private:
  // keplerd limits the depth of cgroups; a row that is its own ancestor is never reached from a root. If
  // several rows have an id, which keplerd does not send, the first gets all children: else, each level of
  // the tree could multiply them.
  void add_children(const Json& row, const std::string& indent) {
    const auto found = children_.extract(text_of(row, "id"));
    if (found.empty()) return;
    const auto& children = found.mapped();
    for (const Json* child : children) {
      const bool last = child == children.back();
      out_.push_back({*child, indent + (unicode_ ? (last ? "└─" : "├─") : (last ? "`-" : "|-"))});
      add_children(*child, indent + (last ? "  " : unicode_ ? "│ " : "| "));
    }
  }

  bool unicode_;
  std::vector<const Json*> roots_;
  std::map<std::string, std::vector<const Json*>> children_;
  std::vector<TreeRow> out_;
};

}  // namespace

void sort_rows(std::vector<Json>& rows, std::string_view key) {
  if (key != "power") return client::sort_rows(rows, key);
  client::sort_rows(rows, "energy");
  std::ranges::stable_sort(rows, [](const Json& a, const Json& b) {
    return integer_field(a, "powerMicrowatts") > integer_field(b, "powerMicrowatts");
  });
}

const std::vector<std::string>& unit_types() {
  static const std::vector<std::string> kTypes = {"service", "scope", "slice", "socket",
                                                  "mount",   "swap",  "cgroup"};
  return kTypes;
}

std::string unit_type(const Json& row) {
  const std::string id = text_of(row, "id");
  for (const std::string& type : unit_types()) {
    if (text_of(row, "kind") == "unit" && id.ends_with("." + type)) return type;
  }
  return "cgroup";
}

std::optional<std::int64_t> graphics_power(const Json& row) {
  bool has_energy = false;
  std::int64_t power = 0;
  for (const Json& zone : field(row, "zones")) {
    if (string_field(zone, "name") != "gpu") continue;
    has_energy = has_energy || integer_field(zone, "energyMicrojoules").value_or(0) > 0;
    if (__builtin_add_overflow(power, integer_field(zone, "powerMicrowatts").value_or(0), &power))
      return std::nullopt;
  }
  return has_energy ? std::optional(power) : std::nullopt;
}

void add_graphics(Json& row) {
  if (const auto power = graphics_power(row)) row[std::string(kGraphicsField)] = *power;
}

void add_graphics(std::vector<Json>& rows) {
  for (Json& row : rows) add_graphics(row);
}

bool has_type(const Json& row, const std::vector<std::string>& types) {
  return std::ranges::find(types, unit_type(row)) != types.end();
}

bool is_listed_unit(const Json& row) {
  const std::string type = unit_type(row);
  if (type != "cgroup") return type != "slice";
  return std::ranges::none_of(paths_above(text_of(row, "id")), is_service_or_scope);
}

std::vector<TreeRow> tree_of(const std::vector<Json>& rows, bool unicode) {
  return Tree(rows, unicode).rows();
}

std::vector<Json> largest_consumers(const std::vector<Json>& units, const std::vector<Json>& guests,
                                    std::size_t most) {
  std::map<std::string, const Json*> guest_of;
  for (const Json& guest : guests) guest_of.emplace(text_of(guest, "unit"), &guest);

  std::vector<Json> rows;
  std::set<std::string> with_parts;
  for (const Json& unit : units) {
    if (!is_listed_unit(unit)) continue;
    for (std::string& path : paths_above(text_of(unit, "id"))) with_parts.insert(std::move(path));
  }
  for (const Json& unit : units) {
    const std::string id = text_of(unit, "id");
    const auto above = paths_above(id);
    if (!is_listed_unit(unit) ||
        std::ranges::any_of(above, [&](const std::string& path) { return guest_of.contains(path); })) {
      continue;
    }
    if (const auto guest = guest_of.find(id); guest != guest_of.end()) {
      rows.push_back(*guest->second);
    } else if (!with_parts.contains(id)) {
      rows.push_back(unit);
    }
  }
  std::erase_if(rows, [](const Json& row) { return integer_field(row, "powerMicrowatts").value_or(0) <= 0; });
  sort_rows(rows, "power");
  if (rows.size() > most) rows.resize(most);
  return rows;
}

}  // namespace keplerd::cli
