// SPDX-License-Identifier: Apache-2.0
// The words of a command line before they are parsed, and similar words for one that is not known. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keplerd::cli {

// Moves the verb, by its own name instead of an alias, in front of the options that precede it, so that
// options may stand on both sides. The verb is the first word that is neither an option nor the value of one;
// nothing changes if there is none, or it is not known.
std::vector<std::string> verb_first(std::vector<std::string> words,
                                    const std::function<bool(std::string_view option)>& takes_value);

// Whether the word behind this one, "--limit" or "-an", is its value.
bool expects_value(std::string_view word, const std::function<bool(std::string_view option)>& takes_value);

// The one of `known` that was probably meant: at most two letters differ, and none is nearer. Unset if there
// is none, or `word` itself is known.
std::optional<std::string> similar_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace keplerd::cli
