// SPDX-License-Identifier: Apache-2.0
#include "workloads/libvirt_status.h"

#include <array>
#include <memory>
#include <vector>

#include <expat.h>

#include "base/parse.h"
#include "workloads/identifier.h"
#include "workloads/vm_size.h"

namespace keplerd {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestText = 4096;  // longer text is cut before it is shown anyway
constexpr std::size_t kMostVcpus = 4096;
constexpr char kSeparator = '\n';  // between the namespace and the name: occurs in no name

struct NameSpace {
  std::string_view uri;  // with "*": matches all that start like this
  std::string_view prefix;
};
constexpr std::array kNameSpaces = {
    NameSpace{"http://openstack.org/xmlns/libvirt/nova/*", "nova:"},
    NameSpace{"http://kubevirt.io", "kubevirt:"},
    NameSpace{"http://libosinfo.org/xmlns/libvirt/domain/*", "libosinfo:"},
    NameSpace{"https://keplerd.org/libvirt/1", "keplerd:"},
};

// A value to extract: the text of an element, or one of its attributes.
struct Wanted {
  std::string_view path;
  std::string_view attribute;  // empty: the text
  std::string_view key;
};
constexpr std::array kWanted = {
    Wanted{"domstatus", "state", "state"},
    Wanted{"domstatus", "reason", "reason"},
    Wanted{"domstatus", "pid", "pid"},
    Wanted{"domstatus/domain/name", "", "name"},
    Wanted{"domstatus/domain/uuid", "", "uuid"},
    Wanted{"domstatus/domain/title", "", "title"},
    Wanted{"domstatus/domain/vcpu", "current", "vcpus"},
    Wanted{"domstatus/domain/vcpu", "", "vcpus"},     // the maximum: only used without `current`
    Wanted{"domstatus/domain/memory", "", "memory"},  // in KiB, as libvirt writes it always
    Wanted{"domstatus/domain/metadata/keplerd:guest", "meter", "keplerd.meter"},
    Wanted{"domstatus/domain/metadata/kubevirt:kubevirt/kubevirt:uid", "", "kubevirt.uid"},
    Wanted{"domstatus/domain/metadata/libosinfo:libosinfo/libosinfo:os", "id", "os"},
    Wanted{"domstatus/domain/metadata/nova:instance/nova:flavor", "name", "openstack.flavor"},
    Wanted{"domstatus/domain/metadata/nova:instance/nova:name", "", "openstack.name"},
    Wanted{"domstatus/domain/metadata/nova:instance/nova:owner/nova:project", "", "openstack.project"},
    Wanted{"domstatus/domain/metadata/nova:instance/nova:owner/nova:project", "uuid", "openstack.projectId"},
    Wanted{"domstatus/domain/metadata/nova:instance/nova:owner/nova:user", "", "openstack.user"},
};

bool is_of(std::string_view uri, std::string_view known) {
  return known.ends_with('*') ? uri.starts_with(known.substr(0, known.size() - 1)) : uri == known;
}

// "nova:name"; "?:name" for an unknown namespace, which is never wanted.
std::string element_name(std::string_view expanded) {
  const auto end = expanded.find(kSeparator);
  if (end == expanded.npos) return std::string(expanded);
  std::string_view prefix = "?:";
  for (const NameSpace& known : kNameSpaces) {
    if (is_of(expanded.substr(0, end), known.uri)) prefix = known.prefix;
  }
  return std::string(prefix) + std::string(expanded.substr(end + 1));
}

// The attributes of an element: name, value, name, value, ..., null.
std::string_view attribute(const char* const* attributes, std::string_view name) {
  for (; *attributes != nullptr; attributes += 2) {
    if (*attributes == name) return attributes[1];
  }
  return {};
}

class Reader {
 public:
  Result<LibvirtStatus> read(std::string_view xml) {
    const Parser parser(XML_ParserCreateNS("UTF-8", kSeparator), XML_ParserFree);
    if (!parser) return Error{"no memory"};
    parser_ = parser.get();
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, on_start, on_end);
    XML_SetCharacterDataHandler(parser_, on_text);
    XML_SetStartDoctypeDeclHandler(parser_, on_doctype);
    const bool well_formed =
        XML_Parse(parser_, xml.data(), static_cast<int>(xml.size()), XML_TRUE) == XML_STATUS_OK;
    if (!problem_.empty()) return Error{problem_};
    if (!well_formed) return Error{XML_ErrorString(XML_GetErrorCode(parser_))};
    if (status_.uuid.empty() || status_.pid <= 0) return Error{"is no status of a running VM"};
    return std::move(status_);
  }

