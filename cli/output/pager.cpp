// SPDX-License-Identifier: Apache-2.0
#include "cli/output/pager.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace keplerd::cli {
namespace {

constexpr int kNotFound = 127;  // as returned by the shell, too

[[noreturn]] void become_pager(int input, const std::optional<std::string>& command) {
  // The caller ignores it; a pager must die of it.
  std::signal(SIGPIPE, SIG_DFL);
  if (dup2(input, STDIN_FILENO) < 0) _exit(kNotFound);
  // keplerctl may run under sudo: less must not offer a shell. Users' own settings of less are respected.
  setenv("LESSSECURE", "1", 1);
  setenv("LESSCHARSET", "utf-8", 0);
  if (command) {
    execl("/bin/sh", "sh", "-c", command->c_str(), static_cast<char*>(nullptr));
  } else {
    execlp("less", "less", "-FRSX", static_cast<char*>(nullptr));
  }
  _exit(kNotFound);
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the reader has quit
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool show_in_pager(std::string_view text, const std::optional<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  UniqueFd output(ends[0]);
  UniqueFd input(ends[1]);
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) become_pager(output.get(), command);
  output.reset();

  // While the pager is running, Ctrl-C is meant for it.
  const auto interrupt = std::signal(SIGINT, SIG_IGN);
  const auto broken_pipe = std::signal(SIGPIPE, SIG_IGN);
  write_all(input.get(), text);
  input.reset();
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGINT, interrupt);
  std::signal(SIGPIPE, broken_pipe);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == kNotFound);
}

}  // namespace keplerd::cli
