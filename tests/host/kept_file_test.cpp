// SPDX-License-Identifier: Apache-2.0
#include "host/kept_file.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

class FileTest : public ::testing::Test {
 protected:
  FakeHost fake_;
  HostRoot host_ = fake_.open();
  std::array<char, 8> buffer_{};
};

TEST_F(FileTest, IsReadWhole) {
  fake_.write("sys/a", "seven\n!");
  const auto text = read_file(host_.sysfs(), "a", buffer_);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "seven\n!");
}

TEST_F(FileTest, MayFillTheBufferExactly) {
  fake_.write("sys/a", "12345678");
  const auto text = read_file(host_.sysfs(), "a", buffer_);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "12345678");
}

TEST_F(FileTest, ThatDoesNotFitIsAnErrorAndNotAPart) {
  fake_.write("sys/a", "123456789");
  const auto text = read_file(host_.sysfs(), "a", buffer_);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, EFBIG);
}

TEST_F(FileTest, BeginningIsReadUpToTheBuffersSize) {
  fake_.write("sys/a", "123456789");
  EXPECT_EQ(*read_beginning(host_.sysfs(), "a", buffer_), "12345678");
  fake_.write("sys/a", "123");
  EXPECT_EQ(*read_beginning(host_.sysfs(), "a", buffer_), "123");
}

TEST_F(FileTest, ErrorsNameThePath) {
  const auto text = read_file(host_.sysfs(), "none/such", buffer_);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "none/such: No such file or directory");
  EXPECT_EQ(text.error().code, ENOENT);
}

TEST_F(FileTest, TextGrowsUpToItsLimit) {
  const std::string long_text(10'000, 'x');
  fake_.write("sys/a", long_text);
  EXPECT_EQ(*read_text(host_.sysfs(), "a", 20'000), long_text);
  EXPECT_EQ(*read_text(host_.sysfs(), "a", 10'000), long_text);
  const auto cut = read_text(host_.sysfs(), "a", 9'999);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, EFBIG);
}

TEST_F(FileTest, EmptyTextIsNotAnError) {
  fake_.write("sys/a", "");
  EXPECT_EQ(*read_text(host_.sysfs(), "a", 100), "");
  EXPECT_EQ(*read_file(host_.sysfs(), "a", buffer_), "");
}

TEST_F(FileTest, ThatComesInPiecesIsReadWhole) {
  // The kernel returns mountinfo a page at a time.
  const auto text = read_text(AT_FDCWD, "/proc/self/mountinfo", 1 << 20);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_TRUE(text->ends_with("\n"));
}

TEST_F(FileTest, DirectoryMayHaveOthersUnlessItIsKnownNotTo) {
  const auto sys = open_directory(AT_FDCWD, "/sys");
  ASSERT_TRUE(sys);
  EXPECT_TRUE(has_subdirectories(sys->get()));
  EXPECT_TRUE(has_subdirectories(-1));
}

TEST_F(FileTest, LinkYieldsItsTarget) {
  fake_.link("proc/7/exe", "/usr/bin/qemu (deleted)");
  const auto target = read_link(host_.procfs(), "7/exe");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(*target, "/usr/bin/qemu (deleted)");
  EXPECT_EQ(read_link(host_.procfs(), "8/exe").error().code, ENOENT);
}

TEST_F(FileTest, DirectoryIsListedWithoutItselfAndItsParent) {
  fake_.write("sys/d/a", "");
  fake_.write("sys/d/.b", "");
  fake_.write("sys/d/c/d", "");
  EXPECT_THAT(*list_directory(host_.sysfs(), "d"), ::testing::UnorderedElementsAre("a", ".b", "c"));
  EXPECT_FALSE(list_directory(host_.sysfs(), "none"));
  EXPECT_FALSE(list_directory(host_.sysfs(), "d/a"));
}

TEST_F(FileTest, KeptSeesAReplacedFile) {
  fake_.write("sys/a", "1");
  const auto file = KeptFile::open(host_.sysfs(), "a");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(*file->read(buffer_), "1");
  fake_.write("sys/a", "2");
  EXPECT_EQ(*file->read(buffer_), "2");
}

TEST_F(FileTest, RecordThatDoesNotFitIsAnErrorAndNotAPart) {
  fake_.write("sys/a", "1234567");
  EXPECT_EQ(*read_record(host_.sysfs(), "a", buffer_), "1234567");
  fake_.write("sys/a", "12345678");
  const auto text = read_record(host_.sysfs(), "a", buffer_);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, EFBIG);
}

TEST_F(FileTest, KeptIsReadFromItsStartOnTheKernelsFileSystems) {
  const auto file = KeptFile::open(AT_FDCWD, "/proc/self/comm");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(*file);
  std::array<char, 32> buffer{};
  const std::string first(*file->read(buffer));
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(*file->read(buffer), first);
}

// The calls of read(2) and the like of this thread so far; unset if the kernel does not count them. Counting
// takes two of them.
std::optional<int> count_reads() {
  std::array<char, 512> buffer{};
  const auto text = read_file(AT_FDCWD, "/proc/thread-self/io", buffer);
  const std::size_t line = text ? text->find("syscr: ") : std::string_view::npos;
  if (line == std::string_view::npos) return std::nullopt;
  return std::atoi(text->substr(line + 7).data());
}

int reads_during(const auto& work) {
  const auto before = count_reads();
  work();
  return *count_reads() - *before - 2;
}

TEST_F(FileTest, KeptListIsReadOnceUnlessItMayGoOn) {
  if (!count_reads()) GTEST_SKIP() << "no /proc/thread-self/io";
  std::string text;
  const auto small = KeptFile::open(AT_FDCWD, "/proc/self/cgroup");
  ASSERT_TRUE(small);
  EXPECT_EQ(reads_during([&] { ASSERT_TRUE(small->read_list(text, 1 << 20)); }), 1);

  // The kernel returns this one a page at a time.
  const auto large = KeptFile::open(AT_FDCWD, "/proc/kallsyms");
  if (!large) GTEST_SKIP() << "no /proc/kallsyms";
  const auto whole = read_text(AT_FDCWD, "/proc/kallsyms", 64 << 20);
  const auto list = large->read_list(text, 64 << 20);
  ASSERT_TRUE(whole && list);
  EXPECT_TRUE(*list == *whole) << list->size() << " of " << whole->size();
  const auto cut = large->read_list(text = {}, 100'000);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, EFBIG);
}

TEST_F(FileTest, KeptThatIsMissingIsAnError) {
  EXPECT_FALSE(KeptFile::open(host_.sysfs(), "a"));
  EXPECT_FALSE(KeptFile());
}

TEST_F(FileTest, BrokenOneOpensAndFailsToRead) {
  fake_.write("sys/a", "1");
  const auto file = KeptFile::open(host_.sysfs(), "a");
  ASSERT_TRUE(file);
  fake_.break_file("sys/a");
  const auto text = file->read(buffer_);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, EISDIR);
  fake_.write("sys/a", "2");
  EXPECT_EQ(*file->read(buffer_), "2");
}

}  // namespace
}  // namespace keplerd
