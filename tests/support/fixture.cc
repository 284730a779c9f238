#include "support/fixture.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace stoker {

std::string fixture(const std::string& path) {
  std::ifstream file(STOKER_FIXTURES "/" + path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace stoker
