// SPDX-License-Identifier: Apache-2.0
#include "cli/words.h"

#include <algorithm>
#include <numeric>

#include "cli/verb.h"

namespace keplerd::cli {
namespace {

constexpr std::size_t kLongestWord = 64;  // longer ones are no mistyped words

const Verb* find_verb(std::string_view word) {
  const auto found = std::ranges::find_if(verbs(), [word](const Verb& verb) {
    return verb.name == word || std::ranges::find(verb.aliases, word) != verb.aliases.end();
  });
  return found == verbs().end() ? nullptr : &*found;
}

// How many letters have to be inserted, removed, replaced or swapped with the next.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const bool same = a[i - 1] == b[k - 1];
      row[k] = std::min({last[k] + 1, row[k - 1] + 1, last[k - 1] + (same ? 0 : 1)});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
        row[k] = std::min(row[k], before[k - 2] + 1);
      }
    }
    before = last;
    last = row;
  }
  return last.back();
}

}  // namespace

bool expects_value(std::string_view word, const std::function<bool(std::string_view)>& takes_value) {
  if (word.starts_with("--")) return word.find('=') == std::string_view::npos && takes_value(word);
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (takes_value(std::string("-") + word[i]))
      return i + 1 == word.size();  // otherwise the rest is its value
  }
  return false;
}

std::vector<std::string> verb_first(std::vector<std::string> words,
                                    const std::function<bool(std::string_view)>& takes_value) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with('-') && words[i] != "-") {
      if (expects_value(words[i], takes_value)) ++i;
      continue;
    }
    const Verb* verb = find_verb(words[i]);
    if (verb == nullptr) break;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    words.insert(words.begin(), std::string(verb->name));
    break;
  }
  return words;
}

std::optional<std::string> similar_word(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > kLongestWord || std::ranges::find(known, word) != known.end()) return std::nullopt;
  constexpr std::size_t kMost = 2;
  std::optional<std::string> nearest;
  std::size_t least = std::min(kMost, word.size() / 2) + 1;
  for (const std::string& candidate : known) {
    const std::size_t changes = distance(word, candidate);
    if (changes >= least) continue;
    least = changes;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace keplerd::cli
