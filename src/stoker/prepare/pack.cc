// Checks what pack() reads and replaces, and gives complete shards their final names.
#include "stoker/prepare/pack.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "stoker/core/hash.h"
#include "stoker/io/file.h"
#include "stoker/prepare/outcomes.h"
#include "stoker/prepare/pack_input.h"
#include "stoker/prepare/pack_shards.h"
#include "stoker/prepare/pack_work.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

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

// Existing shards in the target with one of the names to write.
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
      return Error::corrupt("the name of the class '", name,
                            "' has a line break, and labels.txt has one class per line; rename its folder");
  return {};
}

// Replacing labels.txt would change the meaning of the labels in other shards there.
Result<void> check_labels_file(const PackOptions& options, const PackInput& input) {
  const std::string path = options.destination + "/" + PackWork::kLabels;
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return {};
  STOKER_TRY(const std::string text, read_file(path));
  if (text == text_of_classes(input.classes)) return {};
  return Error::precondition(path, " exists and lists other classes; choose another folder, or use ",
                             option_name(options.option_names, "overwrite"));
}

Result<void> check_input(const PackOptions& options, const PackInput& input) {
  STOKER_TRY(check_classes(input));
  for (const Split& split : input.splits) STOKER_TRY(shard_count(options, split));
  return {};
}

// Everything that determines the bytes of the shards.
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
  // Shards that an earlier run of this input had started to rename belong to this run.
  if (PackWork::is_giving_places(options.destination, input.splits[0].name, text_of_input(options, input))) return {};
  const std::vector<std::string> old = old_shards(options.destination, input);
  if (!old.empty())
    return Error::precondition(
        *std::ranges::min_element(old), " exists; use ", option_name(options.option_names, "overwrite"),
        " to replace the shards of that name, or ", option_name(options.option_names, "name"), " for another");
  return check_labels_file(options, input);
}

// Renames all files to their final names, and removes old shards.
Result<void> keep(const PackOptions& options, const PackInput& input, PackWork& work, const PackResult& written) {
  std::vector<std::string> names;
  for (const std::string& shard : written.shards) names.push_back(fs::path(shard).filename().string());
  STOKER_TRY(work.begin_to_keep(names, text_of_classes(input.classes)));
  for (const std::string& old : old_shards(options.destination, input))
    if (std::ranges::find(written.shards, old) == written.shards.end() && unlink(old.c_str()) != 0)
      return Error::io("cannot replace ", old);
  for (const std::string& name : names) STOKER_TRY(work.keep(name));
  if (!input.classes.empty())
    STOKER_TRY(work.keep(PackWork::kLabels));
  else
    unlink((options.destination + "/" + PackWork::kLabels).c_str());
  return work.remove();
}

Error all_skipped(const BadFiles& bad) {
  const size_t count = bad.all().size();
  return Error::corrupt("no file could be packed: ", count, count == 1 ? " file was" : " files were",
                        " skipped; first error: ", bad.all()[0].path, ": ", bad.all()[0].error);
}

Result<PackResult> write(const PackOptions& options, const PackInput& input, BadFiles& bad,
                         const OnProgress& on_progress, UnfinishedPack* unfinished) {
  STOKER_TRY(PackWork work, PackWork::open(options.destination, input.splits[0].name, text_of_input(options, input)));
  ShardWriter writer(options, work, input, bad, on_progress);
  if (Result<void> done = writer.write_all(); !done) {
    if (unfinished) *unfinished = {work.folder(), work.whole_shards()};
    return std::move(done).error();
  }
  PackResult result = writer.written();
  if (result.records == 0) {
    STOKER_TRY(work.remove());
    return all_skipped(bad);
  }
  STOKER_TRY(keep(options, input, work, result));
  result.classes = input.classes;
  result.skipped = bad.all();
  result.left_out = input.left_out;
  return result;
}

}  // namespace

Result<PackResult> pack(const PackOptions& options, const OnProgress& on_progress, UnfinishedPack* unfinished) {
  return returned([&]() -> Result<PackResult> {
    BadFiles bad(options);
    STOKER_TRY(const PackInput input, find_pack_input(options, bad, on_progress));
    STOKER_TRY(check_input(options, input));
    STOKER_TRY(const PackLock alone, PackLock::take(options.destination));
    STOKER_TRY(check_target(options, input));
    return write(options, input, bad, on_progress, unfinished);
  });
}

}  // namespace stoker::prepare