 private:
  using Parser = std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)>;

  static void on_start(void* self, const char* name, const char** attributes) {
    static_cast<Reader*>(self)->start(name, attributes);
  }
  static void on_end(void* self, const char*) { static_cast<Reader*>(self)->end(); }
  static void on_text(void* self, const char* text, int size) {
    static_cast<Reader*>(self)->text({text, static_cast<std::size_t>(size)});
  }
  static void on_doctype(void* self, const char*, const char*, const char*, int) {
    static_cast<Reader*>(self)->give_up("has a document type");
  }

  void give_up(const char* problem) {
    problem_ = problem;
    XML_StopParser(parser_, XML_FALSE);
  }

  void start(std::string_view name, const char* const* attributes) {
    if (ends_.size() >= kDeepest) return give_up("is nested too deeply");
    ends_.push_back(path_.size());
    if (!path_.empty()) path_ += '/';
    path_ += element_name(name);
    text_.clear();
    text_key_ = {};
    for (const Wanted& wanted : kWanted) {
      if (path_ != wanted.path) continue;
      if (wanted.attribute.empty()) {
        text_key_ = wanted.key;
      } else {
        set(wanted.key, attribute(attributes, wanted.attribute));
      }
    }
    if (path_ == "domstatus/vcpus/vcpu") take_vcpu_thread(attributes);
  }

  void end() {
    if (!text_key_.empty()) set(text_key_, trim(text_));
    path_.resize(ends_.back());
    ends_.pop_back();
    text_key_ = {};  // text of an element with children is of no interest
  }

  // Nothing else is ever stored, not even for a moment.
  void text(std::string_view text) {
    if (!text_key_.empty()) text_ += text.substr(0, kLongestText - std::min(kLongestText, text_.size()));
  }

  void take_vcpu_thread(const char* const* attributes) {
    const auto number = parse_number<int>(attribute(attributes, "id"));
    const auto thread = parse_number<std::int32_t>(attribute(attributes, "pid"));
    if (number && *number >= 0 && thread && *thread > 0 && status_.vcpu_threads.size() < kMostVcpus)
      status_.vcpu_threads[*thread] = *number;
  }

  void set(std::string_view key, std::string_view value) {
    if (key == "pid") {
      status_.pid = parse_number<std::int32_t>(value).value_or(0);
    } else if (key == "uuid") {
      status_.uuid = canonical_uuid(value);
    } else if (key == "vcpus") {
      const auto number = parse_number<int>(value);
      if (number && *number > 0 && !status_.vcpus) status_.vcpus = *number;
    } else if (key == "memory") {
      constexpr std::int64_t kKibibyte = 1024;
      status_.memory = parse_vm_memory(value, kKibibyte);
    } else if (std::string* const own = own_text(key)) {
      *own = limited_name(value);
    } else if (!value.empty()) {
      status_.metadata[std::string(key)] = limited_name(value);
    }
  }

  // Null if it is not a key of the metadata.
  std::string* own_text(std::string_view key) {
    if (key == "name") return &status_.name;
    if (key == "title") return &status_.title;
    if (key == "state") return &status_.state;
    if (key == "reason") return &status_.reason;
    return nullptr;
  }

  XML_Parser parser_ = nullptr;
  LibvirtStatus status_;
  std::string problem_;
  std::string path_;
  std::vector<std::size_t> ends_;  // where the path of each element above ends
  std::string text_;
  std::string_view text_key_;  // the key of the text being read; empty: not wanted
};

}  // namespace

Result<LibvirtStatus> parse_libvirt_status(std::string_view xml) { return Reader().read(xml); }

}  // namespace keplerd
