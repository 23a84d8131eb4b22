// SPDX-License-Identifier: Apache-2.0
// Which application a unit of a user's manager is, according to its name. A name is what the user chose:
// these are claims. Pure.
//
// Sources: systemd's DESKTOP_ENVIRONMENTS.md ("XDG standardization for applications"), flatpak's and snapd's
// scopes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keplerd::cli::apps {

// The ids of desktop files that this unit may be of, the most likely one first: {"org.gnome.Nautilus"} for
// "app-gnome-org.gnome.Nautilus-1234.scope". Empty if it is not an application's. Not escaped yet: an id is
// any bytes but a slash, at most 255.
std::vector<std::string> app_ids(std::string_view unit);

}  // namespace keplerd::cli::apps
