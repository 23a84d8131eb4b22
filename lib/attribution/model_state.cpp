// SPDX-License-Identifier: Apache-2.0
#include "attribution/model_state.h"

#include <array>
#include <cstddef>

namespace keplerd {

std::string_view idle_knowledge_name(IdleKnowledge knowledge) {
  constexpr std::array<std::string_view, 4> kNames{"learning", "extrapolated", "base", "aged"};
  return kNames[static_cast<std::size_t>(knowledge)];
}

}  // namespace keplerd
