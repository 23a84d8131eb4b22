// SPDX-License-Identifier: Apache-2.0
#include "history/project.h"

#include <gtest/gtest.h>

namespace keplerd::history {
namespace {

std::string project(const char* pattern, const char* name) {
  const auto parsed = ProjectPattern::parse(pattern);
  return parsed ? parsed->project_of(name).value_or("none") : parsed.error().message;
}

TEST(ProjectPattern, IsThePartOfTheNameThatPStandsFor) {
  EXPECT_EQ(project("%p-*", "shop-web-1"), "shop");
  EXPECT_EQ(project("prod-%p-*", "prod-shop-web-1"), "shop");
  EXPECT_EQ(project("*-%p", "web-1-shop"), "1-shop");
  EXPECT_EQ(project("%p", "shop"), "shop");
  EXPECT_EQ(project("vm.%p.example.org", "vm.shop.example.org"), "shop");
}

TEST(ProjectPattern, TheWholeNameHasToMatch) {
  EXPECT_EQ(project("prod-%p-*", "test-shop-web-1"), "none");
  EXPECT_EQ(project("%p-web", "shop-web-1"), "none");
  EXPECT_EQ(project("%p-web", "a-web-web"), "a-web") << "the last text is at the end";
  EXPECT_EQ(project("%p-web", "-web"), "none") << "a project has a name";
  EXPECT_EQ(project("a%pa", "a"), "none");
}

TEST(ProjectPattern, ContainsPOnce) {
  const std::string error = "must contain %p once, like *-%p-*, with text between %p and *";
  EXPECT_EQ(project("", "x"), error);
  EXPECT_EQ(project("web-*", "x"), error);
  EXPECT_EQ(project("%p-%p", "x"), error);
  EXPECT_EQ(project("%p*", "x"), error);
}

TEST(Projects, AreOnlyThoseOfTheSystemsMachines) {
  std::vector<WorkloadEnergy> vms = {{{Kind::kVms, "1", {}}, "shop-1", {{1}, {}}},
                                     {{Kind::kVms, "2", 0}, "shop-2", {{2}, {}}},
                                     {{Kind::kVms, "3", 1000}, "shop-3", {{3}, {}}}};
  vms[1].project = {"p1", "from its metadata"};
  vms[2].project = {"p2", "from somewhere"};
  add_projects(vms, *ProjectPattern::parse("%p-*"));
  EXPECT_EQ(vms[0].project, (Project{"shop", "shop"}));
  EXPECT_EQ(vms[1].project.id, "p1");
  EXPECT_EQ(vms[2].project, Project());
  add_projects(vms, std::nullopt);
  EXPECT_EQ(vms[0].project, (Project{"shop", "shop"}));
}

}  // namespace
}  // namespace keplerd::history
