// A record that a reader must accumulate and that is larger than the budget is one
// error, and memory stays within the budget. The records after it follow if the format
// records where they start.

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "stoker/codecs/tfrecord.h"
#include "stoker/core/record_limit.h"
#include "support/compress.h"
#include "support/support.h"
#include "support/tars.h"
#include "support/temp_dir.h"
#include "support/watch.h"
#include "support/zips.h"

namespace stoker {
namespace {

constexpr int64_t kBudget = int64_t{1} << 20;
constexpr size_t kLarge = size_t{96} << 20;
constexpr int64_t kMostResident = int64_t{32} << 20;  // buffers, allocators and threads take a few megabytes

struct Reader {
  std::string name;
  // What a file holds: a small record, one of so many bytes, a small one.
  std::function<std::string(size_t large)> file;
  std::function<Dataset(const std::string& path)> open;
  bool goes_on = true;
  int64_t offset = 0;  // of the large record
};

std::string text(const std::string& first, size_t large, const std::string& last) {
  return first + std::string(large, 'x') + last;
}

std::string records(size_t large) {
  std::string file;
  append_record(file, "first");
  append_record(file, std::string(large, 'x'));
  append_record(file, "last");
  return file;
}

std::string samples(size_t large) {
  return tar_file("1.txt", "first") + tar_file("2.txt", std::string(large, 'x')) + tar_file("3.txt", "last") +
         tar_end();
}

std::vector<Reader> readers() {
  const auto gzip = [](auto make) { return [make](size_t large) { return gzipped(make(large), 1); }; };
  const auto lines = [](size_t large) { return text("first\n", large, "\nlast\n"); };
  const auto objects = [](size_t large) {
    return text("{\"a\": \"first\"}\n{\"a\": \"", large, "\"}\n{\"a\": \"last\"}\n");
  };
  const auto table = [](size_t large) { return text("first\n", large, "\nlast\n"); };
  const auto text_lines = [](const std::string& type) {
    return [type](const std::string& path) {
      return Dataset::text_lines({.filenames = {path}, .compression_type = type});
    };
  };
  const auto jsonl = [](const std::string& type) {
    return [type](const std::string& path) {
      return Dataset::jsonl({.filenames = {path}, .names = {"a"}, .dtypes = {DType::kBytes}, .compression_type = type});
    };
  };
  const auto csv = [](const std::string& type) {
    return [type](const std::string& path) {
      return Dataset::csv({.filenames = {path}, .record_defaults = {Array::of_bytes("")}, .compression_type = type});
    };
  };
  return {
      {"text_lines", lines, text_lines(""), true, 6},
      {"text_lines_gzip", gzip(lines), text_lines("GZIP"), true, 6},
      {"jsonl", objects, jsonl(""), true, 15},
      {"jsonl_gzip", gzip(objects), jsonl("GZIP"), true, 15},
      {"csv", table, csv(""), true, 6},
      {"csv_gzip", gzip(table), csv("GZIP"), true, 6},
      {"tfrecord_gzip", gzip(records),
       [](const std::string& path) { return Dataset::tfrecord({.filenames = {path}, .compression_type = "GZIP"}); },
       true, 21},
      {"tar_gzip", gzip(samples),
       [](const std::string& path) {
         return Dataset::tar({.filenames = {path}, .components = {"txt"}, .compression_type = "GZIP"});
       },
       true, 1536},
      {"fixed_length_gzip", gzip([](size_t large) { return std::string(large, 'x'); }),
       [](const std::string& path) {
         return Dataset::fixed_length_records(
             {.filenames = {path}, .record_bytes = static_cast<int64_t>(kLarge), .compression_type = "GZIP"});
       },
       false},
  };
}

int64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  return 0;
}
// False where the system does not allow it.
bool reset_peak_resident_bytes() { return bool(std::ofstream("/proc/self/clear_refs") << "5" << std::flush); }

class RecordLimitLaw : public testing::TestWithParam<Reader> {};
INSTANTIATE_TEST_SUITE_P(Every, RecordLimitLaw, testing::ValuesIn(readers()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RecordLimitLaw, ALargerRecordIsOneErrorAndMemoryStaysBounded) {
  const Reader& reader = GetParam();
  WatchScope watch(reader.name);
  const TempDir dir;
  const std::string path = dir.write("file", reader.file(kLarge));
  for (const int workers : {0, 2}) {
    SCOPED_TRACE(workers);
    const WithResources here({.workers = workers, .memory_bytes = kBudget});
    const bool measured = reset_peak_resident_bytes();
    const int64_t before = peak_resident_bytes();
    Loader loader(reader.open(path));
    std::vector<Error> errors;
    int64_t given = 0;
    while (true) {
      const Result<std::optional<Element>> next = loader.next();
      if (!next) errors.push_back(next.error());
      if (next && !*next) break;
      given += next.ok();
    }
    ASSERT_EQ(errors.size(), 1u);
    const Error& error = errors[0];
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    EXPECT_EQ(error.place().path, path);
    EXPECT_EQ(error.place().offset, reader.offset);
    for (const std::string& part : {std::string("byte ") + std::to_string(reader.offset),
                                    std::to_string(record_limit()), std::string("STOKER_MEMORY")})
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    EXPECT_EQ(given, reader.goes_on ? 2 : 0);
    if (measured) {
      EXPECT_LT(peak_resident_bytes() - before, kMostResident);
    }
  }
}

// A checkpoint may be saved after an error as after any element.
TEST_P(RecordLimitLaw, ACheckpointAfterItContinues) {
  const Reader& reader = GetParam();
  if (!reader.goes_on) GTEST_SKIP() << "nothing follows";
  const TempDir dir;
  const std::string path = dir.write("file", reader.file(3 * kBudget));
  const WithResources here({.workers = 0, .memory_bytes = kBudget});
  Loader loader(reader.open(path));
  ASSERT_TRUE(loader.next().ok());
  ASSERT_FALSE(loader.next().ok());
  const std::string saved = loader.save().value();
  Loader restored(reader.open(path));
  ASSERT_TRUE(restored.restore(saved).ok());
  EXPECT_EQ(text_of_rest(restored), text_of_rest(loader));
}

TEST(RecordLimit, HoldsForWholeArraysThatAreCompressed) {
  const TempDir dir;
  const WithResources here({.memory_bytes = kBudget});
  std::string idx{0, 0, 8, 1, 1, 0, 0, 0};  // 16 MB of uint8
  idx += std::string(size_t{16} << 20, 'x');
  const std::string packed = dir.write("a.gz", gzipped(idx)), plain = dir.write("a", idx);
  EXPECT_NE(error_of(Dataset::idx({.filenames = {packed}}))
                .find("larger than the limit of " + std::to_string(record_limit())),
            std::string::npos);
  EXPECT_EQ(error_of(Dataset::idx({.filenames = {plain}})), "");
  const std::string npz = dir.write("a.npz", zip_of({{"x.npy", std::string(size_t{16} << 20, '\0')}}, true));
  EXPECT_NE(
      error_of(Dataset::npz({.filenames = {npz}})).find("larger than the limit of " + std::to_string(record_limit())),
      std::string::npos);
}

}  // namespace
}  // namespace stoker
