// SPDX-License-Identifier: Apache-2.0
#include "workloads/name_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/name_samples.h"

namespace keplerd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string kA(64, 'a'), kB(64, 'b');

TEST(DockerName, IsWithoutItsSlash) {
  EXPECT_EQ(parse_docker_name(docker_config(kA, "/web")), "web");
  EXPECT_EQ(parse_docker_name(R"({"Name":"web"})"), "web");
  EXPECT_EQ(parse_docker_name(R"({"Name":"/a/b"})"), "a/b");
}

TEST(DockerName, IsTheContainersOwnAndNoneInside) {
  EXPECT_EQ(parse_docker_name(R"({"Config":{"Name":"/inner"},"Args":["Name","/x"],"Name":"/web"})"), "web");
  EXPECT_EQ(parse_docker_name(R"({"HostConfig":{"RestartPolicy":{"Name":"/no"}}})"), std::nullopt);
}

TEST(DockerName, IsMissingFromMalformedFiles) {
  for (const char* text :
       {"", "{", "null", "[]", "7", R"("Name")", R"(["Name","/web"])", R"({"Name":7})",
        R"({"Name":["/web"]})", R"({"Name":{"Name":"/web"}})", R"({"Name":""})", R"({"Name":"/"})",
        R"({"Name":"/web")", R"({"Name":"/web"}})", R"({"Name":"/web",})", R"({"Name":"/web","x":1e999})",
        "{\"Name\":\"/\xff\"}", "{\"Name\":\"/a\nb\"}", R"({"Name":"/\ud800"})"}) {
    EXPECT_EQ(parse_docker_name(text), std::nullopt) << text;
  }
}

TEST(DockerName, IsMadePrintable) {
  EXPECT_EQ(parse_docker_name(R"({"Name":"/a\u001b[31m\n\u0000b"})"), R"(a\x1b[31m\x0a\x00b)");
  EXPECT_EQ(parse_docker_name(R"({"Name":"/a\u202eb"})"), R"(a\xe2\x80\xaeb)");
  EXPECT_EQ(parse_docker_name(R"({"Name":"/caf\u00e9"})"), "café");
}

TEST(DockerName, IsCutAt255BytesButInNoCharacter) {
  EXPECT_EQ(parse_docker_name(docker_config(kA, "/" + std::string(255, 'x'))), std::string(255, 'x'));
  EXPECT_EQ(parse_docker_name(docker_config(kA, "/" + std::string(256, 'x'))), std::string(255, 'x'));
  EXPECT_EQ(parse_docker_name(docker_config(kA, "/" + std::string(254, 'x') + "é")), std::string(254, 'x'));
  EXPECT_EQ(parse_docker_name(docker_config(kA, "/" + std::string(252, 'x') + "😀")), std::string(252, 'x'));
  EXPECT_EQ(parse_docker_name(docker_config(kA, "/" + std::string(251, 'x') + "😀y")),
            std::string(251, 'x') + "😀");
}

TEST(DockerName, IsReadBelowAnyDepth) {
  const std::string deep(100'000, '[');
  EXPECT_EQ(parse_docker_name(R"({"x":)" + deep), std::nullopt);
  EXPECT_EQ(parse_docker_name(R"({"x":)" + deep + std::string(100'000, ']') + R"(,"Name":"/web"})"), "web");
}

TEST(PodmanNames, AreTheFirstOfEach) {
  EXPECT_THAT(parse_podman_names(podman_list({{kA, "web"}, {kB, "db"}}), 10),
              ElementsAre(Pair(kA, "web"), Pair(kB, "db")));
  EXPECT_THAT(parse_podman_names(R"([{"names":["first","second"],"id":")" + kA + R"("}])", 10),
              ElementsAre(Pair(kA, "first")));
}

TEST(PodmanNames, AreOfTheContainerAndNotOfNestedObjects) {
  EXPECT_THAT(
      parse_podman_names(R"([{"id":")" + kA + R"(","flags":{"id":"x","names":["x"],"y":["x"]},"z":["x"],)" +
                             R"("names":[["x"],{"n":"x"},7,"web"]}])",
                         10),
      ElementsAre(Pair(kA, "web")));
}

TEST(PodmanNames, NeedAnIdAndAName) {
  EXPECT_THAT(parse_podman_names(R"([{"id":")" + kA + R"("},{"names":["a"]},{"id":"7","names":["b"]},)" +
                                     R"({"id":7,"names":["c"]},{"id":")" + kB + R"(","names":[]},)" +
                                     R"({"id":")" + kB + R"(","names":"d"},{"id":")" + kB +
                                     R"(","names":{"x":"e"}},null,["names",["f"]],"id"])",
                                 10),
              IsEmpty());
}

TEST(PodmanNames, AreMissingFromMalformedFiles) {
  const std::string container = R"({"id":")" + kA + R"(","names":["web"]})";
  for (const std::string& text :
       {std::string(), std::string("["), std::string("null"), container, R"({"x":)" + container + "}",
        "[[" + container + "]]", "[" + container, "[" + container + ",]", "[" + container + "]]"}) {
    EXPECT_THAT(parse_podman_names(text, 10), IsEmpty()) << text;
  }
}

TEST(PodmanNames, AreLimitedToTheGivenNumber) {
  EXPECT_THAT(parse_podman_names(podman_list({{kA, "web"}, {kB, "db"}}), 1), ElementsAre(Pair(kA, "web")));
}

TEST(PodmanNames, AreMadePrintable) {
  EXPECT_THAT(parse_podman_names(R"([{"id":")" + kA + R"(","names":["\u001b]0;x\u0007"]}])", 10),
              ElementsAre(Pair(kA, R"(\x1b]0;x\x07)")));
}

