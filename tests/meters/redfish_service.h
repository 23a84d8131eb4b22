// SPDX-License-Identifier: Apache-2.0
// A Redfish service's documents, written after DMTF's published schemas.
#pragma once

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "meters/redfish/discovery.h"

namespace keplerd::redfish {

class Service {
 public:
  Service() {
    documents[kServiceRoot] =
        R"({"@odata.type": "#ServiceRoot.v1_15_0.ServiceRoot", "Chassis": {"@odata.id": "/redfish/v1/Chassis"}})";
  }

  // With links of its own: R"("Power": {"@odata.id": ...})", each followed by a comma.
  std::string add_chassis(const std::string& id, const std::string& members,
                          const std::string& type = "RackMount") {
    const std::string path = "/redfish/v1/Chassis/" + id;
    chassis.push_back(path);
    documents[path] = R"({"@odata.id": ")" + path + R"(", )" + members + R"("Id": ")" + id +
                      R"(", "ChassisType": ")" + type + R"("})";
    documents["/redfish/v1/Chassis"] = collection(chassis);
    return path;
  }

  // With the schema Power of older services.
  void add_power(const std::string& id, const std::string& watts, const std::string& links = "",
                 const std::string& type = "RackMount") {
    const std::string path = "/redfish/v1/Chassis/" + id + "/Power";
    add_chassis(id, link("Power", path) + links, type);
    set_power(id, watts);
  }
  void set_power(const std::string& id, const std::string& watts) {
    documents["/redfish/v1/Chassis/" + id + "/Power"] =
        R"({"PowerControl": [{"MemberId": "0", "PowerConsumedWatts": )" + watts + "}]}";
  }

  static std::string link(const std::string& name, const std::string& path) {
    return "\"" + name + R"(": {"@odata.id": ")" + path + R"("}, )";
  }
  static std::string contained_by(const std::string& path) {
    return R"("Links": {"ContainedBy": {"@odata.id": ")" + path + R"("}}, )";
  }
  static std::string computer(const std::string& path) {
    return R"("Links": {"ComputerSystems": [{"@odata.id": ")" + path + R"("}]}, )";
  }
  static std::string collection(const std::vector<std::string>& paths) {
    std::string members;
    for (const std::string& path : paths)
      members += (members.empty() ? "" : ", ") + (R"({"@odata.id": ")" + path + "\"}");
    return R"({"Members@odata.count": )" + std::to_string(paths.size()) + R"(, "Members": [)" + members +
           "]}";
  }

  Fetch fetch() {
    return [this](const std::string& path) -> Result<std::string> {
      requests.push_back(path);
      if (failure) return *failure;
      const auto found = documents.find(path);
      if (found == documents.end()) return Error{.message = path + ": HTTP status 404", .code = ENOENT};
      return found->second;
    };
  }

  std::map<std::string, std::string> documents;
  std::vector<std::string> chassis, requests;
  std::optional<Error> failure;
};

}  // namespace keplerd::redfish
