// SPDX-License-Identifier: Apache-2.0
#include "cli/output/fd_buffer.h"

#include <cerrno>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace keplerd::cli {
namespace {

TEST(FdBuffer, WritesEverythingInOrder) {
  std::string path = testing::TempDir() + "/fd-buffer-XXXXXX";
  const UniqueFd fd(mkstemp(path.data()));
  std::string expected;
  {
    FdBuffer buffer(fd.get());
    std::ostream out(&buffer);
    for (int i = 0; i < 5000; ++i) {
      out << i << '\n';
      expected += std::to_string(i) + "\n";
    }
    EXPECT_EQ(buffer.error(), 0);
  }
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path.c_str());
  EXPECT_EQ(text.str(), expected);
}

TEST(FdBuffer, KeepsTheErrorOfTheFirstFailedWriteOfALongOutput) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  FdBuffer buffer(full.get());
  std::ostream out(&buffer);
  out << std::string(20'000, 'x');  // far more than the buffer holds: fails long before the flush
  errno = 0;
  out.flush();
  EXPECT_FALSE(out);
  EXPECT_EQ(buffer.error(), ENOSPC);
}

TEST(FdBuffer, KeepsTheErrorOfAShortOutput) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  FdBuffer buffer(full.get());
  std::ostream out(&buffer);
  out << "x";
  EXPECT_EQ(buffer.error(), 0);
  out.flush();
  EXPECT_EQ(buffer.error(), ENOSPC);
}

}  // namespace
}  // namespace keplerd::cli
