// SPDX-License-Identifier: Apache-2.0
#include "energy/guest.h"

#include <array>
#include <cerrno>
#include <utility>

#include "base/parse.h"
#include "energy/cpu/powercap.h"
#include "energy/cpu/processor.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr std::string_view kSource = "guest";

Quality read_quality(const HostRoot& host, const std::string& path) {
  std::array<char, 64> buffer{};
  const auto text = read_file(host.root(), path.c_str(), buffer);
  return guest_quality(text ? *text : std::string_view{});
}

// The powercap layout under another name.
class GuestSource final : public EnergySource {
 public:
  GuestSource(std::unique_ptr<EnergySource> tree, Quality quality)
      : tree_(std::move(tree)), zones_(tree_->zones()) {
    for (Zone& zone : zones_) {
      zone.id = zone_id(kSource, zone.name, zone.index);
      zone.quality = quality;
    }
  }

  std::string_view name() const override { return kSource; }
  const std::vector<Zone>& zones() const override { return zones_; }
  void read(Nanoseconds now, ZoneReadings& readings) override { tree_->read(now, readings); }
  bool moves_in_steps() const override { return true; }
  // Always: a changed quality does not change the tree, and reopening costs no more than checking.
  bool outdated() const override { return true; }

 private:
  std::unique_ptr<EnergySource> tree_;
  std::vector<Zone> zones_;
};

}  // namespace

Result<std::unique_ptr<EnergySource>> open_guest(const HostRoot& host, const std::vector<std::string>& names,
                                                 const std::string& meter) {
  auto root = open_directory(host.root(), ".");
  if (!root) return system_error(host.paths().root, root.error().code);
  std::string_view path = meter;
  while (path.starts_with('/')) path.remove_prefix(1);
  std::string shown = host.paths().root;
  while (shown.ends_with('/')) shown.pop_back();
  auto tree = open_powercap_tree(
      {.root = *std::move(root), .shown = std::move(shown), .path = std::string(path)}, names);
  if (!tree) return tree.error();
  const Quality quality = read_quality(host, std::string(path) + "/quality");
  return std::unique_ptr<EnergySource>(std::make_unique<GuestSource>(*std::move(tree), quality));
}

Quality guest_quality(std::string_view text) {
  for (const Quality quality : {Quality::kEstimated, Quality::kSimulated}) {
    if (trim(text) == quality_name(quality)) return quality;
  }
  return Quality::kAttributed;
}

std::string guest_fix(const HostRoot& host, const Error& error) {
  if (error.code != ENOENT || !read_processor(host).virtual_machine) return {};
  return "This is a virtual machine: its host can share a meter with it, see [Guests] in keplerd.conf(5).";
}

}  // namespace keplerd
