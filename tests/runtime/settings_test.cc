#include "stoker/runtime/settings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace stoker {
namespace {

constexpr int64_t kKilo = 1024;

TEST(ParseBytes, AcceptsNumbersWithAndWithoutUnits) {
  for (const auto& [text, bytes] : std::map<std::string, int64_t>{{"1", 1},
                                                                  {"500000", 500000},
                                                                  {"64B", 64},
                                                                  {"64K", 64 * kKilo},
                                                                  {"64k", 64 * kKilo},
                                                                  {"64KB", 64 * kKilo},
                                                                  {"64KiB", 64 * kKilo},
                                                                  {"64M", 64 * kKilo * kKilo},
                                                                  {"64 MiB", 64 * kKilo * kKilo},
                                                                  {"64mb", 64 * kKilo * kKilo},
                                                                  {"2G", 2 * kKilo * kKilo * kKilo},
                                                                  {"1.5G", 3 * kKilo * kKilo * kKilo / 2},
                                                                  {"1T", kKilo * kKilo * kKilo * kKilo}})
    EXPECT_EQ(parse_bytes(text).value(), bytes) << text;
}

TEST(ParseBytes, RejectsTextThatIsNotASizeAndNamesIt) {
  for (const char* text : {"", "M", "x", "64Q", "64MM", "64M ", " 64M", "64  M", "64iB", "-1", "-1G", "0", "0.2", "nan",
                           "inf", "1e3", "0x40", "9999999T", "64M,"}) {
    const Result<int64_t> bytes = parse_bytes(text);
    ASSERT_FALSE(bytes.ok()) << text;
    EXPECT_EQ(bytes.error().code(), Code::kInvalidArgument);
    EXPECT_EQ(bytes.error().message(),
              "'" + std::string(text) +
                  "' is not a size; expected a number of bytes of at least 1, such as 500000, 64M or "
                  "1.5G");
  }
}

TEST(ParseWorkers, AcceptsWholeNumbersInRange) {
  EXPECT_EQ(parse_workers("0").value(), 0);
  EXPECT_EQ(parse_workers("4096").value(), 4096);
  EXPECT_EQ(parse_workers("-1").value(), kAutotune);
  for (const char* text : {"", "4x", "x", "4.0", " 4", "4 ", "-2", "4097", "99999999999999999999"})
    EXPECT_EQ(parse_workers(text).error().message(),
              "'" + std::string(text) +
                  "' is not a number of workers; expected an integer from 0 to 4096, or -1 for as many as fit the "
                  "machine");
}

Result<Settings> settings_in(const std::map<std::string, std::string>& variables) {
  return read_settings([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(ReadSettings, ReadsTheVariablesThatAreSet) {
  EXPECT_FALSE(settings_in({}).value().workers);
  EXPECT_FALSE(settings_in({{"STOKER_MEMORY", ""}}).value().memory_bytes);
  const Settings both = settings_in({{"STOKER_MEMORY", "64M"}, {"STOKER_WORKERS", "3"}, {"STOKER_MAP", "0"}}).value();
  EXPECT_EQ(both.memory_bytes, int64_t{64} << 20);
  EXPECT_EQ(both.workers, 3);
}

TEST(ReadSettings, NamesTheVariableAndTheValueThatAreWrong) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"STOKER_MEMORY", "64Q"}, {"STOKER_WORKERS", "4x"}, {"STOKER_MAP", "off"}}) {
    const Result<Settings> settings = settings_in({{name, value}});
    ASSERT_FALSE(settings.ok()) << name;
    EXPECT_EQ(settings.error().code(), Code::kInvalidArgument);
    const std::string& message = settings.error().message();
    EXPECT_TRUE(message.starts_with(fmt::format("the environment variable {}: '{}' is not ", name, value))) << message;
    EXPECT_NE(message.find("; expected "), std::string::npos) << message;
    EXPECT_TRUE(message.ends_with("; correct it, or unset it to use the default")) << message;
  }
}

}  // namespace
}  // namespace stoker
