// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class Load : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "keplerd-config-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string path(const std::string& relative) const { return root_ + "/" + relative; }

  std::string write(const std::string& relative, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path(relative)).parent_path());
    std::ofstream(path(relative), std::ios::binary) << text;
    return path(relative);
  }

  // etc takes precedence over usr.
  std::vector<std::string> directories() const { return {path("etc"), path("usr")}; }

  LoadedSettings loaded() const {
    const auto result = load_settings(directories());
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result ? *result : LoadedSettings{};
  }

  std::string refusal() const {
    const auto result = load_settings(directories());
    return result ? "accepted" : result.error().message;
  }

  std::string root_;
};

constexpr auto kMain = "/keplerd/keplerd.conf";

TEST_F(Load, EstimatedMayGetItsCurveFromALaterFileAndElseNamesWhereItWasRequested) {
  const auto main_file =
      write("etc/keplerd/keplerd.conf", "[Energy]\n\nSource=estimated\nIdleWatts=20\nMaxWatts=10\n");
  const auto refused = load_settings(directories());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            main_file + ":3: Source=estimated needs a MaxWatts= above 0 that is not below IdleWatts=");
  EXPECT_FALSE(load_settings_file(main_file).ok());
  write("etc/keplerd/keplerd.conf.d/10.conf", "[Energy]\nMaxWatts=90\n");
  EXPECT_EQ(loaded().settings.energy.max_power, Microwatts{90'000'000});
}

TEST_F(Load, WithoutAnyFileIsTheDefaults) {
  EXPECT_EQ(loaded().settings, Settings{});
  EXPECT_THAT(loaded().files, IsEmpty());
}

TEST_F(Load, TakesTheMainFileOfTheStrongestDirectoryOnly) {
  const auto etc = write(std::string("etc") + kMain, "[Sampling]\nInterval=2s\n");
  write(std::string("usr") + kMain, "[Sampling]\nInterval=3s\nStaleness=3s\n");
  EXPECT_EQ(loaded().settings.sampling.interval, 2s);
  EXPECT_EQ(loaded().settings.sampling.staleness, 500ms);
  EXPECT_THAT(loaded().files, ElementsAre(etc));
}

TEST_F(Load, TakesAWeakerMainFileWhereThereIsNoStronger) {
  const auto usr = write(std::string("usr") + kMain, "[Sampling]\nInterval=3s\n");
  EXPECT_EQ(loaded().settings.sampling.interval, 3s);
  EXPECT_THAT(loaded().files, ElementsAre(usr));
}

TEST_F(Load, AnEmptyMainFileHidesTheWeaker) {
  write(std::string("etc") + kMain, "");
  write(std::string("usr") + kMain, "[Sampling]\nInterval=3s\n");
  EXPECT_EQ(loaded().settings, Settings{});
}

TEST_F(Load, SortsDropInsByNameAcrossDirectories) {
  const auto main_file = write(std::string("usr") + kMain, "[Sampling]\nInterval=1s\nStaleness=1s\n");
  const auto first = write("etc/keplerd/keplerd.conf.d/10-a.conf", "[Sampling]\nInterval=2s\nStaleness=2s\n");
  const auto second = write("usr/keplerd/keplerd.conf.d/20-b.conf", "[Sampling]\nInterval=3s\n");
  EXPECT_EQ(loaded().settings.sampling.interval, 3s);
  EXPECT_EQ(loaded().settings.sampling.staleness, 2s);
  EXPECT_THAT(loaded().files, ElementsAre(main_file, first, second));
}

TEST_F(Load, OfDropInsWithOneNameTheStrongestCounts) {
  const auto etc = write("etc/keplerd/keplerd.conf.d/10.conf", "[Sampling]\nInterval=2s\n");
  write("usr/keplerd/keplerd.conf.d/10.conf", "[Sampling]\nInterval=3s\nStaleness=3s\n");
  EXPECT_EQ(loaded().settings.sampling.interval, 2s);
  EXPECT_EQ(loaded().settings.sampling.staleness, 500ms);
  EXPECT_THAT(loaded().files, ElementsAre(etc));
}

