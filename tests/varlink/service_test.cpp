// SPDX-License-Identifier: Apache-2.0
#include "varlink/service.h"

#include <fstream>
#include <sstream>

#include "tests/varlink/energy_description.h"
#include "varlink/loop_server.h"

namespace keplerd::varlink {
namespace {

std::string file_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Service : public LoopServer {
 protected:
  std::string description_of(const std::string& interface) {
    const auto text =
        ask(R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":")" +
            interface + "\"}}");
    const auto reply = parse_reply(text);
    return reply.ok() && reply->parameters.contains("description")
               ? reply->parameters["description"].get<std::string>()
               : text;
  }
};

TEST_F(Service, DescribesItselfAndItsInterfaces) {
  start();
  EXPECT_EQ(R"({"parameters":{"vendor":"The keplerd project","product":"keplerd","version":"1.2.3",)"
            R"("url":"https://example.org/","interfaces":["org.example.Test","org.varlink.service"]}})",
            ask(R"({"method":"org.varlink.service.GetInfo"})"));
}

TEST_F(Service, DescribesItself) {
  start();
  const auto text = description_of("org.varlink.service");
  EXPECT_EQ(file_text(KEPLERD_SOURCE_DIR "/lib/varlink/org.varlink.service.varlink"), text);
  EXPECT_NE(std::string::npos, text.find("interface org.varlink.service\n"));
}

TEST_F(Service, DescribesAnInterfaceInTheVeryTextOfItsFile) {
  interface_.name = "org.keplerd.Energy";
  interface_.description = kTestEnergyDescription;
  start();
  const auto text = description_of("org.keplerd.Energy");
  EXPECT_EQ(file_text(KEPLERD_SOURCE_DIR "/varlink/org.keplerd.Energy.varlink"), text);
  EXPECT_NE(std::string::npos, text.find("interface org.keplerd.Energy\n"));
}

TEST_F(Service, DescribesNoOtherInterface) {
  start();
  EXPECT_EQ(
      R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"org.example.Other"}})",
      ask(R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":)"
          R"({"interface":"org.example.Other"}})"));
}

TEST_F(Service, WantsTheNameOfTheInterface) {
  start();
  for (const auto* parameters : {"{}", R"({"interface":1})", R"({"interface":null})"}) {
    EXPECT_EQ(R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"interface"}})",
              ask(R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":)" +
                  std::string(parameters) + "}"));
  }
}

TEST_F(Service, NamesMissingMethodsAndInterfaces) {
  interface_.methods["Known"] = [](const Call&) { return Reply{}; };
  start();
  EXPECT_EQ(
      R"({"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.example.Test.Other"}})",
      ask(R"({"method":"org.example.Test.Other"})"));
  EXPECT_EQ(
      R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"org.example.No"}})",
      ask(R"({"method":"org.example.No.Known"})"));
  EXPECT_EQ(R"({"error":"org.varlink.service.MethodNotFound","parameters":{"method":"Known"}})",
            ask(R"({"method":"Known"})"));
}

TEST_F(Service, DoesNotUpgrade) {
  interface_.methods["Known"] = [](const Call&) { return Reply{}; };
  start();
  EXPECT_EQ(
      R"({"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":"org.example.Test.Known"}})",
      ask(R"({"method":"org.example.Test.Known","upgrade":true})"));
}

}  // namespace
}  // namespace keplerd::varlink
