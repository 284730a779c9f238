// `stoker pack`: prints what prepare::pack() returns.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/commands.h"
#include "cli/data.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace stoker::cli {
namespace {

Json json_of(const prepare::PackResult& result) {
  Json json = Json::dict(), shards = Json::list(), classes = Json::list(), skipped = Json::list();
  for (const std::string& path : result.shards) shards.push(json_text(path));
  for (const std::string& name : result.classes) classes.push(json_text(name));
  for (const prepare::SkippedFile& file : result.skipped) {
    Json one = Json::dict();
    one.set("path", json_text(file.path));
    one.set("error", json_text(file.error));
    skipped.push(std::move(one));
  }
  json.set("records", result.records);
  json.set("bytes", result.bytes);
  json.set("shards", std::move(shards));
  json.set("classes", std::move(classes));
  json.set("skipped", std::move(skipped));
  json.set("left_out", result.left_out);
  json.set("resized", result.resized);
  json.set("turned", result.turned);
  json.set("continued", result.continued);
  return json;
}

void print_summary(const prepare::PackOptions& options, const prepare::PackResult& result, double seconds) {
  print_line(fmt::format("{} in {}, {}, in {}", plural(result.records, "record", "records"),
                         plural(static_cast<int64_t>(result.shards.size()), "shard", "shards"),
                         bytes_text(static_cast<double>(result.bytes)), seconds_text(seconds)));
  const size_t listed = std::min(result.shards.size(), kMostListed);
  for (size_t i = 0; i < listed; ++i) print_line("  " + result.shards[i]);
  if (result.shards.size() > listed) print_line(fmt::format("  and {} more", result.shards.size() - listed));
  if (!result.classes.empty())
    print_line(fmt::format("  {}/labels.txt: {}", options.destination,
                           plural(static_cast<int64_t>(result.classes.size()), "class", "classes")));
  if (result.resized > 0) print_line("  " + plural(result.resized, "image was", "images were") + " shrunk");
  if (result.turned > 0)
    print_line(fmt::format("  {} rotated by the EXIF orientation, and the tag was removed",
                           plural(result.turned, "image was", "images were")));
  if (result.continued > 0)
    print_line(fmt::format("  {} written by an earlier run", plural(result.continued, "shard was", "shards were")));
  if (result.left_out > 0)
    print_line(fmt::format("  {} skipped: hidden, or with an extension of no image format",
                           plural(result.left_out, "file was", "files were")));
}

void list_skipped(const prepare::PackResult& result) {
  if (result.skipped.empty()) return;
  const auto count = static_cast<int64_t>(result.skipped.size());
  remark(plural(count, "file was", "files were") + " skipped:");
  for (const prepare::SkippedFile& file : std::span(result.skipped).first(std::min(result.skipped.size(), kMostListed)))
    remark("  " + file.path + "  " + file.error);
  if (result.skipped.size() > kMostListed)
    remark(fmt::format("  and {} more; --json lists all", grouped(count - static_cast<int64_t>(kMostListed))));
}

}  // namespace

int pack(const prepare::PackOptions& options, const PrintOptions& how) {
  const Clock::time_point begun = Clock::now();
  ProgressLine progress(how.quiet);
  prepare::UnfinishedPack unfinished;
  const Result<prepare::PackResult> result = prepare::pack(options, progress.updates(), &unfinished);
  progress.clear();
  if (unfinished.shards > 0 && !how.quiet)
    remark(fmt::format("{} kept in {}; the same command continues from there",
                       plural(unfinished.shards, "complete shard is", "complete shards are"), unfinished.folder));
  if (!result) return refuse(result.error(), {options.source});
  if (how.json)
    print_line(json_of(*result).text(2));
  else if (!how.quiet)
    print_summary(options, *result, seconds_since(begun));
  if (!how.quiet) list_skipped(*result);
  return kFine;
}

const char* const kPackHelp = R"(
SRC is one of:
  - a folder with one folder per class: SRC/cat/1.jpg, SRC/dog/a/2.png, ...
  - a folder of images, with --labels for a CSV file of lines path,label
  - a folder with MNIST's files: train-images-idx3-ubyte, train-labels-idx1-ubyte,
    t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte, each plain or .gz
  - a file of idx images, with --labels for the idx file of their labels
  - tar files in WebDataset's layout (jpg or png, and cls or json with a label):
    one file, a folder of them, or a pattern such as 'train-*.tar'
  - TFRecord files of images and labels: one file, a folder of them, or a pattern
Tar and TFRecord files may be compressed with GZIP, ZLIB or zstd. They are first
decompressed into a hidden folder in DST.

Output. DST gets the shards NAME-00000-of-00008.tfrecord and so on, and labels.txt
with the classes in byte order, one per line. The label of an image is the number
of its line, starting with 0. A record is a tf.train.Example with image (the bytes
of the file; PNG for idx), label (int64) and path (relative to SRC). MNIST's files
become the shards 'train' and 'test', or NAME-train and NAME-test with --name. A
summary is printed.

Order. The same input, seed and options produce the same bytes with any number of
workers.

Interruption. The files in DST change only when all shards are complete. A run
that fails or is stopped keeps its complete shards in DST/.NAME.packing. The same
command continues from there; with other input or options it starts again. While
one `stoker pack` runs, a second one into the same DST is rejected.

--split assigns each record by its path and the seed alone. Adding records later
moves none from 'train' to 'validation'. The names of the shares become the names
of the shards.

--resize shrinks images as Pillow does, applies their EXIF orientation, removes
the orientation tag, and writes JPEG. Images that are small enough and upright
are not changed.

Checks. JPEG, PNG, GIF, BMP and WebP images are recognized by their first bytes.
The header is read, and the file must be complete. Another file, or one that is
cut, stops the command; with --on-error skip it is skipped and listed at the end.
Hidden files and files with other extensions (.txt, .csv, .json, ...) are skipped
and counted. With --labels, only the images that the CSV file lists are packed. A
listed file that does not exist stops the command, even with --on-error skip.

Examples:
  stoker pack photos packed                      one folder per class
  stoker pack photos packed --labels labels.csv  labels from lines path,label
  stoker pack mnist packed                       packed/train-*, packed/test-*
  stoker pack images.gz packed --labels labels.gz --name all    one idx file
  stoker pack photos packed --shards 16 --seed 7 --overwrite
  stoker pack photos packed --split train=0.9,validation=0.1 --resize 256
  stoker pack 'train-*.tar' packed               shards of WebDataset
  stoker pack photos packed --on-error skip --json | jq .skipped

Exit codes: 0 success, also if files were skipped; 1 a file is bad, or DST could
not be written; 2 the command line is wrong, SRC does not exist, or DST already
has shards of that name; 130 interrupted by Ctrl-C.)";

}  // namespace stoker::cli
