#include "cli/data.h"

#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"

namespace stoker::cli {
namespace {

bool is_missing(const std::string& path) {
  return path.find_first_of("*?[") == std::string::npos && access(path.c_str(), F_OK) != 0;
}

}  // namespace

Json json_text(const std::string& text) {
  if (is_utf8(text)) return text;
  Json json = Json::dict();
  json.set("base64", to_base64(text));
  return json;
}

int refuse(const Error& error, const std::vector<std::string>& paths) {
  if (interrupted()) return interrupted_status();
  complain(error.message());
  const bool wrong_use = error.code() == Code::kInvalidArgument || error.code() == Code::kFailedPrecondition ||
                         (error.code() == Code::kNotFound && std::ranges::any_of(paths, is_missing));
  return wrong_use ? kWrongUse : kBadData;
}

}  // namespace stoker::cli
