// `stoker pack`: pictures and idx files into TFRecord shards.
#include "cli/pack.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <future>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/pack_work.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/unpacked.h"
#include "stoker/api/loader.h"
#include "stoker/codecs/example.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/core/hash.h"
#include "stoker/transforms/skip.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kShardBytes = int64_t{128} << 20;
constexpr int64_t kMostShards = 99999;  // five digits
constexpr size_t kMostListed = 20;

struct Written {
  std::vector<std::string> shards;  // names
  ShardNotes all;
  int64_t continued = 0;  // shards that an earlier run had written
};

// ---- before anything is written

Result<void> check_source(const std::string& source) {
  struct stat found{};
  if (stat(source.c_str(), &found) != 0) {
    const Error why = Error::io("cannot look at ", source);
    return Error::precondition(why.message(), "; SRC is a folder of pictures, or idx, tar or TFRecord files");
  }
  if (S_ISDIR(found.st_mode) || S_ISREG(found.st_mode)) return {};
  return Error::precondition(source, " is neither a folder nor a file");
}

Result<void> check_name(const std::string& name) {
  if (name.find_first_of(std::string_view("/\n\0", 3)) == std::string::npos) return {};
  return Error::precondition("--name '", name, "' would be no file name in DST; it begins the names of the shards");
}

std::string own_name(const std::string& folder) {
  std::error_code unknown;
  fs::path path = fs::absolute(folder, unknown).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.has_filename() ? path.filename().string() : "data";
}

// Of a file or pattern: "train" of train-{000..010}.tar or train-*.tfrecord.
std::string samples_name(const std::string& source) {
  const fs::path path(source);
  std::string name = fs::is_directory(path) ? own_name(source) : fs::path(name_unpacked(source)).stem().string();
  name = name.substr(0, name.find_first_of("*?["));
  while (name.ends_with('-') || name.ends_with('_') || name.ends_with('.')) name.pop_back();
  return name.empty() ? "data" : name;
}

Result<void> check_options(const PackOptions& options) {
  STOKER_TRY(check_name(options.name));
  if (options.resize && options.keep_bytes)
    return Error::precondition("--resize and --keep-bytes: pictures are made smaller, or kept as they are");
  if (options.quality && !options.resize)
    return Error::precondition("--quality is that of the pictures which --resize makes smaller");
  return {};
}

Result<PackInput> input_of(PackOptions options, BadFiles& bad) {
  STOKER_TRY(check_options(options));
  if (const SampleFiles samples = sample_files(options.source); !samples.paths.empty()) {
    if (options.name.empty() && options.split.empty()) options.name = samples_name(options.source);
    return sample_input(options, samples, bad);
  }
  STOKER_TRY(check_source(options.source));
  bad.below(fs::is_directory(options.source) ? options.source : fs::path(options.source).parent_path().string());
  if (is_idx_source(options.source)) return idx_input(options);
  if (options.name.empty() && options.split.empty()) options.name = own_name(options.source);
  return picture_input(options, bad);
}

std::string text_of_classes(const std::vector<std::string>& classes) {
  std::string text;
  for (const std::string& name : classes) text += name + "\n";
  return text;
}

// "train-00003-of-00008.tfrecord"
bool is_shard_of(std::string_view file, const std::string& name) {
  constexpr std::string_view kPattern = "-00000-of-00000.tfrecord";  // 0: a digit
  if (!file.starts_with(name) || file.size() != name.size() + kPattern.size()) return false;
  return std::ranges::equal(file.substr(name.size()), kPattern, [](char found, char wanted) {
    return wanted == '0' ? std::isdigit(static_cast<unsigned char>(found)) != 0 : found == wanted;
  });
}

// Shards in the target under one of the names to be written.
std::vector<std::string> old_shards(const std::string& target, const PackInput& input) {
  std::vector<std::string> old;
  std::error_code none;
  for (fs::directory_iterator at(target, none); !none && at != fs::directory_iterator(); at.increment(none))
    for (const Split& split : input.splits)
      if (is_shard_of(at->path().filename().string(), split.name)) old.push_back(at->path().string());
  return old;
}

Result<void> check_classes(const PackInput& input) {
  for (const std::string& name : input.classes)
    if (name.find('\n') != std::string::npos)
      return Error::corrupt("the class '", name, "' has a line break in its name, and labels.txt one class a line");
  return {};
}

