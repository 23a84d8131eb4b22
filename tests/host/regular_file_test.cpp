// SPDX-License-Identifier: Apache-2.0
#include "host/regular_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/aged.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

using ::testing::UnorderedElementsAre;

class RegularFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return fake_.paths().root + "/" + name; }
  void write_old(const std::string& name, std::string_view text) {
    fake_.write("root/" + name, text);
    age(path(name));
  }
  auto read(const char* name, std::size_t limit = 100) {
    return read_if_changed(host_.root(), name, limit, stamp_);
  }
  int error_of(const char* name) {
    const auto text = read(name);
    return text ? 0 : text.error().code;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  FileStamp stamp_;
};

TEST_F(RegularFile, IsReadOnceAndAgainWhenItChanged) {
  write_old("a", "one");
  EXPECT_EQ(*read("a"), "one");
  EXPECT_EQ(*read("a"), std::nullopt);
  write_old("a", "other");
  EXPECT_EQ(*read("a"), "other");
}

TEST_F(RegularFile, IsTheSameByInodeSizeAndTime) {
  write_old("a", "one");
  EXPECT_EQ(*read("a"), "one");
  std::ofstream(path("a"), std::ios::in) << "two";  // in place
  age(path("a"));
  EXPECT_EQ(*read("a"), std::nullopt);
  write_old("a", "two");  // another file
  EXPECT_EQ(*read("a"), "two");
}

TEST_F(RegularFile, ThatChangedJustNowIsReadOnceMore) {
  fake_.write("root/a", "one");
  EXPECT_EQ(*read("a"), "one");
  EXPECT_EQ(*read("a"), "one");
}

TEST_F(RegularFile, AboveTheLimitIsAnError) {
  write_old("a", "12345678");
  EXPECT_EQ(*read("a", 8), "12345678");
  write_old("a", "123456789");
  EXPECT_EQ(read("a", 8).error().code, EFBIG);
}

TEST_F(RegularFile, IsNothingElse) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(path("directory"));
  fake_.write("root/real", "secret");
  std::filesystem::create_symlink("real", path("link"));
  EXPECT_EQ(error_of("fifo"), EINVAL);
  EXPECT_EQ(error_of("directory"), EINVAL);
  EXPECT_EQ(error_of("link"), EINVAL);
  EXPECT_EQ(error_of("none"), ENOENT);
}

TEST_F(RegularFile, IsNotReachedThroughALinkOrFromAbove) {
  fake_.write("root/real/a", "secret");
  fake_.write("sys/outside", "secret");
  std::filesystem::create_directory_symlink("real", path("link"));
  EXPECT_EQ(error_of("link/a"), ENOTDIR);
  EXPECT_EQ(error_of("../sys/outside"), EXDEV);
}

TEST_F(RegularFile, IsForgottenWithAnError) {
  write_old("a", "one");
  EXPECT_EQ(*read("a"), "one");
  std::filesystem::rename(path("a"), path("b"));
  EXPECT_EQ(error_of("a"), ENOENT);
  std::filesystem::rename(path("b"), path("a"));
  EXPECT_EQ(*read("a"), "one");
}

TEST_F(RegularFile, DirectoryIsListedOnceAndAgainWhenItChanged) {
  fake_.write("root/d/one", "");
  age(path("d"));
  const auto directory = open_inside(host_.root(), "d");
  const auto list = [&] { return *list_if_changed(directory->get(), 100, stamp_); };
  EXPECT_THAT(*list(), UnorderedElementsAre("one"));
  EXPECT_EQ(list(), std::nullopt);
  fake_.write("root/d/two", "");
  EXPECT_THAT(*list(), UnorderedElementsAre("one", "two"));
  EXPECT_NE(list(), std::nullopt);  // it has just changed
}

TEST_F(RegularFile, TheNumberOfNamesIsLimited) {
  for (const char* name : {"root/d/1", "root/d/2", "root/d/3"}) fake_.write(name, "");
  EXPECT_EQ((**list_if_changed(open_inside(host_.root(), "d")->get(), 2, stamp_)).size(), 2u);
}

TEST_F(RegularFile, LinksOfDirectoriesStayInsideTheRoot) {
  fake_.write("root/data/docker/a", "");
  fake_.write("sys/outside/b", "");
  std::filesystem::create_directory_symlink("/data/docker", path("absolute"));
  std::filesystem::create_directory_symlink("../sys/outside", path("above"));
  EXPECT_TRUE(open_inside(host_.root(), "absolute"));
  EXPECT_EQ(open_inside(host_.root(), "above").error().code, ENOENT);
}

TEST_F(RegularFile, LinksOfDirectoriesAreFollowedOneByOne) {
  fake_.write("root/data/docker/a", "");
  fake_.write("root/data/other/b", "");
  std::filesystem::create_directory_symlink("data/other/", path("relative"));
  std::filesystem::create_directory_symlink("../other/.././../../relative", path("data/docker/back"));
  std::filesystem::create_directory_symlink("loop", path("loop"));
  std::filesystem::create_symlink("data/docker/a", path("file"));
  const auto list = [this](const char* path) {
    return *list_directory(open_inside(host_.root(), path)->get(), ".");
  };
  EXPECT_THAT(list("data/docker/back"), UnorderedElementsAre("b"));
  EXPECT_THAT(list("//data//docker/./back/"), UnorderedElementsAre("b"));
  EXPECT_EQ(open_inside(host_.root(), "loop").error().code, ELOOP);
  EXPECT_EQ(open_inside(host_.root(), "file").error().code, ENOTDIR);
  EXPECT_EQ(open_inside(host_.root(), "data/docker/a").error().code, ENOTDIR);
  EXPECT_EQ(open_inside(host_.root(), "data/docker/a/b").error().code, ENOTDIR);
}

TEST_F(RegularFile, IsNotThereWithoutARoot) {
  EXPECT_EQ(open_inside(-1, "var").error().code, EBADF);
  EXPECT_EQ(list_if_changed(-1, 1, stamp_).error().code, EBADF);
}

}  // namespace
}  // namespace keplerd
