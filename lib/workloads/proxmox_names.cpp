// SPDX-License-Identifier: Apache-2.0
#include "workloads/proxmox_names.h"

#include <utility>

#include "base/parse.h"

namespace keplerd {
namespace {

constexpr std::size_t kLimit = 64 << 10;

}  // namespace

std::optional<std::string> ProxmoxNames::name(Nanoseconds now, const std::string& id) {
  auto found = files_->find(id);
  if (found == files_->end()) {
    if (files_->size() >= kMostNames) return std::nullopt;
    found = files_->emplace(id, File()).first;
  }
  File& file = found->second;
  file.asked = true;
  if (file.look.is_due(now, file.known.name.has_value())) {
    file.due = background_ != nullptr;
    if (background_ == nullptr) {
      Reading reading{id, file.known};
      read(root_, reading);
      file.known = std::move(reading.known);
    }
  }
  return file.known.name;
}

void ProxmoxNames::read(int root, Reading& reading) {
  std::string_view number = reading.id;
  const std::string directory(take_until(number, '/'));
  const auto opened = open_inside(root, ("etc/pve/" + directory).c_str());
  const auto text = opened ? read_if_changed(opened->get(), (std::string(number) + ".conf").c_str(), kLimit,
                                             reading.known.stamp)
                           : Result<std::optional<std::string>>(opened.error());
  if (!text) {
    reading.known = {};
  } else if (*text) {
    reading.known.name = parse_proxmox_value(**text, directory == "lxc" ? "hostname" : "name");
  }
}

void ProxmoxNames::end() {
  std::erase_if(*files_, [](const auto& file) { return !file.second.asked; });
  for (auto& [id, file] : *files_) file.asked = false;
  if (background_ != nullptr && !background_->is_busy()) start_reading();
}

void ProxmoxNames::start_reading() {
  struct Job {
    UniqueFd root;
    std::vector<Reading> readings;
  };
  const auto job = std::make_shared<Job>();
  for (auto& [id, file] : *files_) {
    if (std::exchange(file.due, false)) job->readings.push_back({id, file.known});
  }
  if (job->readings.empty()) return;
  auto root = open_inside(root_, "");  // of its own: the host's may be closed before a job that hangs ends
  if (!root) return;
  job->root = *std::move(root);
  const auto work = [job] {
    for (Reading& reading : job->readings) read(job->root.get(), reading);
  };
  const auto done = [job, files = std::weak_ptr(files_)] {
    const auto known = files.lock();
    if (!known) return;
    for (Reading& reading : job->readings) {
      const auto file = known->find(reading.id);
      if (file == known->end()) continue;
      file->second.known = std::move(reading.known);
      file->second.due = false;  // also where it was asked for meanwhile
    }
  };
  // Where no thread can be made, they are due again after the retry period.
  static_cast<void>(background_->start(work, done));
}

}  // namespace keplerd