// Labels of other shards there would mean something else.
Result<void> check_labels_file(const std::string& path, const PackInput& input) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return {};
  STOKER_TRY(const std::string text, read_text_file(path));
  if (text == text_of_classes(input.classes)) return {};
  return Error::precondition(path, " is there already and names other classes; choose another folder, or --overwrite");
}

Result<int64_t> shard_count(const PackOptions& options, const Split& split) {
  if (!options.shards) return std::max<int64_t>(1, std::min({split.bytes / kShardBytes, split.count, kMostShards}));
  if (*options.shards <= split.count) return *options.shards;
  return Error::precondition("--shards ", *options.shards, " for ", split.count, " records of '", split.name,
                             "' leaves some empty; at most ", split.count);
}

Result<void> check_input(const PackOptions& options, const PackInput& input) {
  STOKER_TRY(check_classes(input));
  for (const Split& split : input.splits) STOKER_TRY(shard_count(options, split));
  return {};
}

// All that the bytes of the shards hang on.
std::string text_of_input(const PackOptions& options, const PackInput& input) {
  std::string text = fmt::format("stoker pack 1\n{} {} {} {} {} {}\n", hex_of(input.mark), options.seed,
                                 options.keep_bytes, options.resize.value_or(0), options.quality.value_or(kPackQuality),
                                 hex_of(hash_of(text_of_classes(input.classes))));
  for (const Split& split : input.splits)
    text += fmt::format("{} {} {}\n", split.name, split.count, *shard_count(options, split));
  return text;
}

Result<void> check_target(const PackOptions& options, const PackInput& input) {
  if (options.overwrite) return {};
  // Shards of a run that was stopped at its end are this one's.
  if (PackWork::is_giving_places(options.target, input.splits[0].name, text_of_input(options, input))) return {};
  const std::vector<std::string> old = old_shards(options.target, input);
  if (!old.empty())
    return Error::precondition(*std::ranges::min_element(old),
                               " is there already; --overwrite replaces the shards of that name, --name gives another");
  return check_labels_file(options.target + "/labels.txt", input);
}

// ---- writing

class ShardWriter {
 public:
  ShardWriter(const PackOptions& options, PackWork& work, int64_t records, BadFiles& bad)
      : options_(options),
        work_(work),
        bad_(bad),
        progress_({"pictures", records, Progress::By::kThings, options.quiet}) {}

  Result<void> write(const Split& split) {
    STOKER_TRY(const int64_t shards, shard_count(options_, split));
    const auto name_of = [&](int64_t shard) {
      return fmt::format("{}-{:05}-of-{:05}.tfrecord", split.name, shard, shards);
    };
    const auto end_of = [&](int64_t shard) { return split.count * (shard + 1) / shards; };
    int64_t shard = 0, at = 0;
    for (; shard < shards; at = end_of(shard++)) {
      const std::optional<ShardNotes> before = work_.finished(name_of(shard));
      if (!before) break;
      STOKER_TRY(take(name_of(shard), *before, end_of(shard) - at));
    }
    if (shard == shards) return {};
    Loader loader(split.records.skip({.count = at}), {.interrupted = [] { return interrupted(); }});
    for (; shard < shards; ++shard) {
      STOKER_TRY(PartialFile file, work_.begin(name_of(shard)));
      ShardNotes notes;
      const size_t bad_before = bad_.all().size();
      for (; at < end_of(shard); ++at) STOKER_TRY(write_record(split, at, loader, file, notes));
      notes.skipped.assign(bad_.all().begin() + static_cast<std::ptrdiff_t>(bad_before), bad_.all().end());
      STOKER_TRY(wait());
      add(name_of(shard), notes);
      finish(std::move(file), std::move(notes));
    }
    return {};
  }

  // Until the last shard is on the disk.
  Result<void> wait() { return finishing_.valid() ? finishing_.get() : Result<void>(); }

  const Written& written() const { return written_; }

 private:
  // What an earlier run has written.
  Result<void> take(const std::string& name, const ShardNotes& notes, int64_t records) {
    for (const BadFile& file : notes.skipped) STOKER_TRY(bad_.add(file.path, Error::corrupt(file.error)));
    progress_.advance(records, 0);
    ++written_.continued;
    add(name, notes);
    return {};
  }

