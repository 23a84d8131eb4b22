// SPDX-License-Identifier: Apache-2.0
#include "workloads/proxmox_names.h"

#include <map>
#include <utility>

#include "base/parse.h"

namespace keplerd {
namespace {

constexpr std::size_t kLimit = 64 << 10;

}  // namespace

// The directories of files that are read together, each opened once.
class ProxmoxNames::Directories {
 public:
  explicit Directories(int root) : root_(root) {}

  void read(const std::string& id, NameFile& content) {
    std::string_view number = id;
    const std::string name(take_until(number, '/'));
    const auto known = opened_.find(name);
    const auto& opened =
        known != opened_.end() ? known->second : opened_.emplace(name, directory(name)).first->second;
    if (!opened) {
      content = {};
      return;
    }
    content.read(opened->get(), std::string(number) + ".conf", kLimit, [&](std::string_view text) {
      return parse_proxmox_value(text, name == "lxc" ? "hostname" : "name");
    });
  }

 private:
  Result<UniqueFd> directory(const std::string& name) const {
    return open_inside(root_, ("etc/pve/" + name).c_str());
  }

  int root_;
  std::map<std::string, Result<UniqueFd>> opened_;
};

std::optional<std::string> ProxmoxNames::name(Nanoseconds now, const std::string& id) {
  File* const file = files_->ask(id);
  if (file == nullptr) return std::nullopt;
  if (file->checked.is_due(now, file->content.name.has_value())) {
    file->due = background_ != nullptr;
    if (background_ == nullptr) Directories(root_).read(id, file->content);
  }
  return file->content.name;
}

void ProxmoxNames::end() {
  files_->end();
  if (background_ != nullptr && !background_->is_busy()) start_reading();
}

void ProxmoxNames::start_reading() {
  struct Job {
    UniqueFd root;
    std::vector<Reading> readings;
  };
  const auto job = std::make_shared<Job>();
  files_->for_each([&job](const std::string& id, File& file) {
    if (std::exchange(file.due, false)) job->readings.push_back({id, file.content});
  });
  if (job->readings.empty()) return;
  auto root =
      open_inside(root_, "");  // an own descriptor: the host's may be closed before a hanging job ends
  if (!root) return;
  job->root = *std::move(root);
  const auto work = [job] {
    Directories directories(job->root.get());
    for (Reading& reading : job->readings) directories.read(reading.id, reading.content);
  };
  const auto done = [job, files = std::weak_ptr(files_)] {
    const auto known = files.lock();
    if (!known) return;
    for (Reading& reading : job->readings) {
      File* const file = known->find(reading.id);
      if (file == nullptr) continue;
      file->content = std::move(reading.content);
      file->due = false;  // even if it was requested meanwhile
    }
  };
  // If no thread can be created, they become due again after the retry period.
  static_cast<void>(background_->start(work, done));
}

}  // namespace keplerd
