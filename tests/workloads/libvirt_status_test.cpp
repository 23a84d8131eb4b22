// SPDX-License-Identifier: Apache-2.0
// libvirt's status of a VM: what is extracted, and what never is.
#include "workloads/libvirt_status.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

// As libvirt 11.3 writes it, without most of what is not read.
constexpr char kStatus[] = R"(<!--
WARNING: THIS IS AN AUTO-GENERATED FILE.
-->

<domstatus state='running' reason='booted' pid='201'>
  <monitor path='/var/lib/libvirt/qemu/domain-1-web/monitor.sock' type='unix'/>
  <vcpus>
    <vcpu id='0' pid='207'/>
    <vcpu id='1' pid='208'/>
  </vcpus>
  <qemuCaps>
    <flag name='kvm'/>
  </qemuCaps>
  <domain type='kvm' id='1'>
    <name>web</name>
    <uuid>BEB92770-f52d-4177-8e37-50529a465cc6</uuid>
    <title>Shop &amp; more</title>
    <metadata>
      <nova:instance xmlns:nova="http://openstack.org/xmlns/libvirt/nova/1.1">
        <nova:package version="27.1.0"/>
        <nova:name>shop-1</nova:name>
        <nova:flavor name="m1.small">
          <nova:memory>2048</nova:memory>
        </nova:flavor>
        <nova:owner>
          <nova:user uuid="aaaa">alice</nova:user>
          <nova:project uuid="bbbb">demo</nova:project>
        </nova:owner>
      </nova:instance>
      <libosinfo:libosinfo xmlns:libosinfo="http://libosinfo.org/xmlns/libvirt/domain/1.0">
        <libosinfo:os id="http://debian.org/debian/13"/>
      </libosinfo:libosinfo>
      <k:guest xmlns:k="https://keplerd.org/libvirt/1" meter="yes"/>
    </metadata>
    <memory unit='KiB'>4194304</memory>
    <currentMemory unit='KiB'>2097152</currentMemory>
    <vcpu placement='static' current='2'>4</vcpu>
    <devices>
      <graphics type='vnc' port='5900' passwd='secret'>
        <listen type='address'/>
      </graphics>
      <interface type='bridge'><target dev='vnet0'/><name>secret</name></interface>
    </devices>
  </domain>
</domstatus>
)";

std::string status_with(std::string_view old, std::string_view replacement) {
  std::string text = kStatus;
  return text.replace(text.find(old), old.size(), replacement);
}

TEST(LibvirtStatus, HasTheMachinesIdentity) {
  const auto status = parse_libvirt_status(kStatus);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->uuid, "beb92770-f52d-4177-8e37-50529a465cc6");
  EXPECT_EQ(status->name, "web");
  EXPECT_EQ(status->title, "Shop & more");
  EXPECT_EQ(status->state, "running");
  EXPECT_EQ(status->reason, "booted");
  EXPECT_EQ(status->pid, 201);
  EXPECT_EQ(status->vcpus, 2);  // of at most four
  EXPECT_EQ(status->memory, std::int64_t{4} << 30);
  EXPECT_EQ(status->vcpu_threads, (std::map<std::int32_t, int>{{207, 0}, {208, 1}}));
}

TEST(LibvirtStatus, HasTheMetadataOfOpenStackAndOthersByTheirNamespaces) {
  EXPECT_EQ(parse_libvirt_status(kStatus)->metadata, (VmMetadata{{"keplerd.meter", "yes"},
                                                                 {"openstack.flavor", "m1.small"},
                                                                 {"openstack.name", "shop-1"},
                                                                 {"openstack.project", "demo"},
                                                                 {"openstack.projectId", "bbbb"},
                                                                 {"openstack.user", "alice"},
                                                                 {"os", "http://debian.org/debian/13"}}));
  const auto foreign = parse_libvirt_status(
      status_with("http://openstack.org/xmlns/libvirt/nova/1.1", "http://example.org/nova"));
  EXPECT_EQ(foreign->metadata, (VmMetadata{{"keplerd.meter", "yes"}, {"os", "http://debian.org/debian/13"}}));
}

TEST(LibvirtStatus, HasKubeVirtsUid) {
  const auto status =
      parse_libvirt_status(status_with("<k:guest xmlns:k=\"https://keplerd.org/libvirt/1\" meter=\"yes\"/>",
                                       "<kubevirt xmlns=\"http://kubevirt.io\"><uid>1234</uid></kubevirt>"));
  EXPECT_EQ(status->metadata.at("kubevirt.uid"), "1234");
}

TEST(LibvirtStatus, CountsAllVcpusWhereNoneIsUnplugged) {
  EXPECT_EQ(parse_libvirt_status(status_with(" current='2'", ""))->vcpus, 4);
}

TEST(LibvirtStatus, EscapesAndCutsWhatItShows) {
  EXPECT_EQ(parse_libvirt_status(status_with("Shop &amp; more", "a&#10;b"))->title, "a\\x0ab");
  EXPECT_EQ(parse_libvirt_status(status_with("Shop &amp; more", std::string(5000, 'x')))->title,
            std::string(255, 'x'));
}

TEST(LibvirtStatus, ReportsWhyATextIsNotAStatus) {
  const auto why = [](std::string_view text) { return parse_libvirt_status(text).error().message; };
  EXPECT_EQ(why(""), "no element found");
  EXPECT_EQ(why("<domstatus"), "unclosed token");
  EXPECT_EQ(why("<network><name>default</name></network>"), "is no status of a running VM");
  EXPECT_EQ(why(status_with("pid='201'", "pid='-1'")), "is no status of a running VM");
  EXPECT_EQ(why(status_with("BEB92770", "none")), "is no status of a running VM");
}

TEST(LibvirtStatus, ExpandsNoEntitiesAndFollowsNoDepth) {
  EXPECT_EQ(
      parse_libvirt_status("<!DOCTYPE d [<!ENTITY a 'aaaa'>]><domstatus>&a;</domstatus>").error().message,
      "has a document type");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_EQ(parse_libvirt_status(deep).error().message, "is nested too deeply");
}

}  // namespace
}  // namespace keplerd
