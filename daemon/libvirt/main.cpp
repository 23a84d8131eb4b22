// SPDX-License-Identifier: Apache-2.0
// keplerd-libvirt DRIVER...: reports on its standard output, in lines of JSON (update.h), which domains are
// running and why they end. Read-only. Exits when libvirt's daemon or the reader does.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "daemon/libvirt/update.h"
#include "version.h"

namespace keplerd {
namespace {

constexpr int kAlivePeriod = 5000;  // ms
constexpr int kKeepAliveSeconds = 5;

struct Connection {
  std::string driver;
  virConnectPtr handle = nullptr;
};

void report(const LibvirtUpdate& update) {
  const std::string line = format_update(update) + '\n';
  // The reader is gone.
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0)
    std::exit(0);
}

using Words = std::array<const char*, 8>;

// Names of virDomainState, as in libvirt's status files (its src/conf/domain_conf.c).
constexpr Words kStates = {"nostate",  "running", "idle",    "paused",
                           "shutdown", "shutoff", "crashed", "pmsuspended"};
// Names of virDomainEventStoppedDetailType.
constexpr Words kEnds = {"shutdown", "destroyed", "crashed",       "migrated",
                         "saved",    "failed",    "from snapshot", "recovered"};

// Empty for values that a later libvirt may add.
std::string word(const Words& words, int number) {
  const auto index = static_cast<std::size_t>(number);  // a negative number becomes out of range
  return index < words.size() ? words[index] : "";
}

std::string text_and_free(char* text) {
  const std::unique_ptr<char, decltype(&std::free)> owner(text, std::free);
  return text == nullptr ? std::string() : std::string(text);
}

LibvirtUpdate about(const std::string& driver, virDomainPtr domain) {
  LibvirtUpdate update{.kind = LibvirtUpdate::Kind::kDomain, .driver = driver};
  std::array<char, VIR_UUID_STRING_BUFLEN> uuid{};
  if (virDomainGetUUIDString(domain, uuid.data()) == 0) update.uuid = uuid.data();
  return update;
}

void report_domain(const std::string& driver, virDomainPtr domain) {
  LibvirtUpdate update = about(driver, domain);
  int state = 0;
  if (virDomainGetState(domain, &state, nullptr, 0) != 0) return;  // it has ended
  update.id = static_cast<int>(virDomainGetID(domain));
  update.name = virDomainGetName(domain);
  update.title = text_and_free(virDomainGetMetadata(domain, VIR_DOMAIN_METADATA_TITLE, nullptr, 0));
  update.state = word(kStates, state);
  report(update);
}

int on_lifecycle(virConnectPtr, virDomainPtr domain, int event, int detail, void* connection) {
  const std::string& driver = static_cast<Connection*>(connection)->driver;
  if (event == VIR_DOMAIN_EVENT_STOPPED) {
    LibvirtUpdate update = about(driver, domain);
    update.kind = LibvirtUpdate::Kind::kEnded;
    update.reason = word(kEnds, detail);
    report(update);
  } else if (event != VIR_DOMAIN_EVENT_DEFINED && event != VIR_DOMAIN_EVENT_UNDEFINED) {
    report_domain(driver, domain);
  }
  return 0;
}

void on_close(virConnectPtr, int, void*) { std::exit(0); }

// Makes a round trip to libvirt's daemon: returns only if it answers.
void on_timer(int, void* connections) {
  for (const Connection& connection : *static_cast<std::vector<Connection>*>(connections)) {
    if (virConnectIsAlive(connection.handle) != 1 || virConnectNumOfDomains(connection.handle) < 0)
      std::exit(1);
  }
  report({});
}

bool connect(Connection& connection) {
  connection.handle = virConnectOpenReadOnly((connection.driver + ":///system").c_str());
  if (connection.handle == nullptr) return false;
  virConnectSetKeepAlive(connection.handle, kKeepAliveSeconds, 3);
  virConnectRegisterCloseCallback(connection.handle, on_close, nullptr, nullptr);
  // Registered before the listing, so that no change in between is missed.
  if (virConnectDomainEventRegisterAny(connection.handle, nullptr, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
                                       VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), &connection, nullptr) < 0)
    return false;
  virDomainPtr* domains = nullptr;
  const int count = virConnectListAllDomains(connection.handle, &domains, VIR_CONNECT_LIST_DOMAINS_ACTIVE);
  for (int i = 0; i < count; ++i) {
    report_domain(connection.driver, domains[i]);
    virDomainFree(domains[i]);
  }
  std::free(domains);
  return count >= 0;
}

int fail() {
  const virError* const error = virGetLastError();
  std::fprintf(stderr, "keplerd-libvirt: %s\n", error == nullptr ? "cannot connect" : error->message);
  return EXIT_FAILURE;
}

int run(int count, char** words) {
  std::vector<Connection> connections;
  for (int i = 1; i < count; ++i) connections.push_back({words[i]});
  if (connections.empty()) {
    std::fprintf(stderr, "usage: keplerd-libvirt DRIVER...\nStarted by keplerd. DRIVER: qemu or xen.\n");
    return 2;
  }
  if (std::string(words[1]) == "--version") {
    std::printf("keplerd-libvirt %s\n", KEPLERD_VERSION);
    return EXIT_SUCCESS;
  }
  virSetErrorFunc(nullptr, [](void*, virErrorPtr) {});  // else it prints each error
  if (virInitialize() != 0 || virEventRegisterDefaultImpl() != 0) return fail();
  for (Connection& connection : connections) {
    if (!connect(connection)) return fail();
  }
  on_timer(0, &connections);
  virEventAddTimeout(kAlivePeriod, on_timer, &connections, nullptr);
  while (virEventRunDefaultImpl() == 0) {
  }
  return fail();
}

}  // namespace
}  // namespace keplerd

int main(int count, char** words) { return keplerd::run(count, words); }