  void add(const std::string& name, const ShardNotes& notes) {
    written_.shards.push_back(options_.target + "/" + name);
    written_.all.records += notes.records;
    written_.all.bytes += notes.bytes;
    written_.all.resized += notes.resized;
    written_.all.turned += notes.turned;
  }

  Result<void> write_record(const Split& split, int64_t at, Loader& loader, PartialFile& file, ShardNotes& notes) {
    const Result<std::optional<Element>> next = loader.next();
    if (interrupted()) return Error::cancelled();
    if (!next) {
      progress_.advance(1, 0);
      return bad_.add(split.path_of(at), next.error());
    }
    const Element& record = *next.value();
    const auto how = record[3].scalar<int64_t>();
    const int64_t bytes = record.byte_size() - record[3].byte_size();
    ++notes.records;
    notes.bytes += bytes;
    notes.resized += (how & kResized) != 0 ? 1 : 0;
    notes.turned += (how & kTurned) != 0 ? 1 : 0;
    progress_.advance(1, bytes);
    for (size_t piece = 0; piece < 3; ++piece) STOKER_TRY(file.append(record[piece].bytes()));
    return {};
  }

  // The disk is waited for while the next shard is written.
  void finish(PartialFile file, ShardNotes notes) {
    finishing_ = std::async(std::launch::async, [this, file = std::move(file), notes = std::move(notes)]() mutable {
      return work_.finish(std::move(file), notes);
    });
  }

  const PackOptions& options_;
  PackWork& work_;
  BadFiles& bad_;
  Progress progress_;
  Written written_;
  std::future<Result<void>> finishing_;
};

// Gives everything its name.
Result<void> keep(const PackOptions& options, const PackInput& input, PackWork& work, const Written& written) {
  std::vector<std::string> names;
  for (const std::string& shard : written.shards) names.push_back(fs::path(shard).filename().string());
  STOKER_TRY(work.begin_to_keep(names, text_of_classes(input.classes)));
  for (const std::string& old : old_shards(options.target, input))
    if (std::ranges::find(written.shards, old) == written.shards.end() && unlink(old.c_str()) != 0)
      return Error::io("cannot replace ", old);
  for (const std::string& name : names) STOKER_TRY(work.keep(name));
  if (!input.classes.empty())
    STOKER_TRY(work.keep(PackWork::kLabels));
  else
    unlink((options.target + "/" + PackWork::kLabels).c_str());
  return work.remove();
}

Result<void> write_all(ShardWriter& writer, const PackInput& input) {
  Result<void> done;
  for (const Split& split : input.splits)
    if (done) done = writer.write(split);
  const Result<void> on_disk = writer.wait();
  return done ? on_disk : done;
}

Result<Written> write(const PackOptions& options, const PackInput& input, BadFiles& bad) {
  const Uninterrupted until_done;  // the loop ends at once by itself, and removes what it began
  int64_t records = 0;
  for (const Split& split : input.splits) records += split.count;
  STOKER_TRY(PackWork work, PackWork::open(options.target, input.splits[0].name, text_of_input(options, input)));
  ShardWriter writer(options, work, records, bad);
  if (Result<void> done = write_all(writer, input); !done) {
    if (work.whole_shards() > 0 && !options.quiet)
      remark(fmt::format("{} kept in {}; the same command goes on from there",
                         plural(work.whole_shards(), "whole shard is", "whole shards are"), work.folder()));
    return std::move(done).error();
  }
  const Written& written = writer.written();
  if (written.all.records == 0) {
    STOKER_TRY(work.remove());
    return Error::corrupt("none of the ", bad.all().size(), " files could be packed; the first is ", bad.all()[0].path,
                          ": ", bad.all()[0].error);
  }
  STOKER_TRY(keep(options, input, work, written));
  return written;
}

// ---- telling

Json json_of(const Written& written, const PackInput& input, const BadFiles& bad) {
  Json json = Json::dict(), shards = Json::list(), classes = Json::list(), skipped = Json::list();
  for (const std::string& path : written.shards) shards.push(json_text(path));
  for (const std::string& name : input.classes) classes.push(json_text(name));
  for (const BadFile& file : bad.all()) {
    Json one = Json::dict();
    one.set("path", json_text(file.path));
    one.set("error", json_text(file.error));
    skipped.push(std::move(one));
  }
  json.set("records", written.all.records);
  json.set("bytes", written.all.bytes);
  json.set("shards", std::move(shards));
  json.set("classes", std::move(classes));
  json.set("skipped", std::move(skipped));
  json.set("left_out", input.left_out);
  json.set("resized", written.all.resized);
  json.set("turned", written.all.turned);
  json.set("continued", written.continued);
  return json;
}

