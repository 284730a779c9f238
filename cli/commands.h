#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/prepare/index.h"
#include "stoker/prepare/inspect.h"
#include "stoker/prepare/pack.h"
#include "stoker/prepare/verify.h"

// The commands of `stoker`: one file each, with the function and the end of the help text. A command prints its
// result and returns the exit code of the process. main.cc parses the command line into the options.
namespace stoker::cli {

// Exit codes.
constexpr int kFine = 0;
constexpr int kBadData = 1;   // an element failed, data is damaged, or a result could not be written
constexpr int kWrongUse = 2;  // the command line is wrong, or a graph or checkpoint is missing or invalid

struct StagesOptions {
  std::string name;  // of a stage or operation; empty: all
  bool json = false;
};
int stages(const StagesOptions& options);

struct RunOptions {
  std::string graph;
  std::optional<int64_t> limit;  // elements
  bool print = true;
  std::string save;                 // file to write the state to; empty: the state is not saved
  std::string restore;              // file to read the state from; empty: start at the first element
  std::optional<bool> skip_errors;  // nullopt: as in the graph
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

// How `pack`, `index`, `verify` and `inspect` print.
struct PrintOptions {
  bool quiet = false;
  bool json = false;
};
int pack(const prepare::PackOptions& options, const PrintOptions& print);
int index(const prepare::IndexOptions& options, const PrintOptions& print);
int verify(const prepare::VerifyOptions& options, const PrintOptions& print);
int inspect(const prepare::InspectOptions& options, const PrintOptions& print);

struct DemoOptions {
  double seconds = 3;  // duration of the first part
};
int demo(const DemoOptions& options);

// The options and commands, as `completion` needs them.
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
  int files = 0;                       // number of positional arguments that are files
  bool many_files = false;             // the last of them may be repeated
  std::vector<std::string> arguments;  // values for a positional argument
};
int completion(const std::string& shell, const std::vector<CommandWords>& commands);

// The help of each command after its options: details, examples, exit codes.
extern const char* const kStagesHelp;
extern const char* const kRunHelp;
extern const char* const kExplainHelp;
extern const char* const kBenchHelp;
extern const char* const kReplayHelp;
extern const char* const kPackHelp;
extern const char* const kIndexHelp;
extern const char* const kVerifyHelp;
extern const char* const kInspectHelp;
extern const char* const kDemoHelp;
extern const char* const kCompletionHelp;

}  // namespace stoker::cli
