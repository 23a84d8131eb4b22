// SPDX-License-Identifier: Apache-2.0
#include "client/requests.h"

#include <gtest/gtest.h>

namespace keplerd::client {
namespace {

using varlink::ClientReply;
using varlink::Json;

ClientReply failed(std::string error, Json parameters = Json::object()) {
  return {std::move(parameters), std::move(error), false};
}

TEST(Errors, NameTheMissingRow) {
  const auto message = [](const char* error) {
    return describe_error(failed(std::string("org.keplerd.Energy.") + error, {{"id", "x\n"}}));
  };
  EXPECT_EQ(message("NoSuchUnit"), "no such unit: 'x\\x0a'");
  EXPECT_EQ(message("NoSuchVirtualMachine"), "no such virtual machine: 'x\\x0a'");
  EXPECT_EQ(message("NoSuchContainer"), "no such container: 'x\\x0a'");
  EXPECT_EQ(message("NoSuchPod"), "no such pod: 'x\\x0a'");
  EXPECT_EQ(message("NoSuchProcess"), "no such process: 'x\\x0a'");
  EXPECT_EQ(message("NoSuchZone"), "no such zone: 'x\\x0a'");
}

TEST(Errors, OfAnAmbiguousNameAreItsIds) {
  const Json parameters = {{"name", "a"}, {"ids", {"/x/a", 7, "/y/a\033"}}};
  EXPECT_EQ(describe_error(failed("org.keplerd.Energy.AmbiguousName", parameters)),
            "'a' is ambiguous: /x/a, /y/a\\x1b; use one of the ids");
}

TEST(Errors, ThatAreNotKnownAreSafeToShow) {
  EXPECT_EQ(describe_error(failed("org.example.\033[2J", {{"a", "b\n"}})),
            "keplerd answered with the error org.example.\\x1b[2J {\"a\":\"b\\n\"}");
}

TEST(Errors, AreDistinguished) {
  EXPECT_TRUE(is_nothing_such(failed("org.keplerd.Energy.NoSuchPod")));
  EXPECT_TRUE(is_ambiguous(failed("org.keplerd.Energy.AmbiguousName")));
  EXPECT_TRUE(is_denied(failed("org.varlink.service.PermissionDenied")));
  EXPECT_TRUE(is_unknown_kind(failed("org.varlink.service.InvalidParameter", {{"parameter", "kind"}})));
  EXPECT_FALSE(is_unknown_kind(failed("org.varlink.service.InvalidParameter", {{"parameter", "id"}})));
  EXPECT_FALSE(is_nothing_such(failed("org.example.NoSuchPod")));
  EXPECT_FALSE(is_denied({}));
}

}  // namespace
}  // namespace keplerd::client