void say_what_was_written(const PackOptions& options, const Written& written, const PackInput& input, double seconds) {
  print_line(fmt::format("{} in {}, {}, in {}", plural(written.all.records, "record", "records"),
                         plural(static_cast<int64_t>(written.shards.size()), "shard", "shards"),
                         bytes_words(static_cast<double>(written.all.bytes)), seconds_words(seconds)));
  const size_t listed = std::min(written.shards.size(), kMostListed);
  for (size_t i = 0; i < listed; ++i) print_line("  " + written.shards[i]);
  if (written.shards.size() > listed) print_line(fmt::format("  and {} more", written.shards.size() - listed));
  if (!input.classes.empty())
    print_line(fmt::format("  {}/labels.txt: {}", options.target,
                           plural(static_cast<int64_t>(input.classes.size()), "class", "classes")));
  if (written.all.resized > 0)
    print_line("  " + plural(written.all.resized, "picture was", "pictures were") + " made smaller");
  if (written.all.turned > 0)
    print_line(fmt::format("  {} turned upright as EXIF says; the tag is gone",
                           plural(written.all.turned, "picture was", "pictures were")));
  if (written.continued > 0)
    print_line(fmt::format("  {} written by an earlier run", plural(written.continued, "shard was", "shards were")));
  if (input.left_out > 0)
    print_line(fmt::format("  {} left out: hidden, or named as something else",
                           plural(input.left_out, "file was", "files were")));
}

void list_skipped(const BadFiles& bad) {
  if (bad.all().empty()) return;
  const auto count = static_cast<int64_t>(bad.all().size());
  remark(plural(count, "file was", "files were") + " skipped:");
  for (const BadFile& file : std::span(bad.all()).first(std::min(bad.all().size(), kMostListed)))
    remark("  " + file.path + "  " + file.error);
  if (bad.all().size() > kMostListed)
    remark(fmt::format("  and {} more; --json lists all", grouped(count - static_cast<int64_t>(kMostListed))));
}

}  // namespace

Result<void> BadFiles::add(const std::string& path, const Error& error) {
  if (skip_) {
    all_.push_back({path, error.message()});
    return {};
  }
  const std::string whole = folder_ + path;
  const std::string& message = error.message();
  const std::string& named = error.place().path.empty() ? whole : error.place().path;
  return Error::corrupt(message.find(named) == std::string::npos ? whole + ": " : "", message,
                        "; mend or remove it, or leave such files out by --on-error skip");
}

PackedRecord record_of(Array image, int64_t label, Bytes path, int64_t how) {
  ExampleWriter example;
  example.set("label", std::span<const int64_t>(&label, 1));
  example.set("path", path);
  const ExampleWriter::Around around = example.serialized_around("image", image.bytes().size());
  const Bytes payload[] = {around.before, image.bytes(), around.behind};
  const RecordFrame frame = frame_of(payload);
  return {Array::of_bytes(frame.header + around.before), std::move(image),
          Array::of_bytes(around.behind + frame.footer), how};
}

int pack(const PackOptions& options) {
  const Clock::time_point begun = Clock::now();
  BadFiles bad(options.skip_errors);
  const Result<PackInput> input = input_of(options, bad);
  if (!input) return refuse(input.error());
  if (const Result<void> checked = check_input(options, *input); !checked) return refuse(checked.error());
  const Result<PackLock> alone = PackLock::take(options.target);
  if (!alone) return refuse(alone.error());
  if (const Result<void> checked = check_target(options, *input); !checked) return refuse(checked.error());
  const Result<Written> written = write(options, *input, bad);
  if (!written) return refuse(written.error());
  if (options.json)
    print_line(json_of(*written, *input, bad).text(2));
  else if (!options.quiet)
    say_what_was_written(options, *written, *input, seconds_since(begun));
  if (!options.quiet) list_skipped(bad);
  return kFine;
}

}  // namespace stoker::cli
