// SPDX-License-Identifier: Apache-2.0
#include "workloads/workload_names.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/aged.h"
#include "support/fake_host.h"
#include "workloads/name_samples.h"

namespace keplerd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

const std::string kA(64, 'a'), kB(64, 'b');
const std::string kStorage = "var/lib/containers/storage/";

std::string docker_file(const std::string& id) {
  return "var/lib/docker/containers/" + id + "/config.v2.json";
}

class Names : public ::testing::Test {
 protected:
  // Always the same age, so that nothing looks freshly written.
  void write(const std::string& path, std::string_view text) {
    fake_.write("root/" + path, text);
    age(place(path));
  }
  // The same size, inode and time: the change cannot be detected without reading.
  void change_secretly(const std::string& path, std::string_view text) {
    std::ofstream(place(path), std::ios::in) << text;
    age(place(path));
  }
  void add_entry(const std::string& directory, const std::string& name) {
    fs::create_directories(place(directory + "/" + name));
    age(place(directory));
  }
  fs::path place(const std::string& path) const { return fs::path(fake_.paths().root) / path; }

  // The results of one round.
  template <class Ask>
  auto round(Nanoseconds now, Ask ask) {
    names_.begin(now);
    auto answer = ask();
    names_.end();
    return answer;
  }
  auto container(Nanoseconds now, std::string_view runtime, std::string_view id) {
    return round(now, [&] { return names_.container(runtime, id); });
  }
  auto docker(Nanoseconds now, std::string_view id = kA) { return container(now, "docker", id); }
  auto pod(Nanoseconds now, std::string_view uid) {
    return round(now, [&] { return names_.pod(uid); });
  }
  auto guest(Nanoseconds now, std::string_view number) {
    return round(now, [&] { return names_.proxmox_guest(number); });
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  WorkloadNames names_{host_};
};

TEST_F(Names, OfDocker) {
  write(docker_file(kA), docker_config(kA, "/web"));
  EXPECT_EQ(container(0s, "docker", kA), "web");
  EXPECT_EQ(container(0s, "docker", kB), std::nullopt);
  EXPECT_EQ(container(2s, "ecs", kA), "web");
  EXPECT_EQ(container(4s, "unknown", kA), "web");
  EXPECT_EQ(container(6s, "podman", kA), std::nullopt);
}

TEST_F(Names, OfPodmanWhateverItsStorageDriver) {
  for (const char* list :
       {"overlay-containers/containers.json", "overlay-containers/volatile-containers.json",
        "vfs-containers/containers.json", "vfs-containers/volatile-containers.json",
        "btrfs-containers/containers.json", "zfs-containers/containers.json"}) {
    write(kStorage + list, podman_list({{kB, "db"}, {kA, "web"}}));
    WorkloadNames names(host_);
    names.begin(0s);
    EXPECT_EQ(names.container("podman", kA), "web") << list;
    EXPECT_EQ(names.container("unknown", kB), "db") << list;
    EXPECT_EQ(names.container("docker", kA), std::nullopt) << list;
    fake_.remove("root/" + kStorage);
  }
}

TEST_F(Names, OfPodsFromKubeletsLogs) {
  add_entry("var/log/pods", "default_web-0_7d9f0ad8-62b4-4f3c-8f5a-3d2c1b0a9e8f");
  add_entry("var/log/pods", "kube-system_etcd-node1_6f2e1b0c9d8a7f6e5d4c3b2a19080706");
  EXPECT_EQ(pod(0s, "7d9f0ad8-62b4-4f3c-8f5a-3d2c1b0a9e8f"),
            (PodName{.name = "web-0", .name_space = "default"}));
  EXPECT_EQ(pod(0s, "6f2e1b0c9d8a7f6e5d4c3b2a19080706"),
            (PodName{.name = "etcd-node1", .name_space = "kube-system"}));
  EXPECT_EQ(pod(0s, "6f2e1b0c-9d8a-7f6e-5d4c-3b2a19080706"), std::nullopt);
  EXPECT_EQ(pod(0s, kA), std::nullopt);
}

TEST_F(Names, OfPodsAreThereAgainWithTheirDirectory) {
  add_entry("var/log/pods", "default_web-0_7d9f0ad8");
  EXPECT_TRUE(pod(0s, "7d9f0ad8"));
  fs::rename(place("var/log/pods"), place("var/log/other"));
  EXPECT_FALSE(pod(10s, "7d9f0ad8"));
  fs::rename(place("var/log/other"), place("var/log/pods"));
  EXPECT_TRUE(pod(20s, "7d9f0ad8"));
}

TEST_F(Names, OfPodsContainersWithAnyRuntime) {
  fs::create_directories(place("var/log/containers"));
  fs::create_symlink("/var/log/pods/default_web-0_7d9f0ad8/nginx/0.log",
                     place("var/log/containers/web-0_default_nginx-" + kA + ".log"));
  age(place("var/log/containers"));
  for (const char* runtime : {"containerd", "crio", "kubernetes", "docker"})
    EXPECT_EQ(container(0s, runtime, kA), "nginx") << runtime;
  EXPECT_EQ(container(0s, "containerd", kB), std::nullopt);
}

TEST_F(Names, OfDockersContainersBelowKubeletAreKubelets) {
  add_entry("var/log/containers", "web-0_default_nginx-" + kA + ".log");
  write(docker_file(kA), docker_config(kA, "/k8s_nginx_web-0_default_7d9f0ad8_0"));
  EXPECT_EQ(docker(0s), "nginx");
}

TEST_F(Names, OfProxmoxsGuestsThroughItsLinks) {
  write("etc/pve/nodes/pve1/qemu-server/100.conf", kQemuConf);
  write("etc/pve/nodes/pve1/lxc/101.conf", kLxcConf);
  fs::create_directory_symlink("nodes/pve1", place("etc/pve/local"));
  fs::create_directory_symlink("local/qemu-server", place("etc/pve/qemu-server"));
  fs::create_directory_symlink("local/lxc", place("etc/pve/lxc"));
  EXPECT_EQ(guest(0s, "100"), "web");
  EXPECT_EQ(guest(0s, "101"), std::nullopt);
  EXPECT_EQ(container(0s, "lxc", "101"), "mail.example.org");
  EXPECT_EQ(container(0s, "lxc", "100"), std::nullopt);
}

TEST_F(Names, OfMachinedsMachinesAreItsLinks) {
  const auto machined = [&](Nanoseconds now, std::string_view unit) {
    return round(now, [&] { return names_.machined(unit); });
  };
  const auto link = [&](const std::string& unit, const std::string& target) {
    fs::create_directories(place("run/systemd/machines"));
    fs::create_symlink(target, place("run/systemd/machines/unit:" + unit));
  };
  EXPECT_EQ(machined(0s, "web.service"), std::nullopt);
  link("web.service", "web-1");
  link("odd\\x2d1.scope", "d\033b");
  link("away.service", "../../../etc/passwd");
  write("run/systemd/machines/unit:file.service", "NAME=web\n");
  EXPECT_EQ(machined(1s, "web.service"), "web-1");
  EXPECT_EQ(machined(1s, "odd\\x2d1.scope"), R"(d\x1bb)");
  EXPECT_EQ(machined(1s, "away.service"), std::nullopt);
  EXPECT_EQ(machined(1s, "file.service"), std::nullopt);
  EXPECT_EQ(machined(1s, "other.service"), std::nullopt);
  EXPECT_EQ(machined(1s, ""), std::nullopt);
  EXPECT_EQ(machined(1s, "../unit:web.service"), std::nullopt);
}

TEST_F(Names, OfOtherRuntimesAreNotKnown) {
  for (const char* runtime : {"nspawn", "nomad", ""})
    EXPECT_EQ(container(0s, runtime, kA), std::nullopt) << runtime;
}

TEST_F(Names, PathsAreMadeOfRightIdsOnly) {
  write("var/lib/docker/config.v2.json", docker_config(kA, "/web"));
  write(docker_file("short"), docker_config(kA, "/web"));
  for (const char* path : {"etc/pve/100.conf", "etc/pve/lxc/web.conf", "etc/pve/qemu-server/web.conf"})
    write(path, "name: web\nhostname: web\n");
  EXPECT_EQ(docker(0s, ".."), std::nullopt);
  EXPECT_EQ(docker(0s, "short"), std::nullopt);
  EXPECT_EQ(guest(0s, "../100"), std::nullopt);
  EXPECT_EQ(guest(0s, "web"), std::nullopt);
  EXPECT_EQ(container(0s, "lxc", "web"), std::nullopt);
  EXPECT_EQ(guest(0s, ""), std::nullopt);
  EXPECT_EQ(guest(0s, std::string(5000, '1')), std::nullopt);
  EXPECT_EQ(container(0s, "lxc", "../100"), std::nullopt);
}

TEST_F(Names, ThatChangeAreSeenAfterTheLookPeriod) {
  write(docker_file(kA), docker_config(kA, "/before"));
  EXPECT_EQ(docker(0s), "before");
  write(docker_file(kA), docker_config(kA, "/after"));
  EXPECT_EQ(docker(10s - 1ns), "before");
  EXPECT_EQ(docker(10s), "after");
}

TEST_F(Names, OfPodmanThatChangeAreSeenAfterTheLookPeriod) {
  write(kStorage + "overlay-containers/containers.json", podman_list({{kA, "before"}}));
  EXPECT_EQ(container(0s, "podman", kA), "before");
  write(kStorage + "overlay-containers/containers.json", podman_list({{kA, "after"}}));
  EXPECT_EQ(container(10s - 1ns, "podman", kA), "before");
  EXPECT_EQ(container(10s, "podman", kA), "after");
}

TEST_F(Names, ThatAreNotThereYetAreLookedForEachSecond) {
  using Both = std::pair<std::optional<std::string>, std::optional<std::string>>;
  const auto both = [&](Nanoseconds now) {
    return round(now, [&] { return Both(names_.container("docker", kA), names_.container("podman", kB)); });
  };
  EXPECT_EQ(both(0s), Both());
  write(docker_file(kA), docker_config(kA, "/web"));
  write(kStorage + "overlay-containers/containers.json", podman_list({{kB, "db"}}));
  EXPECT_EQ(both(1s - 1ns), Both());
  EXPECT_EQ(both(1s), Both("web", "db"));
}

TEST_F(Names, OfNewPodsAreFoundAtOnceAmongKnownOnes) {
  add_entry("var/log/pods", "default_web-0_7d9f0ad8");
  const auto ask = [&](Nanoseconds now) {
    return round(
        now, [&] { return std::pair(names_.pod("7d9f0ad8").has_value(), names_.pod("8e0a").has_value()); });
  };
  EXPECT_EQ(ask(0s), std::pair(true, false));
  fs::create_directory(place("var/log/pods/default_web-1_8e0a"));
  EXPECT_EQ(ask(1s - 1ns), std::pair(true, false));
  EXPECT_EQ(ask(1s), std::pair(true, true));
}

TEST_F(Names, InFilesThatStayAreNotReadAgain) {
  write(docker_file(kA), docker_config(kA, "/one"));
  write(kStorage + "overlay-containers/containers.json", podman_list({{kA, "one"}}));
  write("etc/pve/qemu-server/100.conf", "name: one\n");
  const auto ask = [&](Nanoseconds now) {
    return round(now, [&] {
      return *names_.container("docker", kA) + *names_.container("podman", kA) + *names_.proxmox_guest("100");
    });
  };
  EXPECT_EQ(ask(0s), "oneoneone");
  change_secretly(docker_file(kA), docker_config(kA, "/two"));
  change_secretly(kStorage + "overlay-containers/containers.json", podman_list({{kA, "two"}}));
  change_secretly("etc/pve/qemu-server/100.conf", "name: two\n");
  EXPECT_EQ(ask(10s), "oneoneone");
  EXPECT_EQ(ask(1h), "oneoneone");
}

TEST_F(Names, InDirectoriesThatStayAreNotListedAgain) {
  add_entry("var/log/pods", "default_one_1234");
  EXPECT_EQ(pod(0s, "1234")->name, "one");
  fs::rename(place("var/log/pods/default_one_1234"), place("var/log/pods/default_two_1234"));
  age(place("var/log/pods"));
  EXPECT_EQ(pod(10s, "1234")->name, "one");
  fs::create_directory(place("var/log/pods/x"));
  EXPECT_EQ(pod(20s, "1234")->name, "two");
}

TEST_F(Names, NotRequestedAreForgotten) {
  write(docker_file(kA), docker_config(kA, "/one"));
  write(kStorage + "overlay-containers/containers.json", podman_list({{kA, "one"}}));
  add_entry("var/log/pods", "default_one_1234");
  const auto ask = [&](Nanoseconds now) {
    return round(now, [&] {
      return *names_.container("docker", kA) + *names_.container("podman", kA) + names_.pod("1234")->name;
    });
  };
  EXPECT_EQ(ask(0s), "oneoneone");
  change_secretly(docker_file(kA), docker_config(kA, "/two"));
  change_secretly(kStorage + "overlay-containers/containers.json", podman_list({{kA, "two"}}));
  fs::rename(place("var/log/pods/default_one_1234"), place("var/log/pods/default_two_1234"));
  age(place("var/log/pods"));
  round(1s, [] { return 0; });
  EXPECT_EQ(ask(2s), "twotwotwo");
}

TEST_F(Names, OfRemovedObjectsAreRemoved) {
  write(docker_file(kA), docker_config(kA, "/web"));
  EXPECT_EQ(docker(0s), "web");
  fake_.remove("root/" + docker_file(kA));
  EXPECT_EQ(docker(10s), std::nullopt);
  write(docker_file(kA), docker_config(kA, "/web"));
  EXPECT_EQ(docker(11s), "web");
  fake_.remove("root/var/lib/docker");
  EXPECT_EQ(docker(21s), std::nullopt);
}

TEST_F(Names, AreMissingWhereNothingIsToBeRead) {
  EXPECT_EQ(container(0s, "docker", kA), std::nullopt);
  EXPECT_EQ(container(0s, "podman", kA), std::nullopt);
  EXPECT_EQ(container(0s, "crio", kA), std::nullopt);
  EXPECT_EQ(container(0s, "lxc", "100"), std::nullopt);
  EXPECT_EQ(pod(0s, "1234"), std::nullopt);
  EXPECT_EQ(guest(0s, "100"), std::nullopt);
}

TEST_F(Names, InAFifoOrALinkOrAHugeFileAreNotRead) {
  fs::create_directories(place(docker_file(kA)).parent_path());
  ASSERT_EQ(::mkfifo(place(docker_file(kA)).c_str(), 0600), 0);
  EXPECT_EQ(docker(0s), std::nullopt);

  write("elsewhere", docker_config(kB, "/web"));
  fs::create_directories(place(docker_file(kB)).parent_path());
  fs::create_symlink("/elsewhere", place(docker_file(kB)));
  EXPECT_EQ(docker(0s, kB), std::nullopt);

  const std::string c(64, 'c');
  write(docker_file(c), docker_config(c, "/web") + std::string(1 << 20, ' '));
  EXPECT_EQ(docker(0s, c), std::nullopt);
  write("etc/pve/qemu-server/100.conf", "name: web\n" + std::string(64 << 10, '\n'));
  EXPECT_EQ(guest(0s, "100"), std::nullopt);
  write(kStorage + "overlay-containers/containers.json", podman_list({{c, "web"}}));
  EXPECT_EQ(container(0s, "podman", c), "web");
  fs::resize_file(place(kStorage + "overlay-containers/containers.json"), (16 << 20) + 1);
  EXPECT_EQ(container(10s, "podman", c), std::nullopt);
}

TEST_F(Names, OutsideTheRootAreNotRead) {
  fake_.write("sys/docker/" + kA + "/config.v2.json", docker_config(kA, "/web"));
  fs::create_directories(place("var/lib/docker"));
  fs::create_directory_symlink("../../../../sys/docker", place("var/lib/docker/containers"));
  EXPECT_EQ(docker(0s), std::nullopt);
}

TEST_F(Names, AreFoundWhereDockersDirectoryIsALink) {
  write("data/docker/containers/" + kA + "/config.v2.json", docker_config(kA, "/web"));
  fs::create_directories(place("var/lib"));
  fs::create_directory_symlink("/data/docker", place("var/lib/docker"));
  EXPECT_EQ(docker(0s), "web");
}

TEST_F(Names, OfOneMalformedFileAreMissingAndOfOthersNot) {
  write(docker_file(kA), docker_config(kA, "/web").substr(1));
  write(docker_file(kB), docker_config(kB, R"(/d\u001bb)"));
  write(kStorage + "overlay-containers/containers.json", "[{]");
  write(kStorage + "vfs-containers/containers.json", podman_list({{kA, "web"}}));
  EXPECT_EQ(docker(0s), std::nullopt);
  EXPECT_EQ(docker(0s, kB), R"(d\x1bb)");
  EXPECT_EQ(container(0s, "podman", kA), "web");
}

}  // namespace
}  // namespace keplerd
