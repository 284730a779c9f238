#include "support/law.h"

#include <cctype>

namespace stoker {

std::string law_name(const testing::TestParamInfo<StageExample>& info) {
  std::string name;
  for (const char c : info.param.name) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
    if (name.size() == 48) break;
  }
  return name + "_" + std::to_string(info.index);
}

}  // namespace stoker
