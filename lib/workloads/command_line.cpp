// SPDX-License-Identifier: Apache-2.0
#include "workloads/command_line.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "workloads/identifier.h"
#include "workloads/qemu_options.h"

namespace keplerd {
namespace {

using Words = std::span<const std::string_view>;
using Answer = std::optional<VmCommand>;

constexpr std::size_t kMaxComm = 15;  // TASK_COMM_LEN - 1

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// NixOS names wrapped programs ".NAME-wrapped".
std::string_view unwrapped(std::string_view name) {
  if (!name.starts_with('.')) return name;
  name.remove_prefix(1);
  if (name.ends_with("-wrapped")) name.remove_suffix(8);
  return name;
}

// Excludes plain "qemu", which is also libvirt's hook, and QEMU's tools and user-mode emulators.
bool is_qemu(std::string_view name) {
  name = unwrapped(name);
  return name == "kvm" || name == "kvm-spice" || name.starts_with("qemu-kvm") || name == "qemu-dm" ||
         name.starts_with("qemu-dm-") || (name.starts_with("qemu-system-") && name.size() > 12);
}

// Release files are named "firecracker-v1.7.0-x86_64".
bool is_firecracker(std::string_view name) {
  return name == "firecracker" || name.starts_with("firecracker-v");
}

template <class... Names>
bool is_one_of(std::string_view name, Names... names) {
  return ((name == names) || ...);
}

// An option's value: the next word, or after "="; empty if not given. Accepts one dash or two.
std::string_view option_value(Words words, std::string_view option) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with('-')) continue;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    if (!word.starts_with(option)) continue;
    word.remove_prefix(option.size());
    if (word.starts_with('=')) return word.substr(1);
    if (word.empty()) return i + 1 < words.size() ? words[i + 1] : std::string_view();
  }
  return {};
}

bool has_word(Words words, std::string_view wanted) {
  return std::ranges::find(words, wanted) != words.end();
}

bool asks_only(Words words) {
  return has_word(words, "--version") || has_word(words, "--help") || has_word(words, "-h") ||
         has_word(words, "-V");
}

VmCommand vm(Hypervisor hypervisor, std::string_view name, std::string uuid = {}) {
  VmCommand found;
  found.hypervisor = hypervisor;
  found.name = escape_name(name);
  found.name_given = !name.empty();
  found.uuid = std::move(uuid);
  return found;
}

// Whether a QEMU going by its argv[0] has a matching comm, too. A shell can set argv[0], but not comm, which
// is truncated to 15 bytes.
bool comm_agrees(std::string_view comm, const QemuOptions& options) {
  if (comm.empty() || is_qemu(comm)) return true;
  return !options.process.empty() &&
         comm == escape_name(std::string_view(options.process).substr(0, kMaxComm));
}

Answer qemu(const ProcessCommand& process) {
  const QemuOptions options = parse_qemu_options(process.words);
  if (options.no_vm) return std::nullopt;
  // The helper of -run-with async-teardown: same memory, so same command line and program.
  if (process.comm.starts_with("cleanup/")) return std::nullopt;
  if (process.program.empty() && !comm_agrees(process.comm, options)) return std::nullopt;
  VmCommand found = vm(Hypervisor::kKvm, options.name, options.uuid);
  found.number = options.number;
  found.cpu_sockets = options.cpu_sockets;
  found.size = options.size;
  found.helper_sockets = options.helper_sockets;
  const bool old_device_model = unwrapped(base_name(process.words[0])).starts_with("qemu-dm");
  if (!options.domain.empty() || old_device_model) {
    if (options.domain == "0") return std::nullopt;  // dom0's own disk backend
    found.hypervisor = Hypervisor::kXen;
    found.number = options.domain;
    found.guest_elsewhere = true;
    if (old_device_model && found.number.empty())
      if (const auto domain = option_value(process.words, "d"); is_digits(domain)) found.number = domain;
    if (!found.name_given) {
      const auto name = option_value(process.words, "domain-name");
      found.name = escape_name(name);
      found.name_given = !name.empty();
    }
  }
  return found;
}

Answer virtualbox(Words words) {
  std::string_view started = option_value(words, "startvm");
  if (started.empty() && base_name(words[0]) == "VBoxHeadless") started = option_value(words, "s");
  const std::string_view comment = option_value(words, "comment");
  const bool runs_one = !started.empty() || (base_name(words[0]) == "VBoxSDL" && !comment.empty());
  if (!runs_one) return std::nullopt;  // the manager's window
  std::string_view braced = started;
  if (braced.starts_with('{') && braced.ends_with('}')) braced = braced.substr(1, braced.size() - 2);
  std::string uuid = canonical_uuid(braced);
  std::string_view name = comment;
  if (name.empty() && uuid.empty()) name = started;
  return vm(Hypervisor::kVirtualBox, name, std::move(uuid));
}

Answer vmware(Words words) {
  for (std::size_t i = words.size(); i-- > 1;) {
    std::string_view file = base_name(words[i]);
    if (!file.ends_with(".vmx") || file.size() == 4) continue;
    return vm(Hypervisor::kVmware, file.substr(0, file.size() - 4));
  }
  return std::nullopt;
}

