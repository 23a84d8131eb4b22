// SPDX-License-Identifier: Apache-2.0
#include "cli/record/trace_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/record/options.h"
#include "support/largest_file.h"

namespace keplerd::cli::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader = R"({"trace":"org.keplerd.Trace1","begins":true,"host":"a"})"
                                     "\n";

class TraceFiles : public testing::Test {
 protected:
  TraceFiles() : directory(fs::temp_directory_path() / ("keplerd-traces-" + std::to_string(::getpid()))) {
    fs::create_directory(directory);
    path = directory / "trace";
  }
  ~TraceFiles() override { fs::remove_all(directory); }

  void write(std::string_view text) const { std::ofstream(path) << text; }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  static std::string error_of(const std::string& file) {
    const auto opened = TraceFile::open(file);
    return opened ? "" : opened.error().message;
  }

  fs::path directory;
  std::string path;
};

TEST_F(TraceFiles, ANewOneIsForItsOwnerAlone) {
  const mode_t before = umask(0);
  auto file = TraceFile::open(path);
  umask(before);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->header().is_null());
  ASSERT_TRUE(file->append("line\n"));
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(file->size(), 5U);
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(text(), "line\n");
}

TEST_F(TraceFiles, GoesOnBehindTheLastCompleteLine) {
  const std::string long_line(200'000, 'x');
  write(std::string(kHeader) + long_line + "\n" + long_line);
  {
    auto file = TraceFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->header().at("host"), "a");
    EXPECT_EQ(file->size(), kHeader.size() + long_line.size() + 1);
    EXPECT_TRUE(text().ends_with("xx")) << "nothing is cut before there is something to append";
    ASSERT_TRUE(file->append("next\n"));
  }
  EXPECT_EQ(text(), std::string(kHeader) + long_line + "\nnext\n");
}

TEST_F(TraceFiles, AnIncompleteHeaderIsCut) {
  write(kHeader.substr(0, 20));
  auto file = TraceFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->header().is_null());
  ASSERT_TRUE(file->append(kHeader));
  EXPECT_EQ(text(), kHeader);
}

TEST_F(TraceFiles, WhatIsNoTraceIsNotTouched) {
  for (const char* other : {"notes", "notes\n", "{\"trace\":\"org.example\"}\n",
                            "\x7f"
                            "ELF\n",
                            "{}\n"}) {
    write(other);
    EXPECT_EQ(error_of(path), path + ": is not a trace");
    EXPECT_EQ(text(), other);
  }
  EXPECT_EQ(error_of(directory), directory.string() + ": Is a directory");
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(error_of(path), path + ": is not a regular file");
}

TEST_F(TraceFiles, ALinkIsNotFollowed) {
  fs::create_symlink("elsewhere", path);
  EXPECT_EQ(error_of(path), path + ": is a link; name the file itself");
  EXPECT_FALSE(fs::exists(directory / "elsewhere"));
  fs::remove(path);
  write(kHeader);
  fs::create_hard_link(path, directory / "other");
  EXPECT_EQ(error_of(path), path + ": has other names, too (hard links)");
}

TEST_F(TraceFiles, TheWayToItMayLeadThroughOnesOwnLinksOnly) {
  fs::create_directory(directory / "real");
  fs::create_directory_symlink("real", directory / "link");
  const std::string through = directory / "link/../link/./trace";
  EXPECT_EQ(error_of(through), "");
  EXPECT_TRUE(fs::exists(directory / "real/trace"));
  fs::create_directory_symlink("loop", directory / "loop");
  EXPECT_EQ(error_of(directory / "loop/trace"),
            (directory / "loop/trace").string() + ": Too many levels of symbolic links");
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  ASSERT_EQ(lchown((directory / "link").c_str(), 65534, 65534), 0);
  EXPECT_EQ(error_of(through), through + ": the path leads through a link of another user");
}

TEST_F(TraceFiles, AnotherUsersFileIsNotWritten) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a file of another user";
  write(kHeader);
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_EQ(error_of(path), path + ": belongs to another user");
}

TEST_F(TraceFiles, HasOneWriter) {
  auto file = TraceFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(error_of(path), path + ": is being recorded to by another process");
}

TEST_F(TraceFiles, WhatCannotBeWrittenIsReportedAndLeavesTheFileAsItWas) {
  auto file = TraceFile::open(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append(kHeader));
  Result<Done> appended = Done{};
  {
    const LargestFile limit(kHeader.size() + 3);
    appended = file->append("a longer line\n");
  }
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().message, path + ": File too large");
  EXPECT_EQ(text(), kHeader);
}

TEST(TraceHeaders, OnlyTheSameHostGoesOn) {
  const auto header = [](const std::string& rest) {
    return *parse_header(R"({"trace":"org.keplerd.Trace1")" + rest + "}");
  };
  EXPECT_EQ(mismatch({}, header("")), "");
  EXPECT_EQ(mismatch(header(R"(,"host":"a")"), header(R"(,"host":"a")")), "");
  EXPECT_EQ(mismatch(header(R"(,"host":"a")"), header(R"(,"host":"b")")), "is the trace of another host");
  EXPECT_EQ(mismatch(header(R"(,"anonymized":true)"), header("")),
            "is anonymized, and the key of its names is gone: it cannot be continued");
  EXPECT_EQ(mismatch(header(R"(,"host":"a")"), header(R"(,"anonymized":true)")),
            "has the names of workloads already: record to another file");
  EXPECT_FALSE(parse_header(R"({"monotonicUsec":1})"));
  EXPECT_FALSE(parse_header(R"({"trace":7})"));
}

TEST(Sizes, HaveBinarySuffixes) {
  EXPECT_EQ(parse_size("7"), 7U);
  EXPECT_EQ(parse_size("500K"), 512'000U);
  EXPECT_EQ(parse_size("64M"), 67'108'864U);
  EXPECT_EQ(parse_size("2G"), 2'147'483'648U);
  for (const char* bad : {"", "0", "K", "-1", "1.5G", "1T", "9999999999999G"})
    EXPECT_FALSE(parse_size(bad)) << bad;
}

}  // namespace
}  // namespace keplerd::cli::record
