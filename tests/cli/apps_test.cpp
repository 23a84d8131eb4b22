// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/apps/app_rows.h"
#include "cli/apps/app_unit.h"
#include "cli/apps/desktop_entry.h"
#include "cli/apps/desktop_files.h"
#include "cli/fake_daemon.h"

namespace keplerd::cli::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(AppUnit, OfDesktopEnvironments) {
  EXPECT_THAT(app_ids("app-gnome-org.gnome.Nautilus-1234.scope"),
              ElementsAre("org.gnome.Nautilus", "gnome-org.gnome.Nautilus"));
  EXPECT_THAT(app_ids("app-firefox-1234.scope"), ElementsAre("firefox"));
  EXPECT_THAT(app_ids("app-firefox.scope"), ElementsAre("firefox"));
  EXPECT_THAT(app_ids("app-org.kde.dolphin@0123abcd.service"), ElementsAre("org.kde.dolphin"));
  EXPECT_THAT(app_ids("app-gnome\\x2dkeyring@autostart.service"), ElementsAre("gnome-keyring"));
  EXPECT_THAT(app_ids("app-gnome-google\\x2dchrome-77.scope"),
              ElementsAre("google-chrome", "gnome-google-chrome"));
  EXPECT_THAT(app_ids("app-org.gnome.Terminal.slice"), ElementsAre("org.gnome.Terminal"));
  EXPECT_THAT(app_ids("app-dbus\\x2d:1.2\\x2dorg.gnome.Calendar.slice"), ElementsAre("org.gnome.Calendar"));
}

TEST(AppUnit, OfFlatpakAndSnap) {
  EXPECT_THAT(app_ids("app-flatpak-org.mozilla.firefox-4711.scope"),
              ElementsAre("org.mozilla.firefox", "flatpak-org.mozilla.firefox"));
  EXPECT_THAT(app_ids("snap.firefox.firefox-0f3d5a1c-11d2-4c4f-9f7e-0123456789ab.scope"),
              ElementsAre("firefox_firefox"));
  EXPECT_THAT(app_ids("snap.code.url-handler.0f3d5a1c-11d2-4c4f-9f7e-0123456789ab.scope"),
              ElementsAre("code_url-handler"));
  EXPECT_THAT(app_ids("snap.foo.daemon.service"), ElementsAre("foo_daemon"));
}

TEST(AppUnit, OfNothingElse) {
  for (const char* unit : {"app.slice", "cron.service", "app-", "app-.scope", "session-2.scope", "snap.x",
                           "app-x.mount", "application-x.scope", "", "snap.firefox.scope", "dbus.service"})
    EXPECT_THAT(app_ids(unit), IsEmpty()) << unit;
}

TEST(AppUnit, IsNeverAPath) {
  EXPECT_THAT(app_ids("app-..\\x2f..\\x2fetc\\x2fshadow-1.scope"), IsEmpty());
  EXPECT_THAT(app_ids("app-\\x2e\\x2e-1.scope"), IsEmpty());
  EXPECT_THAT(app_ids("app-a\\x00b-1.scope"), IsEmpty());
  EXPECT_THAT(app_ids("app-" + std::string(300, 'a') + "-1.scope"), IsEmpty());
}

TEST(DesktopEntry, LocalesFallBack) {
  EXPECT_THAT(locale_keys("sr_YU.UTF-8@Latn"), ElementsAre("sr_YU@Latn", "sr_YU", "sr@Latn", "sr"));
  EXPECT_THAT(locale_keys("de_DE.UTF-8"), ElementsAre("de_DE", "de"));
  EXPECT_THAT(locale_keys("de"), ElementsAre("de"));
  EXPECT_THAT(locale_keys("C.UTF-8"), IsEmpty());
  EXPECT_THAT(locale_keys("POSIX"), IsEmpty());
  EXPECT_THAT(locale_keys(""), IsEmpty());
}

