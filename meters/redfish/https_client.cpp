// SPDX-License-Identifier: Apache-2.0
#include "meters/redfish/https_client.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <stdexcept>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/text.h"
#include "meters/redfish/documents.h"

namespace keplerd::redfish {
namespace {

constexpr long kLongestConnect = 10;  // seconds
constexpr int kMostRedirects = 3;

struct CurlDeleter {
  void operator()(CURL* handle) const { ::curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
};

struct Reply {
  std::string text;
  bool too_large = false;
};

std::size_t take(const char* data, std::size_t size, std::size_t count, void* reply_pointer) {
  auto& reply = *static_cast<Reply*>(reply_pointer);
  reply.too_large = size * count > kLargestReply - reply.text.size();
  if (reply.too_large) return 0;
  reply.text.append(data, size * count);
  return size * count;
}

Error status_error(long status, const std::string& url) {
  const std::string shown = fmt::format("{}: HTTP status {}", url, status);
  if (status == 401 || status == 403)
    return {.message = shown + ": the service refuses the user or the password (see keplerd-redfish(8))",
            .code = EACCES};
  if (status == 404 || status == 410) return {.message = shown, .code = ENOENT};
  return {.message = shown, .code = EIO};
}

}  // namespace

struct HttpsClient::Transfer {
  std::unique_ptr<CURL, CurlDeleter> handle{::curl_easy_init()};
  std::unique_ptr<curl_slist, CurlDeleter> headers{};
  std::array<char, CURL_ERROR_SIZE> error{};

  template <class Value>
  void set(CURLoption option, Value value) {
    if (::curl_easy_setopt(handle.get(), option, value) != CURLE_OK)
      throw std::runtime_error(fmt::format("libcurl does not support option {}", static_cast<int>(option)));
  }

  void add_header(const char* header) { headers.reset(::curl_slist_append(headers.release(), header)); }
};

HttpsClient::HttpsClient(const Settings& settings, const std::string& authorities)
    : transfer_(std::make_unique<Transfer>()), origin_("https://" + settings.host) {
  if (!transfer_->handle) throw std::runtime_error("libcurl cannot be initialised");
  transfer_->set(CURLOPT_PROTOCOLS_STR, "https");
  transfer_->set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  transfer_->set(CURLOPT_SSL_VERIFYPEER, 1L);
  transfer_->set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!authorities.empty()) {
    transfer_->set(CURLOPT_CAINFO, authorities.c_str());
    transfer_->set(CURLOPT_CAPATH, nullptr);
  }
  transfer_->set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
  transfer_->set(CURLOPT_USERNAME, settings.user.c_str());
  transfer_->set(CURLOPT_PASSWORD, settings.password.c_str());
  transfer_->add_header("Accept: application/json");
  transfer_->add_header("OData-Version: 4.0");
  transfer_->set(CURLOPT_HTTPHEADER, transfer_->headers.get());
  transfer_->set(CURLOPT_USERAGENT, "keplerd-redfish");
  transfer_->set(CURLOPT_NOPROXY, "*");
  transfer_->set(CURLOPT_NOSIGNAL, 1L);
  transfer_->set(CURLOPT_CONNECTTIMEOUT, kLongestConnect);
  transfer_->set(CURLOPT_TIMEOUT_MS, static_cast<long>(kLongestReply / std::chrono::milliseconds(1)));
  transfer_->set(CURLOPT_WRITEFUNCTION, take);
  transfer_->set(CURLOPT_ERRORBUFFER, transfer_->error.data());
}

HttpsClient::~HttpsClient() = default;

Result<std::string> HttpsClient::get_once(const std::string& url, std::string& redirect) {
  Reply reply;
  transfer_->set(CURLOPT_URL, url.c_str());
  transfer_->set(CURLOPT_WRITEDATA, static_cast<void*>(&reply));
  transfer_->error[0] = '\0';
  const CURLcode code = ::curl_easy_perform(transfer_->handle.get());
  if (reply.too_large)
    return Error{.message = fmt::format("{}: the reply is larger than {} KiB", url, kLargestReply / 1024),
                 .code = EIO};
  if (code != CURLE_OK) {
    const char* const why =
        transfer_->error[0] != '\0' ? transfer_->error.data() : ::curl_easy_strerror(code);
    return Error{.message = fmt::format("{}: {}", url, escape_name(why)), .code = EIO};
  }
  long status = 0;
  ::curl_easy_getinfo(transfer_->handle.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status == 200) return std::move(reply.text);
  // libcurl's CURLINFO_REDIRECT_URL contains the password.
  curl_header* location = nullptr;
  const bool is_redirect =
      status >= 300 && status < 400 &&
      ::curl_easy_header(transfer_->handle.get(), "Location", 0, CURLH_HEADER, -1, &location) == CURLHE_OK;
  if (!is_redirect) return status_error(status, url);
  redirect = location->value;
  return std::string();
}

Result<std::string> HttpsClient::get(const std::string& path) {
  std::string here = path;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    std::string redirect;
    auto text = get_once(origin_ + here, redirect);
    if (!text || redirect.empty()) return text;
    here = redirect.starts_with(origin_ + "/") ? redirect.substr(origin_.size()) : redirect;
    if (!is_document_path(here))
      return Error{.message = fmt::format("{}{}: the redirect to {} is refused", origin_, path,
                                          escape_name(redirect.substr(0, 200))),
                   .code = EIO};
  }
  return Error{.message = fmt::format("{}{}: too many redirects", origin_, path), .code = EIO};
}

}  // namespace keplerd::redfish
