// SPDX-License-Identifier: Apache-2.0
#include "workloads/name_sources.h"

#include <utility>

#include "host/kept_file.h"

namespace keplerd {
namespace {

constexpr std::size_t kPodmanLimit = 16 << 20;

template <class Name>
std::optional<Name> find_name(const NamesById<Name>& names, std::string_view id) {
  const auto found = names.find(id);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

bool LastCheck::is_due(Nanoseconds now, bool known) {
  if (at_ && now - *at_ < (known ? kCheckPeriod : kRetryPeriod)) return false;
  at_ = now;
  return true;
}

std::optional<std::string> FileForEach::name(Nanoseconds now, std::string_view id) {
  File* const file = files_.ask(id);
  if (file == nullptr) return std::nullopt;
  if (file->checked.is_due(now, file->content.name.has_value())) read(id, file->content);
  return file->content.name;
}

void FileForEach::read(std::string_view id, NameFile& file) {
  if (!directory_) {
    auto opened = open_inside(root_, place_.directory);
    directory_ = opened ? *std::move(opened) : UniqueFd();
  }
  if (!*directory_) {
    file = {};
    return;
  }
  const std::string path = place_.prefix + std::string(id) + place_.file;
  if (place_.is_link) {
    const auto target = read_link(directory_->get(), path.c_str());
    file.name = target ? place_.parse(*target) : std::nullopt;
    return;
  }
  file.read(directory_->get(), path, place_.limit, place_.parse);
}

void FileForEach::end() {
  directory_.reset();
  files_.end();
}

template <class Name>
std::optional<Name> NamingDirectory<Name>::name(Nanoseconds now, std::string_view id) {
  asked_ = true;
  if (checked_.is_due(now, names_.contains(id))) scan();
  return find_name(names_, id);
}

template <class Name>
void NamingDirectory<Name>::scan() {
  const auto directory = open_inside(root_, path_);
  const auto entries = list_if_changed(directory ? directory->get() : -1, kMostNames, stamp_);
  if (entries && !*entries) return;
  names_.clear();
  if (!entries) return;
  for (const std::string& entry : **entries) {
    if (auto parsed = parse_(entry)) names_.insert(*std::move(parsed));
  }
}

template <class Name>
void NamingDirectory<Name>::end() {
  if (!std::exchange(asked_, false)) *this = NamingDirectory(root_, path_, parse_);
}

template class NamingDirectory<std::string>;
template class NamingDirectory<PodName>;

std::optional<std::string> PodmanStorage::name(Nanoseconds now, std::string_view id) {
  asked_ = true;
  auto known = find(id);
  if (!checked_.is_due(now, known.has_value())) return known;
  scan();
  return find(id);
}

void PodmanStorage::scan() {
  const auto storage = open_inside(root_, "var/lib/containers/storage");
  if (!storage) {
    lists_ = {};
    return;
  }
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    List& list = lists_[i];
    const auto text = read_if_changed(storage->get(), kFiles[i], kPodmanLimit, list.stamp);
    if (!text) {
      list.names.clear();
    } else if (*text) {
      list.names = parse_podman_names(**text, kMostNames);
    }
  }
}

std::optional<std::string> PodmanStorage::find(std::string_view id) const {
  for (const List& list : lists_) {
    if (auto name = find_name(list.names, id)) return name;
  }
  return std::nullopt;
}

void PodmanStorage::end() {
  if (!std::exchange(asked_, false)) *this = PodmanStorage(root_);
}

}  // namespace keplerd
