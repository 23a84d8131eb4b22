// SPDX-License-Identifier: Apache-2.0
#include "cli/record/trace_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/write_all.h"
#include "cli/fields.h"
#include "varlink/parse_json.h"

namespace keplerd::cli::record {
namespace {

constexpr std::string_view kBegin = R"({"trace":)";
constexpr std::string_view kFormat = "org.keplerd.Trace1";
constexpr std::uint64_t kLongestHeader = 16 << 20;
constexpr int kMostLinks = 40;

bool is_trusted(uid_t owner) { return owner == 0 || owner == geteuid(); }

// What `link` leads to; fails if that is for another user to say.
Result<std::string> follow(const UniqueFd& link, const struct stat& status, const std::string& path) {
  if (!is_trusted(status.st_uid)) return Error{path + ": the path leads through a link of another user"};
  std::array<char, PATH_MAX> target;
  const ssize_t length = readlinkat(link.get(), "", target.data(), target.size());
  if (length < 0) return system_error(path, errno);
  return std::string(target.data(), static_cast<std::size_t>(length));
}

// Opens the directory that `path` is in, one component at a time.
Result<UniqueFd> open_parent(const std::string& path, std::string& name) {
  constexpr int kPlace = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  const auto start = [](std::string_view from) {
    return UniqueFd(::open(from.starts_with('/') ? "/" : ".", kPlace));
  };
  const auto slash = path.rfind('/');
  name = slash == path.npos ? path : path.substr(slash + 1);
  std::string rest = slash == path.npos ? "" : path.substr(0, slash + 1);
  UniqueFd at = start(rest);
  for (int links = 0; at && !rest.empty();) {
    std::string_view left = rest;
    const std::string component(take_until(left, '/'));
    rest = std::string(left);
    if (component.empty()) continue;
    UniqueFd next(openat(at.get(), component.c_str(), kPlace));
    struct stat status {};
    if (!next || fstat(next.get(), &status) != 0) return system_error(path, errno);
    if (!S_ISLNK(status.st_mode)) {
      at = std::move(next);
      continue;
    }
    if (++links > kMostLinks) return system_error(path, ELOOP);
    const auto target = follow(next, status, path);
    if (!target) return target.error();
    if (target->starts_with('/')) at = start(*target);
    rest = *target + "/" + rest;
  }
  if (!at) return system_error(path, errno);
  return at;
}

Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t most, const std::string& path) {
  std::string text(most, '\0');
  std::size_t length = 0;
  while (length < most) {
    const ssize_t count = pread(fd, text.data() + length, most - length, static_cast<off_t>(offset + length));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(path, errno);
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  text.resize(length);
  return text;
}

}  // namespace

std::optional<varlink::Json> parse_header(std::string_view line) {
  if (!line.starts_with(kBegin)) return std::nullopt;
  auto header = varlink::parse_json(line);
  if (!header || string_field(*header, "trace") != kFormat) return std::nullopt;
  return *std::move(header);
}

std::string mismatch(const varlink::Json& first, const varlink::Json& next) {
  if (first.is_null()) return "";
  const auto is_anonymized = [](const varlink::Json& header) { return header.value("anonymized", false); };
  if (is_anonymized(first)) return "is anonymized, and the key of its names is gone: it cannot be continued";
  if (is_anonymized(next)) return "has the names of workloads already: record to another file";
  if (string_field(first, "host") != string_field(next, "host")) return "is the trace of another host";
  return "";
}

Result<TraceFile> TraceFile::open(const std::string& path) {
  std::string name;
  const auto parent = open_parent(path, name);
  if (!parent) return parent.error();
  UniqueFd file(openat(parent->get(), name.c_str(),
                       O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
  if (!file && errno == ELOOP) return Error{path + ": is a link; name the file itself"};
  if (!file) return system_error(path, errno);
  TraceFile trace(std::move(file), path);
  if (const auto checked = trace.check(); !checked) return checked.error();
  if (const auto read = trace.read_header(); !read) return read.error();
  return trace;
}

Result<Done> TraceFile::check() const {
  struct stat status {};
  if (fstat(file_.get(), &status) != 0) return system_error(path_, errno);
  if (!S_ISREG(status.st_mode)) return Error{path_ + ": is not a regular file"};
  if (status.st_uid != geteuid()) return Error{path_ + ": belongs to another user"};
  if (status.st_nlink > 1) return Error{path_ + ": has other names, too (hard links)"};
  if (flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return Done{};
  if (errno == EWOULDBLOCK) return Error{path_ + ": is being recorded to by another process"};
  return system_error(path_, errno);
}

Result<Done> TraceFile::read_header() {
  const off_t end = lseek(file_.get(), 0, SEEK_END);
  if (end < 0) return system_error(path_, errno);
  size_ = static_cast<std::uint64_t>(end);
  const auto text = read_at(file_.get(), 0, std::min(size_, kLongestHeader), path_);
  if (!text) return text.error();
  const auto newline = text->find('\n');
  if (newline == text->npos) {  // not even the header is complete
    const std::string_view begun = std::string_view(*text).substr(0, kBegin.size());
    if (size_ > kLongestHeader || !kBegin.starts_with(begun)) return Error{path_ + ": is not a trace"};
    size_ = 0;
    return Done{};
  }
  auto header = parse_header(std::string_view(*text).substr(0, newline));
  if (!header) return Error{path_ + ": is not a trace"};
  header_ = *std::move(header);
  return find_end();
}

// Of the last complete line.
Result<Done> TraceFile::find_end() {
  constexpr std::uint64_t kPiece = 64 << 10;
  for (;;) {
    const std::uint64_t begin = size_ > kPiece ? size_ - kPiece : 0;
    const auto text = read_at(file_.get(), begin, static_cast<std::size_t>(size_ - begin), path_);
    if (!text) return text.error();
    const auto newline = text->rfind('\n');
    if (newline != text->npos) {
      size_ = begin + newline + 1;
      return Done{};
    }
    size_ = begin;  // the header ends with one
  }
}

Result<Done> TraceFile::cut() {
  const auto end = static_cast<off_t>(size_);
  if (ftruncate(file_.get(), end) != 0 || lseek(file_.get(), end, SEEK_SET) < 0)
    return system_error(path_, errno);
  return Done{};
}

Result<Done> TraceFile::append(std::string_view lines) {
  if (!is_cut_) {
    if (auto done = cut(); !done) return done;
    is_cut_ = true;
  }
  if (auto written = write_all(file_.get(), lines, path_); !written) {
    (void)cut();
    return written;
  }
  size_ += lines.size();
  return Done{};
}

Result<Done> TraceFile::finish() {
  // EINVAL: what lies there cannot be synchronised.
  if (fsync(file_.get()) != 0 && errno != EINVAL) return system_error(path_, errno);
  return Done{};
}

}  // namespace keplerd::cli::record