TEST_F(Load, AnEmptyFileOrALinkToNullMasks) {
  write("etc/keplerd/keplerd.conf.d/10.conf", "");
  std::filesystem::create_symlink("/dev/null", path("etc/keplerd/keplerd.conf.d/20.conf"));
  write("usr/keplerd/keplerd.conf.d/10.conf", "[Sampling]\nInterval=2s\n");
  write("usr/keplerd/keplerd.conf.d/20.conf", "[Sampling]\nInterval=3s\n");
  EXPECT_EQ(loaded().settings, Settings{});
  EXPECT_THAT(loaded().files, IsEmpty());
}

TEST_F(Load, PassesOverOtherNames) {
  for (const auto* name : {"10.conf.bak", "10.conf~", ".10.conf", "README", "10.CONF"}) {
    write(std::string("etc/keplerd/keplerd.conf.d/") + name, "nonsense");
  }
  EXPECT_EQ(loaded().settings, Settings{});
}

TEST_F(Load, ErrorsNameFileAndLine) {
  write(std::string("etc") + kMain, "[Sampling]\nInterval=2s\n");
  const auto file = write("usr/keplerd/keplerd.conf.d/10.conf", "\n[Sampling]\nInterval=3y\n");
  EXPECT_EQ(refusal().substr(0, file.size() + 15), file + ":3: Interval=3y");
}

TEST_F(Load, RefusesADirectory) {
  std::filesystem::create_directories(path("etc/keplerd/keplerd.conf"));
  EXPECT_EQ(refusal(), path("etc/keplerd/keplerd.conf: Is a directory"));
}

TEST_F(Load, RefusesAPipeAndDoesNotWaitForIt) {
  std::filesystem::create_directories(path("etc/keplerd"));
  ASSERT_EQ(::mkfifo(path("etc/keplerd/keplerd.conf").c_str(), 0600), 0);
  EXPECT_EQ(refusal(), path("etc/keplerd/keplerd.conf: not a regular file"));
}

TEST_F(Load, RefusesWhatItMayNotRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const auto file = write(std::string("etc") + kMain, "[Energy]\n");
  ASSERT_EQ(::chmod(file.c_str(), 0), 0);
  EXPECT_EQ(refusal(), file + ": Permission denied");
}

TEST_F(Load, RefusesADropInThatLeadsNowhere) {
  std::filesystem::create_directories(path("etc/keplerd/keplerd.conf.d"));
  std::filesystem::create_symlink("gone", path("etc/keplerd/keplerd.conf.d/10.conf"));
  EXPECT_EQ(refusal(), path("etc/keplerd/keplerd.conf.d/10.conf: No such file or directory"));
}

TEST_F(Load, RefusesMoreThanOneMebibyte) {
  const auto file = write(std::string("etc") + kMain, std::string(1 << 20, '\n'));
  EXPECT_EQ(loaded().settings, Settings{});
  write(std::string("etc") + kMain, std::string((1 << 20) + 1, '\n'));
  EXPECT_EQ(refusal(), file + ": larger than 1 MiB");
}

TEST_F(Load, OneFileAloneMustExist) {
  write("etc/keplerd/keplerd.conf.d/10.conf", "[Sampling]\nStaleness=2s\n");
  const auto file = write("my.conf", "[Sampling]\nInterval=2s\n");
  const auto alone = load_settings_file(file);
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->settings.sampling.interval, 2s);
  EXPECT_EQ(alone->settings.sampling.staleness, 500ms);
  EXPECT_THAT(alone->files, ElementsAre(file));

  const auto missing = load_settings_file(path("missing.conf"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, path("missing.conf: No such file or directory"));
  EXPECT_EQ(missing.error().code, ENOENT);
}

}  // namespace
}  // namespace keplerd
