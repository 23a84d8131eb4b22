// SPDX-License-Identifier: Apache-2.0
#include "history/budget/unit_name.h"

#include <fmt/format.h>

#include "history/span.h"

namespace keplerd::history {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' || c == '_' ||
         c == '.';
}

// In double quotes, where systemd takes these four characters as special.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '`' || c == '$') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string escape_unit_name(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '/') {
      escaped += '-';
    } else if (is_plain(c) && !(c == '.' && escaped.empty())) {
      escaped += c;
    } else {
      escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

std::string budget_service(const Budget& budget) {
  return "keplerd-budget@" + escape_unit_name(budget.subject()) + ".service";
}

std::string budget_environment(const BudgetUse& use, int percent) {
  const Budget& budget = use.budget;
  return fmt::format(
      "KEPLERD_BUDGET={}\nKEPLERD_BUDGET_SUBJECT={}\nKEPLERD_BUDGET_NAME={}\nKEPLERD_BUDGET_PERIOD={}\n"
      "KEPLERD_BUDGET_PERCENT={}\nKEPLERD_BUDGET_USED_MICROJOULES={}\nKEPLERD_BUDGET_LIMIT_MICROJOULES={}\n",
      in_quotes(budget.text), in_quotes(budget.subject()), in_quotes(budget.name), name_of(budget.period),
      percent, use.used.value, budget.limit.value);
}

}  // namespace keplerd::history
