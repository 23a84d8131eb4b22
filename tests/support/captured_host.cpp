// SPDX-License-Identifier: Apache-2.0
#include "support/captured_host.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace keplerd {
namespace {

// A file that the host lacks must not come from FakeHost either.
void clear(FakeHost& host) {
  for (const char* file : {"proc/cpuinfo", "proc/stat", "cgroup/cpu.stat"}) host.remove(file);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string read_capture(const std::string& name) {
  const std::string path = KEPLERD_FIXTURES "/hosts/" + name + ".json";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void lay_out(FakeHost& host, std::string_view capture) {
  const auto json = nlohmann::json::parse(capture);
  if (json.at("format") != "keplerd-capture-1") throw std::runtime_error("not a capture");
  clear(host);
  for (const auto& directory : json.at("directories")) {
    const std::string file = directory.get<std::string>() + "/made";
    host.write(file, "");
    host.remove(file);
  }
  // Only the last component of a link's target is meaningful on another host.
  int number = 0;
  for (const auto& [path, target] : json.at("links").items()) {
    const auto device =
        "sys/devices/captured/" + std::to_string(number++) + "/" + name_of(target.get<std::string>());
    host.write(device + "/uevent", "");
    host.link(path, host.paths().sysfs + device.substr(3));
  }
  for (const auto& [path, text] : json.at("files").items()) host.write(path, text.get<std::string>());
  for (const auto& [path, error] : json.at("errors").items()) host.break_file(path);
}

}  // namespace keplerd
