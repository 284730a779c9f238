#include "cli/data.h"

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"

namespace stoker::cli {

Json json_text(const std::string& text) {
  if (is_utf8(text)) return text;
  Json json = Json::dict();
  json.set("base64", to_base64(text));
  return json;
}

int refuse(const Error& error) {
  if (interrupted()) return interrupted_status();
  complain(error.message());
  const bool wrong_use = error.code() == Code::kInvalidArgument || error.code() == Code::kFailedPrecondition;
  return wrong_use ? kWrongUse : kBadData;
}

}  // namespace stoker::cli
