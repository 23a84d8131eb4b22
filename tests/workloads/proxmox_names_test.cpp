// SPDX-License-Identifier: Apache-2.0
// Names that are read in the background, by a fake that works when the test says so, if ever.
#include "workloads/proxmox_names.h"

#include <chrono>
#include <filesystem>
#include <memory>

#include <gtest/gtest.h>

#include "support/aged.h"
#include "support/fake_host.h"
#include "workloads/workload_names.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class HeldBackground : public Background {
 public:
  bool is_busy() const override { return static_cast<bool>(done_); }
  Result<Done> start(std::function<void()> work, std::function<void()> done) override {
    EXPECT_FALSE(is_busy());
    if (fails) return Error{"no thread"};
    work_ = std::move(work);
    done_ = std::move(done);
    ++jobs;
    return Done{};
  }
  void work() { work_(); }
  void finish() { std::exchange(done_, nullptr)(); }

  int jobs = 0;
  bool fails = false;

 private:
  std::function<void()> work_, done_;
};

class Proxmox : public testing::Test {
 protected:
  Proxmox() {
    write("etc/pve/nodes/a/qemu-server/100.conf", "name: db\n");
    write("etc/pve/nodes/a/lxc/101.conf", "hostname: web\n");
    fake_.link("root/etc/pve/qemu-server", "nodes/a/qemu-server");
    fake_.link("root/etc/pve/lxc", "nodes/a/lxc");
    names_->set_background(&background_);
  }
  void write(const std::string& path, std::string_view text) {
    fake_.write("root/" + path, text);
    age(std::filesystem::path(fake_.paths().root) / path);
  }
  // The names of a guest and a container, as known in this round.
  std::string ask(Nanoseconds now, std::string_view guest = "100", std::string_view container = "101") {
    names_->begin(now);
    const auto text =
        names_->proxmox_guest(guest).value_or("?") + " " + names_->container("lxc", container).value_or("?");
    names_->end();
    return text;
  }
  void work_and_finish() {
    background_.work();
    background_.finish();
  }

  FakeHost fake_;
  std::unique_ptr<HostRoot> host_ = std::make_unique<HostRoot>(fake_.open());
  HeldBackground background_;
  std::unique_ptr<WorkloadNames> names_ = std::make_unique<WorkloadNames>(*host_);
};

TEST_F(Proxmox, NamesAreThereInTheRoundAfterTheyWereRead) {
  EXPECT_EQ(ask(0s), "? ?");
  background_.work();
  EXPECT_EQ(ask(1s), "? ?") << "what is read is not used before its end";
  background_.finish();
  EXPECT_EQ(ask(1s), "db web");
  EXPECT_EQ(background_.jobs, 1) << "one for both";
}

TEST_F(Proxmox, WithoutABackgroundTheyAreThereAtOnce) {
  names_->set_background(nullptr);
  EXPECT_EQ(ask(0s), "db web");
}

TEST_F(Proxmox, AJobThatNeverEndsCostsTheseNamesAndNoOthers) {
  const std::string id(64, 'a');
  write("var/lib/docker/containers/" + id + "/config.v2.json", R"({"Name":"/shop"})");
  for (auto now = 0s; now < 100s; ++now) {
    EXPECT_EQ(ask(now), "? ?");
    names_->begin(now);
    EXPECT_EQ(names_->container("docker", id), "shop");
  }
  EXPECT_EQ(background_.jobs, 1);
}

TEST_F(Proxmox, AJobThatHangsLaterLeavesTheNamesThatAreKnown) {
  ask(0s);
  work_and_finish();
  for (auto now = 1s; now < 100s; ++now) EXPECT_EQ(ask(now), "db web");
  EXPECT_EQ(background_.jobs, 2);
}

TEST_F(Proxmox, WhatBecomesDueMeanwhileIsReadByTheNextJob) {
  EXPECT_EQ(ask(0s), "? ?");
  write("etc/pve/nodes/a/qemu-server/200.conf", "name: late\n");
  EXPECT_EQ(ask(0s, "200"), "? ?");
  EXPECT_EQ(background_.jobs, 1);
  work_and_finish();
  EXPECT_EQ(ask(0s, "200"), "? web");
  EXPECT_EQ(background_.jobs, 2);
  work_and_finish();
  EXPECT_EQ(ask(0s, "200"), "late web");
}

TEST_F(Proxmox, ChangesAreSeenAndFilesThatStayAreNotReadAgain) {
  ask(0s);
  work_and_finish();
  EXPECT_EQ(ask(1s), "db web");
  EXPECT_EQ(background_.jobs, 1) << "not before the look period";
  write("etc/pve/nodes/a/qemu-server/100.conf", "name: renamed\n");
  ask(10s);
  work_and_finish();
  EXPECT_EQ(ask(11s), "renamed web");
  std::filesystem::remove(std::filesystem::path(fake_.paths().root) / "etc/pve/lxc");
  ask(20s);
  work_and_finish();
  EXPECT_EQ(ask(20s), "renamed ?");
}

TEST_F(Proxmox, NamesForgottenMeanwhileStayForgotten) {
  ask(0s);
  names_->begin(0s);
  names_->end();  // not requested
  work_and_finish();
  EXPECT_EQ(ask(0s), "? ?");
}

TEST_F(Proxmox, AJobMayOutliveTheNamesAndTheHost) {
  ask(0s);
  names_.reset();
  host_.reset();
  work_and_finish();
}

TEST_F(Proxmox, WithoutAThreadTheyAreTriedAgain) {
  background_.fails = true;
  EXPECT_EQ(ask(0s), "? ?");
  background_.fails = false;
  ask(1s);
  work_and_finish();
  EXPECT_EQ(ask(1s), "db web");
}

}  // namespace
}  // namespace keplerd