constexpr std::string_view kFiles =
    "# a comment\n[Desktop Entry]\nType=Application\nName=Files\nName[de]=Dateien\nName[pt_BR]=Arquivos\n"
    "GenericName=File Manager\nExec=nautilus\n\n[Desktop Action new]\nName=New Window\nName[de_DE]=Neues "
    "Fenster\n";

TEST(DesktopEntry, HasANameInTheBestLocale) {
  EXPECT_EQ(desktop_name(kFiles, {}), "Files");
  EXPECT_EQ(desktop_name(kFiles, {"de_DE", "de"}), "Dateien");
  EXPECT_EQ(desktop_name(kFiles, {"pt_BR", "pt"}), "Arquivos");
  EXPECT_EQ(desktop_name(kFiles, {"fr"}), "Files");
}

TEST(DesktopEntry, MayHaveNone) {
  EXPECT_EQ(desktop_name("", {}), std::nullopt);
  EXPECT_EQ(desktop_name("Name=outside\n", {}), std::nullopt);
  EXPECT_EQ(desktop_name("[Desktop Entry]\nName=\nName[=x\nNames=x\nName[]=x\nName", {}), std::nullopt);
  EXPECT_EQ(desktop_name("[Desktop Action x]\nName=x\n", {}), std::nullopt);
}

TEST(DesktopEntry, MaySpaceAndEscape) {
  EXPECT_EQ(desktop_name("[Desktop Entry]\r\n Name = A\\sB \\\\ C; D \r\n", {}), "A B \\ C; D");
}

