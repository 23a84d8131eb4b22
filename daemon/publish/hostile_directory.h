// SPDX-License-Identifier: Apache-2.0
// Writes into a directory whose contents someone else may have changed: a virtual machine, whose root can do
// there what it likes if the directory is shared with it for writing. No link is followed, no existing file
// is written to, and nothing outside is touched. All names are single components, without a slash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

// Opens the directory `name` in `parent`.
Result<UniqueFd> open_inner_directory(int parent, const std::string& name);

// The same; creates it, readable for all, if it does not exist.
Result<UniqueFd> open_or_make_directory(int parent, const std::string& name);

// Atomically replaces the file `name` by a new one, readable for all, with this text: readers get the old
// text or the new one. Merely fails if a directory stands in its place.
Result<Done> replace_file(int directory, const std::string& name, std::string_view text);

// The same for a symbolic link; an existing one is kept.
Result<Done> make_link(int directory, const std::string& name, const std::string& target);

// The non-negative number in the file `file` of the directory `name` of `directory`; unset if there is
// none.
std::optional<std::int64_t> read_count(int directory, const std::string& name, const std::string& file);

// Removes the contents of `directory`, whatever they are and however deep; at most `budget` entries, which it
// is reduced by. True if nothing is left.
bool remove_contents(int directory, std::size_t& budget);

// Whether it is empty.
bool is_empty_directory(int directory);

}  // namespace keplerd
