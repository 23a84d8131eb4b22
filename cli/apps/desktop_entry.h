// SPDX-License-Identifier: Apache-2.0
// Reads the name of an application from a desktop file. Pure.
//
// Source: the Desktop Entry Specification, "Basic format of the file" and "Localized values for keys".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keplerd::cli::apps {

// The locales whose names are wanted, the best one first: {"sr_YU@Latn", "sr_YU", "sr@Latn", "sr"} for
// "sr_YU.UTF-8@Latn". Empty for "C", "POSIX" and an empty text.
std::vector<std::string> locale_keys(std::string_view locale);

// The value of Name in the group [Desktop Entry], in the first of `locales` that it has, else not localized.
// Safe for a terminal, and at most 128 bytes before it is escaped. Unset if it has none.
std::optional<std::string> desktop_name(std::string_view text, const std::vector<std::string>& locales);

// Bytes chosen by a user, made fit for display: cut at a character's end, then escaped.
std::string shown_name(std::string_view raw);

}  // namespace keplerd::cli::apps
