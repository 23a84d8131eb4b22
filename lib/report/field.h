// SPDX-License-Identifier: Apache-2.0
// What a field of a row is, and how the lists in report/fields.h make one: from a member of the row, from its
// `info`, from what it refers to, or computed.
//
// A field's type determines its unit on all interfaces: Microjoules uJ, Microwatts uW, Nanoseconds and
// Realtime us. An absent value (see is_absent()) has no key in JSON and D-Bus details.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "report/report.h"

namespace keplerd {

// What callers without full access get.
enum class Public {
  kShown,     // unchanged
  kFloored,   // energy, rounded down to a multiple of a step
  kComputed,  // energy and power of nested rows: see daemon/access
  kHidden,    // nothing
};

// The property of an object on D-Bus, for kinds that have objects.
enum class Emits { kNever, kChanges, kNothing };  // const; PropertiesChanged; a live number
struct Property {
  std::string_view name = {};  // empty: the field is not a property
  Emits emits = Emits::kNever;
};
constexpr Property never_changes(std::string_view name) { return {name, Emits::kNever}; }
constexpr Property emits_changes(std::string_view name) { return {name, Emits::kChanges}; }
constexpr Property live(std::string_view name) { return {name, Emits::kNothing}; }

// get(report, row) returns the value, differs(report, row, other_report, other_row) whether it has changed.
template <class Get, class Differs>
struct Field {
  constexpr Field(std::string_view wire_name, Property on_dbus, Public to_all, Get getter, Differs comparison)
      : name(wire_name), property(on_dbus), shown(to_all), get(getter), differs(comparison) {}

  std::string_view name;
  Property property;
  Public shown;
  Get get;
  Differs differs;
};

namespace fields {

// Derived from other fields, or part of the row's `info`: changes are detected there.
struct FollowsOthers {
  constexpr bool operator()(const auto&...) const { return false; }
};

template <class Holder, class Value>
struct GetMember {
  Value Holder::*pointer;
  constexpr const Value& operator()(const Report&, const Holder& row) const { return row.*pointer; }
};

template <class Holder, class Value>
struct MemberDiffers {
  Value Holder::*pointer;
  constexpr bool operator()(const Report&, const Holder& a, const Report&, const Holder& b) const {
    return a.*pointer != b.*pointer;
  }
};

template <class Holder, class Value>
constexpr auto member(std::string_view name, Value Holder::*pointer, Public shown, Property property = {}) {
  return Field{name, property, shown, GetMember<Holder, Value>{pointer},
               MemberDiffers<Holder, Value>{pointer}};
}

// A field of the row's `info`.
template <class Info, class Value>
constexpr auto described(std::string_view name, Value Info::*pointer, Property property = {}) {
  return Field{name, property, Public::kShown,
               [pointer](const Report&, const auto& row) -> const Value& { return (*row.info).*pointer; },
               FollowsOthers{}};
}

// The same; absent if empty.
template <class Info>
constexpr auto described_if_any(std::string_view name, std::string Info::*pointer, Property property = {}) {
  return Field{name, property, Public::kShown,
               [pointer](const Report&, const auto& row) {
                 const std::string& text = (*row.info).*pointer;
                 return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
               },
               FollowsOthers{}};
}

template <class Get>
constexpr auto computed(std::string_view name, Get get, Property property = {},
                        Public shown = Public::kShown) {
  return Field{name, property, shown, get, FollowsOthers{}};
}

// The id of what `pointer` refers to.
template <class Row, class Info>
constexpr auto reference(std::string_view name, std::shared_ptr<const Info> Row::*pointer) {
  return Field{name, Property{}, Public::kShown,
               [pointer](const Report&, const Row& row) {
                 return row.*pointer ? std::optional<std::string_view>((row.*pointer)->id) : std::nullopt;
               },
               MemberDiffers<Row, std::shared_ptr<const Info>>{pointer}};
}

}  // namespace fields

}  // namespace keplerd