Answer firecracker(Words words) {
  if (asks_only(words) || has_word(words, "--snapshot-version")) return std::nullopt;
  return vm(Hypervisor::kFirecracker, option_value(words, "id"));
}

// The value of `key` in "a=1,key=value,b=2".
std::string_view setting(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view value = take_until(text, ',');
    if (take_until(value, '=') == key) return value;
  }
  return {};
}

// Named after its socket: "/run/ch/web.sock" is "web"; after the directory if the socket has the same name
// for each VM ("/run/vc/vm/ID/clh-api.sock").
Answer cloud_hypervisor(Words words) {
  if (asks_only(words)) return std::nullopt;
  std::string_view path = option_value(words, "api-socket");
  if (path.starts_with("path=") || path.starts_with("fd=")) path = setting(path, "path");
  std::string_view name = base_name(path);
  for (const std::string_view suffix : {".socket", ".sock", "-socket"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  if (is_one_of(name, "api", "ch", "clh", "ch-api", "clh-api", "cloud-hypervisor", "vmm")) {
    const auto slash = path.rfind('/');
    name = slash == path.npos ? std::string_view() : base_name(path.substr(0, slash));
  }
  VmCommand found = vm(Hypervisor::kCloudHypervisor, name,
                       canonical_uuid(setting(option_value(words, "platform"), "uuid")));
  found.size = {.vcpus = parse_vcpus(setting(option_value(words, "cpus"), "boot")),
                .memory = parse_vm_memory(setting(option_value(words, "memory"), "size"), 1)};
  return found;
}

Answer kvmtool(Words words) {
  if (words.size() < 2 || words[1] != "run" || asks_only(words)) return std::nullopt;
  VmCommand found = vm(Hypervisor::kKvmtool, option_value(words, "name"));
  const auto value = [&](std::string_view option, std::string_view short_option) {
    const std::string_view given = option_value(words, option);
    return given.empty() ? option_value(words, short_option) : given;
  };
  constexpr std::int64_t kMebibyte = 1 << 20;
  found.size = {.vcpus = parse_vcpus(value("cpus", "c")),
                .memory = parse_vm_memory(value("mem", "m"), kMebibyte)};
  return found;
}

// Recognises a program by its base name.
std::optional<Hypervisor> hypervisor_of(std::string_view program) {
  const std::string_view name = unwrapped(program);
  if (is_qemu(name)) return Hypervisor::kKvm;
  if (is_one_of(name, "VirtualBoxVM", "VirtualBox", "VBoxHeadless", "VBoxSDL"))
    return Hypervisor::kVirtualBox;
  if (is_one_of(name, "vmware-vmx", "vmware-vmx-debug", "vmware-vmx-stats")) return Hypervisor::kVmware;
  if (is_firecracker(name)) return Hypervisor::kFirecracker;
  if (is_one_of(name, "cloud-hypervisor", "cloud-hypervisor-static")) return Hypervisor::kCloudHypervisor;
  if (is_one_of(name, "lkvm", "lkvm-static")) return Hypervisor::kKvmtool;
  return std::nullopt;
}

Answer of_program(std::string_view program, const ProcessCommand& process) {
  const auto hypervisor = hypervisor_of(program);
  if (!hypervisor) return std::nullopt;
  switch (*hypervisor) {
    case Hypervisor::kKvm:
    case Hypervisor::kXen:  // with QEMU as its device model
      return qemu(process);
    case Hypervisor::kVirtualBox:
      return virtualbox(process.words);
    case Hypervisor::kVmware:
      return vmware(process.words);
    case Hypervisor::kFirecracker:
      return firecracker(process.words);
    case Hypervisor::kCloudHypervisor:
      return cloud_hypervisor(process.words);
    case Hypervisor::kKvmtool:
      return kvmtool(process.words);
  }
  return std::nullopt;
}

// comm is truncated: "cloud-hyperviso".
bool is_cut_name_of_a_hypervisor(std::string_view comm) {
  return hypervisor_of(comm) || is_one_of(comm, "cloud-hyperviso", "vmware-vmx-debu", "vmware-vmx-stat");
}

}  // namespace

std::vector<std::string_view> split_command_line(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty() && words.size() < kMaxCommandLineWords) words.push_back(take_until(text, '\0'));
  return words;
}

bool is_named_like_a_hypervisor(const ProcessCommand& process) {
  if (is_cut_name_of_a_hypervisor(process.comm)) return true;
  return !process.words.empty() && hypervisor_of(base_name(process.words[0])).has_value();
}

std::optional<VmCommand> recognise_vm(const ProcessCommand& process) {
  if (process.words.empty()) return std::nullopt;
  std::string_view program = process.program.empty() ? process.words[0] : process.program;
  // A VM outlives the upgrade of its hypervisor.
  if (program.ends_with(" (deleted)")) program.remove_suffix(10);
  Answer found = of_program(base_name(program), process);
  if (found && !found->name_given && !found->uuid.empty()) {
    found->name = std::string(hypervisor_name(found->hypervisor)) + '-' + found->uuid.substr(0, 8);
  }
  return found;
}

}  // namespace keplerd
