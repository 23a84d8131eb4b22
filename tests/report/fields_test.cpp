// SPDX-License-Identifier: Apache-2.0
// Compares the lists of fields with the interfaces' descriptions and manuals.
#include "report/fields.h"

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::string file(const std::string& path) {
  std::ifstream in(KEPLERD_SOURCE_DIR "/" + path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// The form of a value's type in varlink's IDL and as a D-Bus signature.
struct Types {
  std::string varlink, dbus;
};
template <class Value>
struct TypesOf;
template <class Value>
struct TypesOf<std::optional<Value>> : TypesOf<Value> {};
template <>
struct TypesOf<std::string> {
  static Types get() { return {"string", "s"}; }
};
template <>
struct TypesOf<std::string_view> : TypesOf<std::string> {};
template <>
struct TypesOf<bool> {
  static Types get() { return {"bool", "b"}; }
};
template <>
struct TypesOf<Microjoules> {
  static Types get() { return {"int", "t"}; }
};
template <>
struct TypesOf<Microwatts> : TypesOf<Microjoules> {};
template <>
struct TypesOf<Nanoseconds> : TypesOf<Microjoules> {};
template <>
struct TypesOf<Realtime> : TypesOf<Microjoules> {};
template <>
struct TypesOf<std::int32_t> {
  static Types get() { return {"int", "i"}; }
};
template <>
struct TypesOf<std::uint32_t> {
  static Types get() { return {"int", "u"}; }
};
template <>
struct TypesOf<std::optional<std::int32_t>> : TypesOf<std::uint32_t> {};  // a count
template <>
struct TypesOf<std::shared_ptr<const std::string>> : TypesOf<std::string> {};
template <>
struct TypesOf<VmMetadata> {
  static Types get() { return {"[string]string", "a{ss}"}; }
};
template <>
struct TypesOf<VmParts> {
  static Types get() { return {"[]VmPart", "a(st)"}; }
};
template <>
struct TypesOf<ZoneShares> {
  static Types get() { return {"[]ZoneShare", "a(sstt)"}; }
};

struct Listed {
  std::string name, varlink, dbus, property, emits;
};

template <class Row>
std::vector<Listed> listed() {
  std::vector<Listed> fields;
  for_each_field<Row>([&]<class Get, class Differs>(const Field<Get, Differs>& field) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Get, const Report&, const Row&>>;
    const auto [varlink, dbus] = TypesOf<Value>::get();
    const char* const emits = field.property.emits == Emits::kNever     ? "const"
                              : field.property.emits == Emits::kChanges ? "true"
                                                                        : "false";
    fields.push_back({std::string(field.name), varlink, dbus, std::string(field.property.name), emits});
  });
  return fields;
}

std::vector<Listed> all() {
  std::vector<Listed> fields;
  for (auto of_kind :
       {listed<UnitRow>(), listed<VmRow>(), listed<ContainerRow>(), listed<ProcessRow>(), listed<ZoneRow>()})
    fields.insert(fields.end(), of_kind.begin(), of_kind.end());
  return fields;
}

// A regular expression with a name and its description as groups 1 and 2.
std::map<std::string, std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::map<std::string, std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    found[(*match)[1]] = (*match)[2];
  return found;
}

TEST(Fields, AreThoseOfTheVarlinkInterface) {
  const std::string idl = file("varlink/org.keplerd.Energy.varlink");
  const auto begin = idl.find("\ntype Row (");
  const std::string row = idl.substr(begin, idl.find("\n)", begin) - begin);
  auto described = found_in(row, R"(\n  (\w+): \??([^,\n]+))");
  std::map<std::string, std::string> fields;
  for (const Listed& field : all()) fields[field.name] = field.varlink;
  EXPECT_EQ(fields, described);
}

TEST(Fields, AreOptionalInTheVarlinkInterfaceUnlessEachKindHasThem) {
  const std::string idl = file("varlink/org.keplerd.Energy.varlink");
  const auto begin = idl.find("\ntype Row (");
  const std::string row = idl.substr(begin, idl.find("\n)", begin) - begin);
  for (const auto& [name, optional] : found_in(row, R"(\n  (\w+): (\??))")) {
    std::size_t kinds = 0;
    for (const Listed& field : all()) kinds += field.name == name ? 1 : 0;
    EXPECT_TRUE(kinds == 5 || !optional.empty()) << name;
  }
}

TEST(Fields, OneNameHasOneType) {
  std::map<std::string, std::pair<std::string, std::string>> types;
  for (const Listed& field : all()) {
    const std::pair type{field.varlink, field.dbus};
    EXPECT_EQ(types.try_emplace(field.name, type).first->second, type) << field.name;
  }
}

TEST(Fields, OneKindHasANameOnce) {
  for (const auto& fields : {listed<UnitRow>(), listed<VmRow>(), listed<ContainerRow>(), listed<ProcessRow>(),
                             listed<ZoneRow>()}) {
    std::set<std::string> names;
    for (const Listed& field : fields) EXPECT_TRUE(names.insert(field.name).second) << field.name;
  }
}

TEST(Fields, NamesEndInTheUnitOfTheirType) {
  for (const Listed& field : all()) {
    const bool is_number = field.dbus == "t";
    const bool has_unit = field.name.ends_with("Microjoules") || field.name.ends_with("Microwatts") ||
                          field.name.ends_with("Usec");
    EXPECT_EQ(is_number, has_unit) << field.name;
  }
}

