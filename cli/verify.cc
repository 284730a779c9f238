// `stoker verify`: prints what prepare::verify() returns.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/data.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace stoker::cli {
namespace {

Json json_of(const std::vector<prepare::Finding>& findings, const char* key) {
  Json list = Json::list();
  for (const prepare::Finding& finding : findings) {
    Json one = Json::dict();
    one.set("path", json_text(finding.path));
    if (finding.place) {
      one.set("offset", finding.place->offset);
      one.set("record", finding.place->record);
    }
    one.set(key, json_text(finding.message));
    list.push(std::move(one));
  }
  return list;
}

Json json_of(const prepare::VerifyResult& findings) {
  Json json = Json::dict();
  json.set("files", findings.files);
  json.set("bytes", findings.bytes);
  json.set("records", findings.records);
  json.set("images", findings.images);
  json.set("left_out", findings.left_out);
  json.set("bad", json_of(findings.bad, "error"));
  json.set("damaged", json_of(findings.damaged, "note"));
  return json;
}

void list(const std::vector<prepare::Finding>& findings, const char* heading) {
  if (findings.empty()) return;
  print_line(fmt::format("{} {}:", grouped(static_cast<int64_t>(findings.size())), heading));
  for (const prepare::Finding& finding : findings) {
    const std::string place =
        finding.place ? fmt::format(", record {} at byte {}", finding.place->record, finding.place->offset) : "";
    print_line("  " + harmless(finding.path + place + ": " + finding.message));
  }
}

void print_summary(const prepare::VerifyResult& findings, double seconds) {
  list(findings.bad, "bad");
  list(findings.damaged, "damaged but readable");
  const std::string rate = bytes_text(static_cast<double>(findings.bytes) / seconds);
  print_line(fmt::format("{}, {}, {}, {} in {}, {}/s", plural(findings.records, "record", "records"),
                         plural(findings.images, "image", "images"), plural(findings.files, "file", "files"),
                         bytes_text(static_cast<double>(findings.bytes)), seconds_text(seconds), rate));
  if (findings.left_out > 0)
    print_line(fmt::format("  {} skipped: hidden, or neither records nor images",
                           plural(findings.left_out, "file was", "files were")));
  if (findings.bad.empty())
    print_line(findings.damaged.empty() ? "no errors found" : "no errors found, but some images are damaged");
}

}  // namespace

int verify(const prepare::VerifyOptions& options, const PrintOptions& how) {
  const Clock::time_point begun = Clock::now();
  ProgressLine progress(how.quiet);
  const Result<prepare::VerifyResult> result = prepare::verify(options, progress.updates());
  progress.clear();
  if (!result) return refuse(result.error(), options.paths);
  if (how.json)
    print_line(json_of(*result).text(2));
  else
    print_summary(*result, seconds_since(begun));
  return result->bad.empty() ? kFine : kBadData;
}

const char* const kVerifyHelp = R"(
Computes both checksums of every record, in plain and compressed files, and
decodes every image completely: image files, and images in the features of
tf.train.Example records. The first records of a file determine which features
contain images; a later record with something else in such a feature is bad.

Bad records and images are listed with their file, record and byte. An image that
libjpeg decodes with a warning is listed as damaged but readable, and does not
change the exit code. Hidden files, and files that are neither records nor images
by their first bytes and names, are skipped and counted.

Examples:
  stoker verify packed                           all files in a folder
  stoker verify photos                           a folder of images
  stoker verify 'train-*.tfrecord' --no-images only the checksums
  stoker verify packed --json | jq -r '.bad[].path'

Exit codes: 0 no record and no image is bad; 1 some are; 2 DATA does not exist or
has neither records nor images; 130 interrupted by Ctrl-C.)";

}  // namespace stoker::cli
