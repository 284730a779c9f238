// How close is `stoker pack` to the limits of the disk and of libjpeg, and how fast does `stoker verify` check records?
//
// Packs a folder of photographs (`--photographs FOLDER`, one folder per class) several times, so that it takes seconds.
// "As found" is compared with one thread that reads the files one after the other, writes their bytes to one file and
// waits for the disk. "Restart markers" is compared with threads that only call jpeg_read_coefficients and
// jpeg_write_coefficients, with optimized Huffman codes. Both include starting the program. "Verify" checks 2 GB of
// records of 100 KB in the page cache. Files are written to `--work FOLDER`, by default the system's temporary folder.
#include "bench/pipelines/photographs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "stoker/codecs/tfrecord.h"
#include "stoker/io/file.h"

extern char** environ;

namespace stoker::bench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// Links the same images under many names; pack follows the links.
void link_often(const std::string& photographs, const fs::path& to, int times) {
  for (const auto& entry : fs::directory_iterator(photographs)) {
    if (!entry.is_directory()) continue;
    fs::create_directories(to / entry.path().filename());
    for (int i = 0; i < times; ++i)
      fs::create_directory_symlink(fs::absolute(entry.path()), to / entry.path().filename() / std::to_string(i));
  }
}

// Runs a command, discards its output and returns how long it took.
double command_seconds(std::vector<std::string> words) {
  posix_spawn_file_actions_t silent;
  posix_spawn_file_actions_init(&silent);
  posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const double seconds = seconds_of([&] {
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, arguments[0], &silent, nullptr, arguments.data(), environ) != 0)
      fail("cannot run " + words[0]);
    waitpid(child, &status, 0);
    if (status != 0) fail(words[0] + " " + words[1] + " failed");
  });
  posix_spawn_file_actions_destroy(&silent);
  return seconds;
}

double bare_copy_seconds(const std::vector<fs::path>& files, int times, const fs::path& to) {
  return seconds_of([&] {
    const int out = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    std::string buffer;
    const auto flush = [&] {
      for (size_t done = 0; done < buffer.size();) {
        const ssize_t n = write(out, buffer.data() + done, buffer.size() - done);
        if (n < 0) fail("cannot write " + to.string());
        done += static_cast<size_t>(n);
      }
      buffer.clear();
    };
    for (int i = 0; i < times; ++i)
      for (const fs::path& file : files) {
        buffer += *read_file(file.string());
        if (buffer.size() >= size_t{1} << 20) flush();
      }
    flush();
    if (fsync(out) != 0) fail("cannot write " + to.string());
    close(out);
  });
}

void rewrite(const std::string& image) {
  jpeg_decompress_struct from{};
  jpeg_compress_struct to{};
  jpeg_error_mgr errors{};
  from.err = to.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&from);
  jpeg_create_compress(&to);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_src(&from, reinterpret_cast<const unsigned char*>(image.data()), image.size());
  jpeg_mem_dest(&to, &bytes, &size);
  jpeg_read_header(&from, TRUE);
  jvirt_barray_ptr* coefficients = jpeg_read_coefficients(&from);
  jpeg_copy_critical_parameters(&from, &to);
  to.optimize_coding = TRUE;
  jpeg_write_coefficients(&to, coefficients);
  jpeg_finish_compress(&to);
  jpeg_finish_decompress(&from);
  jpeg_destroy_compress(&to);
  jpeg_destroy_decompress(&from);
  std::free(bytes);
}

double bare_rewrite_seconds(const std::vector<std::string>& images, int times, int threads) {
  return bare_threads(threads, static_cast<int64_t>(images.size()) * times,
                      [&](int64_t i) { rewrite(images[static_cast<size_t>(i) % images.size()]); });
}

