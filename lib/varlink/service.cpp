// SPDX-License-Identifier: Apache-2.0
#include "varlink/service.h"

#include <utility>

#include "varlink/service_description.h"

namespace keplerd::varlink {

namespace {

Failure failure(const char* error, const char* name, std::string_view value) {
  return {error, Json{{name, value}}};
}

Reply get_info(const ServiceInfo& info, const Interfaces& interfaces) {
  Json names = Json::array();
  for (const auto& [name, interface] : interfaces) names.push_back(name);
  return {Json{{"vendor", info.vendor},
               {"product", info.product},
               {"version", info.version},
               {"url", info.url},
               {"interfaces", std::move(names)}}};
}

Answer get_interface_description(const Call& call, const Interfaces& interfaces) {
  const auto name = call.parameters.find("interface");
  if (name == call.parameters.end() || !name->is_string()) return invalid_parameter("interface");
  const auto& wanted = name->get_ref<const std::string&>();
  const auto interface = interfaces.find(wanted);
  if (interface == interfaces.end()) return interface_not_found(wanted);
  return Reply{Json{{"description", interface->second.description}}};
}

}  // namespace

Failure invalid_parameter(std::string_view name) {
  return failure("org.varlink.service.InvalidParameter", "parameter", name);
}

Failure expected_more() { return {"org.varlink.service.ExpectedMore", Json::object()}; }

Failure permission_denied() { return {"org.varlink.service.PermissionDenied", Json::object()}; }

Failure interface_not_found(std::string_view interface) {
  return failure("org.varlink.service.InterfaceNotFound", "interface", interface);
}

Failure method_not_found(std::string_view method) {
  return failure("org.varlink.service.MethodNotFound", "method", method);
}

Failure method_not_implemented(std::string_view method) {
  return failure("org.varlink.service.MethodNotImplemented", "method", method);
}

Interface service_interface(ServiceInfo info, const Interfaces& interfaces) {
  Interface service;
  service.name = "org.varlink.service";
  service.description = kVarlinkServiceDescription;
  service.methods["GetInfo"] = [info = std::move(info), &interfaces](const Call&) {
    return get_info(info, interfaces);
  };
  service.methods["GetInterfaceDescription"] = [&interfaces](const Call& call) {
    return get_interface_description(call, interfaces);
  };
  return service;
}

}  // namespace keplerd::varlink
