// SPDX-License-Identifier: Apache-2.0
#include "client/kinds.h"

#include <algorithm>

namespace keplerd::client {

const KindInfo* find_kind(std::string_view name) {
  std::string spaced(name);
  std::replace(spaced.begin(), spaced.end(), '-', ' ');
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindInfo& kind) {
    return name == kind.plural || name == kind.singular || spaced == kind.word || spaced == kind.words;
  });
  return found == kKinds.end() ? nullptr : &*found;
}

std::string kind_list(std::string_view KindInfo::*name) {
  std::string out;
  for (const KindInfo& kind : kKinds) {
    if (!out.empty()) out += &kind == &kKinds.back() ? " or " : ", ";
    out += kind.*name;
  }
  return out;
}

}  // namespace keplerd::client
