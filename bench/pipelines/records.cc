// How fast are records read, checked and parsed?
//
// Reads TFRecord files from the page cache, checks the CRCs, and parses three features of each tf.train.Example: a
// string, an int64 and two floats. Records have 100 KB (the string is a view of the mapped file) or 100 bytes, one by
// one and in batches of 1024. "One thread" is in CPU time, which does not include other programs. "One worker" is in
// wall time, with one worker and the consumer's thread.
#include <filesystem>

#include "bench/pipelines/report.h"
#include "stoker/codecs/example.h"
#include "stoker/codecs/tfrecord.h"

namespace stoker::bench {
namespace {

std::string record_of(size_t bytes, int64_t number) {
  const auto with = [&](size_t payload) {
    ExampleWriter writer;
    writer.set("image", std::string(payload, static_cast<char>('a' + number % 26)));
    writer.set("label", std::vector<int64_t>{number % 1000});
    writer.set("size", std::vector<float>{224, static_cast<float>(number % 100)});
    return writer.serialized();
  };
  const size_t payload = bytes - with(0).size();
  const size_t too_long = with(payload).size() - bytes;  // a longer payload needs more bytes for its length
  return with(payload - too_long);
}

// Writes a file of at least this many bytes and returns the number of its records.
int64_t write_file(const std::filesystem::path& path, size_t record_bytes, int64_t file_bytes) {
  std::ofstream file(path, std::ios::binary);
  std::string block;
  int64_t records = 0;
  for (int64_t written = 0; written < file_bytes; written += static_cast<int64_t>(block.size())) {
    block.clear();
    while (block.size() < (1 << 20)) append_record(block, record_of(record_bytes, records++));
    file.write(block.data(), static_cast<std::streamsize>(block.size()));
  }
  if (!file.flush()) fail("the file of records could not be written");
  return records;
}

Dataset parsed(const std::string& file) {
  return Dataset::tfrecord({.filenames = {file}}).map({.map_func = [](Value record) {
    return io::parse_single_example(record, {{.key = "image", .dtype = DType::kBytes},
                                             {.key = "label", .dtype = DType::kInt64},
                                             {.key = "size", .shape = {2}, .dtype = DType::kFloat32}});
  }});
}

struct Case {
  std::string name;
  size_t record_bytes;
  int64_t batch;  // 0: no batches
  std::string unit;
  std::optional<double> at_least;
};
const Case kCases[] = {
    {"100 KB", 100'000, 0, "GB/s", 8},
    {"100 bytes", 100, 0, "million/s", std::nullopt},
    {"100 bytes in batches", 100, 1024, "million/s", 5},
};

double cpu_seconds_of(Loader& loader) {
  const double begin = cpu_now();
  drain(loader);
  return cpu_now() - begin;
}

void measure(const Case& one, const std::filesystem::path& file, Report& report) {
  const int64_t records = write_file(file, one.record_bytes, report.quick() ? 32 << 20 : 256 << 20);
  const double work = one.unit == "GB/s" ? static_cast<double>(std::filesystem::file_size(file)) / 1e9
                                         : static_cast<double>(records) / 1e6;
  const Dataset each = parsed(file.string());
  const Dataset dataset = one.batch ? each.batch({.batch_size = one.batch}) : each;
  std::vector<double> alone, with_worker;
  for (int round = 0; round < (report.quick() ? 3 : 9); ++round) {
    configure({.workers = 0});
    Loader on_one(dataset);
    alone.push_back(work / cpu_seconds_of(on_one));
    configure({.workers = 1});
    Loader loader(dataset);
    with_worker.push_back(work / seconds_of([&] { drain(loader); }));
  }
  const std::string name = "records of " + one.name;
  report.add({.name = name + ", one thread", .value = median(alone), .unit = one.unit, .at_least = one.at_least});
  report.add({.name = name + ", one worker", .value = median(with_worker), .unit = one.unit});
}

int run(Report& report) {
  const auto folder = std::filesystem::temp_directory_path() / ("stoker-records-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  for (const Case& one : kCases) measure(one, folder / "records", report);
  std::filesystem::remove_all(folder);
  return report.end();
}

const Benchmark benchmark("records", &run);

}  // namespace
}  // namespace stoker::bench
