// SPDX-License-Identifier: Apache-2.0
// Writing into a directory whose content somebody else may have changed: a virtual machine, whose root can do
// there what it likes if the directory is shared with it for writing. No link is followed, nothing that is
// there is written to, and nothing outside is touched. All names are single ones, without a slash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

// The directory `name` in `parent`.
Result<UniqueFd> open_inner_directory(int parent, const std::string& name);

// Likewise; made, for all to read and enter, where it is not there.
Result<UniqueFd> open_or_make_directory(int parent, const std::string& name);

// Puts a new file that all may read, with this text, in the place of the file `name`: whoever reads gets the
// old text or the new one. Costs nobody more than an error where a directory stands there.
Result<Done> replace_file(int directory, const std::string& name, std::string_view text);

// Likewise a symbolic link; one that is there stays.
Result<Done> make_link(int directory, const std::string& name, const std::string& target);

// The number that the file `file` in the directory `name` of `directory` holds; unset where it is none from 0
// on.
std::optional<std::int64_t> read_count(int directory, const std::string& name, const std::string& file);

// Removes what is in `directory`, whatever it is and however deep; at most `budget` entries, from which they
// are taken off. True where nothing is left.
bool remove_contents(int directory, std::size_t& budget);

// Whether nothing is in it.
bool is_empty_directory(int directory);

}  // namespace keplerd