TEST(DesktopEntry, IsMadeSafeAndShort) {
  EXPECT_EQ(desktop_name("[Desktop Entry]\nName=\033[2Jx\xe2\x80\xae\n", {}), "\\x1b[2Jx\\xe2\\x80\\xae");
  EXPECT_EQ(desktop_name("[Desktop Entry]\nName=a\\nb\n", {}), "a\\x0ab");
  EXPECT_EQ(desktop_name("[Desktop Entry]\nName=" + std::string(10'000, 'x') + "\n", {})->size(), 128u);
  // Not within a character.
  EXPECT_EQ(shown_name(std::string(127, 'x') + "\u00e9"), std::string(127, 'x'));
}

class Desktop : public testing::Test {
 protected:
  Desktop() {
    std::string directory = std::filesystem::temp_directory_path() / "keplerctl-apps-XXXXXX";
    EXPECT_NE(mkdtemp(directory.data()), nullptr);
    root_ = directory;
    for (const char* name : {"own", "system"}) std::filesystem::create_directory(root_ / name);
  }
  ~Desktop() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) { std::ofstream(root_ / path) << text; }
  static std::string entry(const std::string& name) { return "[Desktop Entry]\nName=" + name + "\n"; }
  DesktopFiles files() const { return {{{root_ / "own"}, {root_ / "system"}}, {}}; }
  std::string name_of(const std::string& id, bool own = true) const { return files().find({id}, own).name; }

  std::filesystem::path root_;
};

TEST_F(Desktop, OwnFilesComeFirstAndForTheOwnerOnly) {
  write("own/a.desktop", entry("Mine"));
  write("system/a.desktop", entry("Theirs"));
  EXPECT_EQ(name_of("a"), "Mine");
  EXPECT_EQ(name_of("a", false), "Theirs");
}

TEST_F(Desktop, AFileThatExistsDecidesAboutTheId) {
  write("system/gnome-foo.desktop", entry("Foo"));
  const auto app = files().find({"foo", "gnome-foo"}, true);
  EXPECT_EQ(app.id, "gnome-foo");
  EXPECT_EQ(app.name, "Foo");
  EXPECT_EQ(files().find({"bar", "gnome-bar"}, true).name, "bar");
}

TEST_F(Desktop, LinksOfFlatpakAreFollowed) {
  write("system/target", entry("Linked"));
  std::filesystem::create_symlink(root_ / "system/target", root_ / "system/a.desktop");
  EXPECT_EQ(name_of("a"), "Linked");
}

TEST_F(Desktop, HostileFilesAreIgnored) {
  ASSERT_EQ(mkfifo((root_ / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink(root_ / "fifo", root_ / "own/fifo.desktop");  // it would block
  std::filesystem::create_symlink("/dev/zero", root_ / "own/zero.desktop");
  std::filesystem::create_symlink(root_ / "own/loop.desktop", root_ / "own/loop.desktop");
  std::filesystem::create_directory(root_ / "own/directory.desktop");
  write("own/huge.desktop", entry("Huge") + std::string(300'000, '#'));
  for (const char* id : {"fifo", "zero", "loop", "directory", "huge", "missing"}) EXPECT_EQ(name_of(id), id);
}

Json unit(const std::string& path, std::int64_t energy, std::int64_t power, const char* state = "running") {
  Json row = {{"id", path},
              {"name", path.substr(path.rfind('/') + 1)},
              {"kind", "unit"},
              {"state", state},
              {"energyMicrojoules", energy},
              {"activeMicrojoules", energy},
              {"idleMicrojoules", 0},
              {"cpuUsec", energy / 10},
              {"quality", "attributed"}};
  if (std::string_view(state) == "running") row["powerMicrowatts"] = power;
  return row;
}

const std::string kSlice = "/user.slice/user-1000.slice";
const std::string kApps = kSlice + "/user@1000.service/app.slice";

std::vector<Json> session() {
  return {unit("/system.slice/cron.service", 5, 5), unit("/user.slice", 5000, 500), unit(kSlice, 1000, 100),
          unit(kSlice + "/session-2.scope", 50, 5), unit(kSlice + "/user@1000.service", 900, 90),
          unit(kApps, 800, 80), unit(kApps + "/app-firefox-1.scope", 300, 30),
          unit(kApps + "/app-firefox-2.scope", 200, 20),
          unit(kApps + "/app-firefox-0.scope", 100, 0, "terminated"),
          // A part of the first one, which claims to be another application.
          unit(kApps + "/app-firefox-1.scope/app-mail-9.scope", 60, 6),
          unit(kApps + "/app-org.gnome.Terminal.slice", 70, 7),
          unit(kApps + "/app-org.gnome.Terminal.slice/vte-spawn-1.scope", 70, 7),
          unit("/user.slice/user-1001.slice", 40, 4),
          unit("/user.slice/user-1001.slice/user@1001.service/app.slice/app-firefox-3.scope", 30, 3),
          // Of a container, and of a user who claims to be another one.
          unit("/machine.slice/x.scope/user.slice/user-1000.slice/user@1000.service/app-evil-1.scope", 9, 9),
          unit(kSlice + "/user@1001.service/app-evil-1.scope", 9, 9)};
}

Sources sources() {
  return {.find = [](const auto& ids, std::uint32_t) { return DesktopFiles::App{ids.front(), ids.front()}; }};
}

std::map<std::string, Json> by_id(const std::vector<Json>& rows) {
  std::map<std::string, Json> all;
  for (const Json& row : rows) EXPECT_TRUE(all.emplace(row.at("id"), row).second);
  return all;
}

TEST(AppRows, AddUpInstancesOfAUser) {
  const auto rows = by_id(app_rows(session(), sources()));
  ASSERT_EQ(rows.size(), 5u);
  const Json& firefox = rows.at("user-1000/firefox");
  EXPECT_EQ(firefox.at("energyMicrojoules"), 600);
  EXPECT_EQ(firefox.at("powerMicrowatts"), 50);
  EXPECT_EQ(firefox.at("instances"), 2);
  EXPECT_EQ(firefox.at("state"), "running");
  EXPECT_EQ(rows.at("user-1000/org.gnome.Terminal").at("energyMicrojoules"), 70);
  EXPECT_EQ(rows.at("user-1001/firefox").at("energyMicrojoules"), 30);
  EXPECT_FALSE(firefox.contains("user"));
}

TEST(AppRows, AddUpToTheSlicesOfTheUsers) {
  std::map<std::int64_t, std::map<std::string, std::int64_t>> sums;
  for (const Json& row : app_rows(session(), sources())) {
    for (const char* name : {"energyMicrojoules", "activeMicrojoules", "cpuUsec", "powerMicrowatts"})
      sums[row.at("ownerUid").get<std::int64_t>()][name] += row.at(name).get<std::int64_t>();
  }
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[1000]["energyMicrojoules"], 1000);
  EXPECT_EQ(sums[1000]["activeMicrojoules"], 1000);
  EXPECT_EQ(sums[1000]["cpuUsec"], 100);
  EXPECT_EQ(sums[1000]["powerMicrowatts"], 100);
  EXPECT_EQ(sums[1001]["energyMicrojoules"], 40);
}

TEST(AppRows, HaveNoOtherWithoutASlice) {
  auto units = session();
  std::erase_if(units, [](const Json& row) { return row.at("id") == kSlice; });
  EXPECT_FALSE(by_id(app_rows(units, sources())).contains("user-1000"));
}

TEST(AppRows, HaveTheEnergyOfToday) {
  Sources with_today = sources();
  with_today.today = {
      {kSlice, 500}, {kApps + "/app-firefox-1.scope", 300}, {kApps + "/app-firefox-2.scope", 50}};
  with_today.user_name = [](std::uint32_t user) { return "u" + std::to_string(user); };
  const auto rows = by_id(app_rows(session(), with_today));
  EXPECT_EQ(rows.at("user-1000/firefox").at("todayMicrojoules"), 350);
  EXPECT_EQ(rows.at("user-1000/org.gnome.Terminal").at("todayMicrojoules"), 0);
  EXPECT_EQ(rows.at("user-1000").at("todayMicrojoules"), 150);
  EXPECT_EQ(rows.at("user-1000").at("user"), "u1000");
}

class Verb : public Desktop {
 protected:
  Verb() {
    for (const char* name : {"XDG_DATA_HOME", "XDG_DATA_DIRS", "LC_ALL", "HOME"}) {
      const char* value = std::getenv(name);
      if (value != nullptr) saved_[name] = value;
    }
    std::filesystem::create_directory(root_ / "applications");
    setenv("XDG_DATA_DIRS", root_.c_str(), 1);
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    canned_.lists["units"] = session();
  }
  ~Verb() override {
    for (const char* name : {"XDG_DATA_HOME", "XDG_DATA_DIRS", "LC_ALL", "HOME"}) unsetenv(name);
    for (const auto& [name, value] : saved_) setenv(name.c_str(), value.c_str(), 1);
  }

  std::map<std::string, std::string> saved_;
  Canned canned_;
};

TEST_F(Verb, ShowsNamesOfTheLocale) {
  write("applications/firefox.desktop", entry("Firefox") + "Name[de]=Feuerfuchs \033[2J\n");
  const FakeDaemon daemon(canned_);
  const Outcome table = run_keplerctl(daemon, {"apps", "--history=/nonexistent"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("  Feuerfuchs \\x1b[2J\n"));
  EXPECT_THAT(table.out, HasSubstr("  other\n"));
  EXPECT_THAT(table.out, Not(HasSubstr("TODAY")));
  const Outcome json =
      run_keplerctl(daemon, {"--json=short", "apps", "--sort=name", "--limit=2", "--history=/nonexistent"});
  const Json rows = Json::parse(json.out).at("apps");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("name"), "Feuerfuchs \\x1b[2J");
}

TEST_F(Verb, IsAListForProgramsToo) {
  const FakeDaemon daemon(canned_);
  const Outcome csv = run_keplerctl(daemon, {"-o", "csv", "apps", "--sort=id", "--history=/nonexistent"});
  EXPECT_THAT(csv.out, HasSubstr(",user-1000/firefox,firefox,running,50,600,600,0,60\n"));
}

}  // namespace
}  // namespace keplerd::cli::apps
