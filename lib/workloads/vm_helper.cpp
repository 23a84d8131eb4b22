// SPDX-License-Identifier: Apache-2.0
#include "workloads/vm_helper.h"

#include <array>
#include <string_view>

#include "base/parse.h"
#include "workloads/identifier.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostPaths = 64;

// By the base name of argv[0]: "/usr/bin/passt.avx2" is passt.
std::string_view helper_name(std::string_view program) {
  std::string_view name = program.substr(program.rfind('/') + 1);
  if (name == "passt.avx2") return "passt";
  if (name == "swtpm" || name == "virtiofsd" || name == "passt") return name;
  if (name.starts_with("vhost-user-") || name.starts_with("vhost-device-")) return name;
  return {};
}

// "/run/a.sock", "path=/run/a.sock", "--socket-path=/run/a.sock", "backend-uri=file:///var/b".
std::string_view absolute_path(std::string_view setting) {
  if (const auto equals = setting.find('='); equals != setting.npos) setting.remove_prefix(equals + 1);
  return setting.starts_with('/') ? setting : std::string_view();
}

std::string uuid_in(std::string_view path) {
  while (!path.empty()) {
    if (std::string uuid = canonical_uuid(take_until(path, '/')); !uuid.empty()) return uuid;
  }
  return {};
}

}  // namespace

std::optional<HelperCommand> recognise_helper(const ProcessCommand& process) {
  if (process.words.empty()) return std::nullopt;
  HelperCommand helper;
  helper.program = limited_name(helper_name(process.words[0]));
  if (helper.program.empty()) return std::nullopt;
  for (std::string_view word : process.words.subspan(1)) {
    while (!word.empty() && helper.paths.size() < kMostPaths) {
      const std::string_view path = absolute_path(take_until(word, ','));
      if (path.empty()) continue;
      helper.paths.emplace_back(path);
      if (helper.uuid.empty()) helper.uuid = uuid_in(path);
    }
  }
  return helper;
}

}  // namespace keplerd