template <class Row>
void expect_properties_of(const std::string& xml) {
  const std::regex property(
      R"re(<property name="(\w+)" type="([^"]+)" access="read">\s*<annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="(\w+)"/>)re");
  const std::string text = file(xml);
  std::set<std::string> described;
  for (std::sregex_iterator match(text.begin(), text.end(), property), end; match != end; ++match)
    described.insert((*match)[1].str() + " " + (*match)[2].str() + " " + (*match)[3].str());
  std::set<std::string> fields;
  for (const Listed& field : listed<Row>()) {
    if (!field.property.empty()) fields.insert(field.property + " " + field.dbus + " " + field.emits);
  }
  EXPECT_EQ(fields, described) << xml;
}

TEST(Fields, ArePropertiesOfTheObjectsOnDBus) {
  expect_properties_of<VmRow>("dbus/org.keplerd1.VirtualMachine.xml");
  expect_properties_of<ZoneRow>("dbus/org.keplerd1.Zone.xml");
}

TEST(Fields, OfRowsOnDBusAreDescribedWithTheirTypes) {
  const std::string xml = file("dbus/org.keplerd1.Manager.xml");
  const std::set<std::string> columns = {"id",
                                         "name",
                                         "state",
                                         "energyMicrojoules",
                                         "activeMicrojoules",
                                         "idleMicrojoules",
                                         "powerMicrowatts",
                                         "cpuUsec"};
  for (const Listed& field : all()) {
    if (columns.contains(field.name)) continue;
    EXPECT_THAT(xml, HasSubstr(field.name + " " + field.dbus));
  }
}

TEST(Fields, AreInTheManualOfTheVarlinkInterface) {
  const std::string manual = file("docs/man/org.keplerd.Energy.5");
  for (const Listed& field : all()) EXPECT_THAT(manual, HasSubstr(field.name));
}

// The names of the fields that a row has.
template <class Row>
std::set<std::string> names_of(const Report& report, const Row& row) {
  std::set<std::string> names;
  for_each_field<Row>([&](const auto& field) {
    if (!is_absent(field.get(report, row))) names.emplace(field.name);
  });
  return names;
}

TEST(Fields, OfAVmAreThereWhereTheyAreKnown) {
  Report report;
  report.full = false;
  VmRow row;
  row.info = std::make_shared<VmInfo>(VmInfo{.id = "u"});
  EXPECT_THAT(names_of(report, row), UnorderedElementsAre("id", "name", "kind", "state", "energyMicrojoules",
                                                          "activeMicrojoules", "idleMicrojoules", "cpuUsec",
                                                          "quality", "sinceUsec", "hypervisor", "pid"));
  row.info = std::make_shared<VmInfo>(VmInfo{.title = "t", .vcpus = 1, .metadata = {{"os", "debian"}}});
  row.power = Microwatts{0};
  row.owner = 0;
  row.halt_polling = Nanoseconds{0};
  row.parts = {{.name = "other", .energy = {}}};
  report.full = true;
  for (const char* name :
       {"title", "vcpus", "metadata", "powerMicrowatts", "ownerUid", "haltPollUsec", "breakdown", "zones"})
    EXPECT_THAT(names_of(report, row), Contains(name));
}

UnitRow unit() {
  UnitRow row;
  row.info = std::make_shared<UnitInfo>(UnitInfo{.id = "/a", .name = "a"});
  return row;
}

TEST(RowDiffers, ByAnyFieldAndNothingElse) {
  const Report report;
  const UnitRow before = unit();
  UnitRow now = before;
  EXPECT_FALSE(row_differs(report, before, report, now));
  now.other = {1};
  EXPECT_TRUE(row_differs(report, before, report, now));
  now = before;
  now.owner = 1000;
  EXPECT_TRUE(row_differs(report, before, report, now));
  now = before;
  now.info = std::make_shared<UnitInfo>(UnitInfo{.id = "/a", .name = "b"});
  EXPECT_TRUE(row_differs(report, before, report, now));
}

TEST(RowDiffers, ByTheEnergyOfAZone) {
  const Report report;
  const std::vector<ZoneShare> was = {{.energy = {1}, .power = {}}}, is = {{.energy = {2}, .power = {}}};
  UnitRow before = unit();
  UnitRow now = before;
  before.zones = was;
  now.zones = was;
  EXPECT_FALSE(row_differs(report, before, report, now));
  now.zones = is;
  EXPECT_TRUE(row_differs(report, before, report, now));
}

TEST(RowDiffers, ByTheQualityThatTheReportGivesIt) {
  Report simulated;
  simulated.workload_quality = Quality::kSimulated;
  EXPECT_TRUE(row_differs(Report(), unit(), simulated, unit()));
}

TEST(RowDiffers, OfAZoneByItsQualityAndItsReason) {
  const Report report;
  const ZoneRow before;
  ZoneRow now;
  EXPECT_FALSE(row_differs(report, before, report, now));
  now.zone.quality = Quality::kModelled;
  EXPECT_TRUE(row_differs(report, before, report, now));
  now = before;
  now.zone.quality_reason = "integrated power";
  EXPECT_TRUE(row_differs(report, before, report, now));
  now = before;
  now.undivided = "nobody reports its use";
  EXPECT_TRUE(row_differs(report, before, report, now));
}

}  // namespace
}  // namespace keplerd