TEST(PodDirectory, HasNamespaceNameAndUid) {
  const auto pod = parse_pod_directory("kube-system_etcd-node1_6f2e1b0c9d8a7f6e5d4c3b2a19080706");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->first, "6f2e1b0c9d8a7f6e5d4c3b2a19080706");
  EXPECT_EQ(pod->second, (PodName{.name = "etcd-node1", .name_space = "kube-system"}));
}

TEST(PodDirectory, IsNothingElse) {
  for (const char* name : {"", "_", "__", "a_b", "a_b_", "_b_c", "a__c", "a_b_c_d", "a_b_c_"})
    EXPECT_EQ(parse_pod_directory(name), std::nullopt) << name;
}

TEST(PodDirectory, IsMadePrintable) {
  EXPECT_EQ(parse_pod_directory("a\x1b_b\n\xff_uid")->second,
            (PodName{.name = R"(b\x0a\xff)", .name_space = R"(a\x1b)"}));
}

TEST(ContainerLog, HasTheContainersNameAndId) {
  const auto container =
      parse_container_log("coredns-5d78c9869d-x7k2p_kube-system_my-coredns-" + kA + ".log");
  ASSERT_TRUE(container);
  EXPECT_EQ(*container, NameById<std::string>(kA, "my-coredns"));
}

TEST(ContainerLog, IsNothingElse) {
  for (const std::string& name :
       {std::string(), std::string(".log"), "p_n_c-" + kA, "p_n_c-" + kA + ".gz",
        "p_n_c-" + kA.substr(1) + ".log", "p_n_c" + kA + ".log", "p_n_-" + kA + ".log", "p_n_" + kA + ".log",
        "p_c-" + kA + ".log", "p_n_x_c-" + kA + ".log", "p__c-" + kA + ".log",
        "p_n_c-" + std::string(64, 'A') + ".log"}) {
    EXPECT_EQ(parse_container_log(name), std::nullopt) << name;
  }
}

TEST(ProxmoxValue, IsOfItsLine) {
  EXPECT_EQ(parse_proxmox_value(kQemuConf, "name"), "web");
  EXPECT_EQ(parse_proxmox_value(kLxcConf, "hostname"), "mail.example.org");
  EXPECT_EQ(parse_proxmox_value("name: a\r\n", "name"), "a");
  EXPECT_EQ(parse_proxmox_value("name: a", "name"), "a");
  EXPECT_EQ(parse_proxmox_value("name:  a \nname: b\n", "name"), "a");
}

TEST(ProxmoxValue, IsNotThatOfASnapshot) {
  EXPECT_EQ(parse_proxmox_value("cores: 2\n[before]\nname: old\n", "name"), std::nullopt);
}

TEST(ProxmoxValue, IsOfNoOtherLine) {
  for (const char* conf : {"", "name", "name:", "name: \n", "#name: a", "names: a", "hostname: a", " name: a",
                           "name a", "x: name: a"}) {
    EXPECT_EQ(parse_proxmox_value(conf, "name"), std::nullopt) << conf;
  }
}

TEST(ProxmoxValue, IsMadePrintable) {
  EXPECT_EQ(parse_proxmox_value("name: a\x1b[1mb\xff\n", "name"), R"(a\x1b[1mb\xff)");
}

}  // namespace
}  // namespace keplerd
