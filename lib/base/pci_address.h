// SPDX-License-Identifier: Apache-2.0
// The address of a PCI device: it identifies a graphics card for all who read or use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

// As the kernel writes it ("0000:65:00.0"), from that or from a spelling of it with upper case letters or
// more digits (NVML's "00000000:65:00.0"). Nothing if `text` is not such an address.
std::optional<std::string> pci_address(std::string_view text);

}  // namespace keplerd
