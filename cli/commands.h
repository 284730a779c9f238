#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The commands, one function and one file each. They print and return what the
// process returns; main.cc reads the command line into their options.
namespace stoker::cli {

constexpr int kFine = 0;
constexpr int kBadData = 1;   // an element failed, a result could not be written
constexpr int kWrongUse = 2;  // the command line, or a graph or checkpoint that cannot be used

struct StagesOptions {
  std::string name;  // of one stage or operation; empty: all
  bool json = false;
};
int stages(const StagesOptions& options);

struct RunOptions {
  std::string graph;
  std::optional<int64_t> limit;  // elements
  bool print = true;
  std::string save;                 // where the state goes; empty: nowhere
  std::string restore;              // where it comes from; empty: from the start
  std::optional<bool> skip_errors;  // nothing: what the graph says
};
int run(const RunOptions& options);

struct ExplainOptions {
  std::string graph;
  bool json = false;
};
int explain(const ExplainOptions& options);

struct BenchOptions {
  std::string graph;
  double seconds = 5;
  bool json = false;
};
int bench(const BenchOptions& options);

struct ReplayOptions {
  std::string graph;
  std::string at;
  bool json = false;
};
int replay(const ReplayOptions& options);

constexpr int kPackQuality = 95;

struct PackOptions {
  std::string source;             // folder of pictures or idx files, idx file, tar or TFRecord files
  std::string target;             // the folder that the shards go to
  std::string labels;             // CSV, or the idx file of the labels; empty: folders are the classes
  std::string name;               // of the shards; empty: the source's
  std::optional<int64_t> shards;  // nothing: as many as give 128 MB each
  int64_t seed = 0;
  std::string split;              // "train=0.9,validation=0.1"; empty: none
  std::optional<int64_t> resize;  // pixels of the short side at most
  std::optional<int> quality;     // of what is resized; nothing: kPackQuality
  std::string image_feature;      // of TFRecord sources; empty: found
  std::string label_feature;
  bool keep_bytes = false;  // JPEG as it was found, without restart markers
  bool skip_errors = false;
  bool overwrite = false;
  bool quiet = false;
  bool json = false;
};
int pack(const PackOptions& options);

struct IndexOptions {
  std::vector<std::string> paths;  // files, folders, patterns
  std::string label;               // the int64 feature to keep of each record; empty: none
  bool quiet = false;
  bool json = false;
};
int index(const IndexOptions& options);

struct VerifyOptions {
  std::vector<std::string> paths;  // files, folders, patterns
  bool pictures = true;            // false: only checksums
  bool quiet = false;
  bool json = false;
};
int verify(const VerifyOptions& options);

struct InspectOptions {
  std::vector<std::string> paths;  // files, folders, patterns
  std::string sheet;               // where a contact sheet goes, .png or .html; empty: nowhere
  int64_t limit = 64;              // pictures on it
  bool quiet = false;
  bool json = false;
};
int inspect(const InspectOptions& options);

struct DemoOptions {
  double seconds = 3;  // of the live part
};
int demo(const DemoOptions& options);

// What completion needs to know of the command line.
struct OptionWords {
  std::string name;  // "--limit"
  std::string doc;
  bool takes_value = false;
  bool takes_file = false;
  std::vector<std::string> choices;
};
struct CommandWords {
  std::string name;
  std::string doc;
  std::vector<OptionWords> options;
  int files = 0;                       // how many of its arguments are files
  bool many_files = false;             // the last of them stands for any number
  std::vector<std::string> arguments;  // that may stand there
};
int completion(const std::string& shell, const std::vector<CommandWords>& commands);

}  // namespace stoker::cli
