// SPDX-License-Identifier: Apache-2.0
#include "base/pci_address.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(PciAddress, IsTheKernelsFormOfIt) {
  EXPECT_EQ(pci_address("0000:03:00.0"), "0000:03:00.0");
  EXPECT_EQ(pci_address("00000000:65:00.0"), "0000:65:00.0");
  EXPECT_EQ(pci_address("0000:B3:1F.7"), "0000:b3:1f.7");
  EXPECT_EQ(pci_address("10000:e1:00.0"), "10000:e1:00.0");
  EXPECT_EQ(pci_address("000a0000:e1:00.0"), "a0000:e1:00.0");
}

TEST(PciAddress, NothingElseIsOne) {
  for (const char* text :
       {"", ".", "..", "65:00.0", "0000:65:00", "0000:65:00.00", "0000:6g:00.0", "0000:65:00.0 ",
        "../0:65:00.0", "000000000:65:00.0", "0000:65:00.0\n", "-000:65:00.0"})
    EXPECT_FALSE(pci_address(text)) << text;
}

}  // namespace
}  // namespace keplerd