void write_records(const fs::path& path, int64_t bytes) {
  std::string piece;
  for (int i = 0; i < 100; ++i) append_record(piece, std::string(100'000, static_cast<char>(i)));
  std::ofstream out(path, std::ios::binary);
  for (int64_t done = 0; done < bytes; done += static_cast<int64_t>(piece.size())) out << piece;
}

class Pack {
 public:
  explicit Pack(Report& report)
      : report_(report),
        stoker_(report.text("stoker", fs::path(report.program()).parent_path() / "stoker")),
        work_(fs::path(report.text("work", fs::temp_directory_path())) / ("stoker-bench-" + std::to_string(getpid()))),
        rounds_(report.quick() ? 1 : 5) {
    fs::create_directories(work_);
  }
  ~Pack() {
    std::error_code ignored;
    fs::remove_all(work_, ignored);
  }

  void as_found(const std::string& photographs) {
    const int times = report_.quick() ? 5 : 20;
    link_often(photographs, work_ / "often", times);
    const std::vector<fs::path> files = files_below(photographs);
    std::vector<double> share, rate;
    for (int round = 0; round < rounds_; ++round) {
      const double bare = bare_copy_seconds(files, times, work_ / "bare");
      const double ours = pack_seconds("often", {"--keep-bytes"});
      share.push_back(bare / ours);
      rate.push_back(static_cast<double>(fs::file_size(work_ / "bare")) / ours / 1e6);
      fs::remove(work_ / "bare");
    }
    report_.add(
        {.name = "as found, times a bare copy to the disk", .value = median(share), .unit = "", .at_least = 0.9});
    report_.add({.name = "as found", .value = median(rate), .unit = "MB/s"});
    fs::remove_all(work_ / "often");
  }

  void with_restart_markers(const std::string& photographs, int workers) {
    const int times = report_.quick() ? 1 : 4;
    link_often(photographs, work_ / "some", times);
    std::vector<std::string> images;
    for (const fs::path& file : files_below(photographs)) images.push_back(*read_file(file.string()));
    const auto n = static_cast<double>(images.size()) * times;
    std::vector<double> share, rate;
    for (int round = 0; round < rounds_; ++round) {
      const double bare = bare_rewrite_seconds(images, times, workers);
      const double ours = pack_seconds("some", {"--workers", std::to_string(workers)});
      share.push_back(bare / ours);
      rate.push_back(ours * workers / n * 1e3);
    }
    report_.add(
        {.name = "restart markers, times bare coefficients", .value = median(share), .unit = "", .at_least = 0.9});
    report_.add({.name = "restart markers, per image and core", .value = median(rate), .unit = "ms"});
    fs::remove_all(work_ / "some");
  }

  void verify() {
    const fs::path path = work_ / "records.tfrecord";
    write_records(path, report_.quick() ? 200'000'000 : 2'000'000'000);
    const auto bytes = static_cast<double>(fs::file_size(path));
    std::vector<double> rate;
    for (int round = 0; round < rounds_; ++round)
      rate.push_back(bytes / command_seconds({stoker_, "verify", path, "--no-images", "--quiet"}) / 1e9);
    report_.add({.name = "verify, records of 100 KB", .value = median(rate), .unit = "GB/s", .at_least = 3});
  }

 private:
  double pack_seconds(const char* source, const std::vector<std::string>& more) {
    std::vector<std::string> words{stoker_, "pack", work_ / source, work_ / "packed", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    const double seconds = command_seconds(std::move(words));
    fs::remove_all(work_ / "packed");
    return seconds;
  }

  Report& report_;
  const std::string stoker_;
  const fs::path work_;
  const int rounds_;
};

int run(Report& report) {
  const std::string photographs = report.text("photographs", "");
  Pack pack(report);
  if (photographs.empty()) {
    std::printf("  packing is skipped: requires --photographs FOLDER, with one folder of JPEG files per class\n");
  } else {
    pack.as_found(photographs);
    pack.with_restart_markers(photographs, cores());
  }
  pack.verify();
  return report.end();
}

const Benchmark benchmark("pack", &run);

}  // namespace
}  // namespace stoker::bench
