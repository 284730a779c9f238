// The `stoker` command: reads the command line and calls the command. The one
// file that knows CLI11, which takes seconds to compile.
#include <algorithm>
#include <functional>
#include <limits>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "stoker/api/loader.h"
#include "stoker/runtime/settings.h"

namespace stoker::cli {
namespace {

constexpr const char* kIntroduction =
    "Stoker makes training data and hands it over before the accelerator asks.\n"
    "A pipeline is a graph file: JSON that lists its stages, with tf.data's names.";

constexpr const char* kFooter = R"(
A first pipeline:
  echo '{"stoker": 1, "stages": [{"stage": "range", "stop": 10},
        {"stage": "shuffle"}, {"stage": "batch", "batch_size": 3}]}' > g.json
  stoker run g.json               its elements, one JSON line each
  stoker explain g.json           how it will run, without running it
  stoker bench g.json             how fast it is, and which stage binds
  stoker stages batch             what a stage does and takes
  stoker pack photos packed       pictures into TFRecord shards
  stoker index packed             where their records begin
  stoker verify packed            every checksum and every picture
  stoker inspect packed           features, sizes, classes, a contact sheet
  stoker help run                 more about one command

A graph named '-' is read from standard input.

Exit codes: 0 fine; 1 an element failed or a result could not be written;
2 wrong use: the command line, or a graph or checkpoint that cannot be read
or understood; 130 ended by Ctrl-C.
Environment: STOKER_WORKERS and STOKER_MEMORY as the options; NO_COLOR.)";

constexpr const char* kStagesFooter = R"(
Examples:
  stoker stages                   all of them
  stoker stages shuffle           one
  stoker stages --json | jq -r '.stages[].name')";

constexpr const char* kRunFooter = R"(
Each element is one line: a value, a list (tuple, array) or an object (dict).
Bytes that are not UTF-8 print as {"base64": ...}, numbers that are none as
"nan", "inf", "-inf".

An element that fails is told on standard error with its origin. With 'raise'
the run stops there, exit code 1; what was saved then goes on behind it. With
'skip' the run goes on, lists at the end what it left out, and ends with 0.

Examples:
  stoker run g.json
  stoker run g.json --limit 100 --save state.json
  stoker run g.json --restore state.json          the rest, exactly
  stoker run g.json --on-error skip > elements.jsonl
  cat g.json | stoker run - --print none          only check that it runs)";

constexpr const char* kExplainFooter = R"(
Shows the segments a graph is cut into (a line that names elements in order, a
span of maps that runs in parallel, a window that puts results in order), which
maps are native, what a shuffle holds, the drawn seeds, and the length.

Examples:
  stoker explain g.json
  stoker explain g.json --json)";

constexpr const char* kBenchFooter = R"(
Runs the graph, epoch after epoch, as fast as it gives elements. Prints elements
and bytes a second, CPU time an element, memory, how long the loop waited, and
for each stage its share of the work: the stage with the largest share binds.

Examples:
  stoker bench g.json
  stoker bench g.json --seconds 20 --workers 8
  stoker bench g.json --json | jq .elements_per_second)";

constexpr const char* kReplayFooter = R"(
An ORIGIN is source:position, as errors print it, with @pass behind the first
pass: range:18204@2. Only the maps behind the source are run, so a failure can
be looked at alone, under a debugger too.

Examples:
  stoker replay g.json --at range:17
  stoker replay g.json --at train:18204@2 --json
  gdb --args stoker --workers 0 replay g.json --at range:17)";

constexpr const char* kPackFooter = R"(
SRC is one of
  a folder with a folder for each class: SRC/cat/1.jpg, SRC/dog/a/2.png, ...
  a folder of pictures and, with --labels, a CSV of lines path,label
  a folder with MNIST's files: train-images-idx3-ubyte, train-labels-idx1-ubyte,
    t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte, each plain or .gz
  a file of idx images and, with --labels, that of its labels
  a tar in WebDataset's layout (jpg or png, and cls or json with a label), a
    folder of such, or a pattern as 'train-*.tar'
  TFRecord files of pictures and labels, likewise: packed again, in a new order,
    with restart markers, split or made smaller
  Tar and TFRecord files may be GZIP, ZLIB or zstd; they are unpacked into DST
  meanwhile.

DST gets NAME-00000-of-00008.tfrecord and so on, and labels.txt with the
classes, one a line: the label of a picture is the number of its line, from 0.
Classes are in byte order. A record is a tf.train.Example with image (the bytes
of the file; PNG for idx), label (int64) and path (below SRC). MNIST's files
become train and test, with --name before it NAME-train and NAME-test.

The same input, seed and options give the same bytes, whatever the workers.
Everything is in place at the end, or nothing is. A run that fails or is stopped
keeps the shards that are whole in DST/.NAME.packing, and the same command goes
on from there; with other input or options it begins anew. While one runs,
another into the same DST is refused.

--split gives each record its place by its path and the seed alone: what is added
later moves nothing from train to validation. Shards are named by the shares.

--resize makes pictures smaller in Pillow's manner and writes them as JPEG,
upright: the EXIF orientation is applied, and its tag is gone. What is small
enough and upright stays as it is.

JPEG, PNG, GIF, BMP and WebP are known by their first bytes; their headers are
read, and whether they are whole. A file that is none, or is cut, ends the work;
with --on-error skip it is listed at the end. Hidden files and those named as
something else (.txt, .csv, .json, ...) are left out and counted.

Examples:
  stoker pack photos packed                      one folder a class
  stoker pack photos packed --labels labels.csv  lines path,label decide
  stoker pack mnist packed                       packed/train-*, packed/test-*
  stoker pack images.gz packed --labels labels.gz --name all    one idx file
  stoker pack photos packed --shards 16 --seed 7 --overwrite
  stoker pack photos packed --split train=0.9,validation=0.1 --resize 256
  stoker pack 'train-*.tar' packed               WebDataset's shards
  stoker pack photos packed --on-error skip --json | jq .skipped)";

constexpr const char* kIndexFooter = R"(
An index says where each record of a TFRecord file begins. With it a data set
knows its length, shuffles all records without a buffer, deals them out evenly
and reads them in any order. Data sets make one where they need it; made before,
the first epoch begins at once. It lies beside the data in .stoker/, or, where
that folder cannot be written, in the cache folder: $STOKER_CACHE, or stoker in
$XDG_CACHE_HOME or ~/.cache. A file that has changed is indexed anew.

DATA is TFRecord files, patterns, or folders, which are searched at any depth.
Compressed files are refused: they can only be read from their front. Such files
are listed, the others are indexed, and the exit code is 1.

--label reads every record and keeps one int64 feature of it. How often each label
occurs is told then and by every later call, which reads the index alone. A
record without the feature is an error.

Examples:
  stoker index packed                            all TFRecord files in a folder
  stoker index 'train-*.tfrecord'
  stoker index packed --label label
  stoker index packed --json | jq '[.files[].records] | add')";

constexpr const char* kVerifyFooter = R"(
Both checksums of every record are computed, in plain and in compressed files,
and every picture is decoded to its end: loose ones, and those in features of
tf.train.Example records. Which features hold pictures is learned from the first
records of a file; one that holds something else later is bad.

What is bad is listed with file, byte and record, and the exit code is 1. A
picture that libjpeg decodes with a warning is damaged but readable: it is
listed, too, and is no failure. Files of a folder that are hidden, or are neither
records nor pictures by their first bytes and names, are left out and counted.

Examples:
  stoker verify packed                           all files in a folder
  stoker verify photos                           a folder of pictures
  stoker verify 'train-*.tfrecord' --no-pictures only the checksums, at the speed of memory
  stoker verify packed --json | jq -r '.bad[].path')";

constexpr const char* kInspectFooter = R"(
Of records: how many and how large, the features of those that are
tf.train.Example with their kinds, lengths and values, the formats and sizes of
pictures in them, how often each label occurs (a feature named label or
.../label; labels.txt beside the data names the classes), and the first damage.
Of picture files: formats, sizes, and how many lie in each folder. Pixels are not
decoded: stoker verify does that.

--sheet makes one file to look at: small pictures, evenly spread over the data
and turned as their EXIF notes say; in HTML with labels and paths.

Examples:
  stoker inspect packed
  stoker inspect packed --sheet sheet.html
  stoker inspect photos --sheet sheet.png --limit 200
  stoker inspect train.tfrecord --json | jq .features)";

constexpr const char* kDemoFooter = R"(
Takes a few seconds and writes nothing.

Example:
  stoker demo)";

constexpr const char* kCompletionFooter = R"(
Examples:
  source <(stoker completion bash)                 in ~/.bashrc
  stoker completion zsh > ~/.zfunc/_stoker         a folder of $fpath
  stoker completion fish > ~/.config/fish/completions/stoker.fish)";

// A check that does not add its limits to the help, which says them in words.
CLI::Validator quiet(CLI::Validator check) { return check.description(""); }

// A command as CLI11 knows it, and what it runs.
struct Command {
  CLI::App* app;
  std::function<int()> call;
};

class CommandLine {
 public:
  CommandLine();
  int run(int argc, char** argv);

 private:
  CLI::App* add(const std::string& name, const std::string& doc, const char* footer, std::function<int()> call);
  void add_stages();
  void add_run();
  void add_explain();
  void add_bench();
  void add_replay();
  void add_pack();
  void add_index();
  void add_verify();
  void add_inspect();
  void data_argument(CLI::App* command, std::vector<std::string>& paths);
  void add_demo();
  void add_completion();
  void add_help();
  void graph_argument(CLI::App* command, std::string& path);
  int configure_and_call(const Command& command);
  int refuse(const CLI::ParseError& error);
  std::string hint_for(const std::string& word, const CLI::App* command) const;
  int help();
  std::vector<CommandWords> words() const;
  static OptionWords words_of(const CLI::Option& option);

  CLI::App app_{kIntroduction, "stoker"};
  std::vector<Command> commands_;
  std::optional<int> workers_;
  std::string memory_;
  std::string help_on_;
  std::string shell_;
  std::string print_ = "json";
  std::string on_error_;
  StagesOptions stages_;
  RunOptions run_;
  ExplainOptions explain_;
  BenchOptions bench_;
  ReplayOptions replay_;
  PackOptions pack_;
  IndexOptions index_;
  VerifyOptions verify_;
  InspectOptions inspect_;
  DemoOptions demo_;
};

CommandLine::CommandLine() {
  app_.set_version_flag("--version", std::string("stoker ") + STOKER_VERSION, "Print the version and end");
  app_.set_help_flag("-h,--help", "Print this help and end");
  app_.footer(kFooter);
  app_.require_subcommand(0, 1);
  app_.fallthrough();
  app_.get_formatter()->column_width(26);
  app_.get_formatter()->label("REQUIRED", "");
  app_.add_option("--workers", workers_,
                  "Threads that work; 0: the loop's own thread does everything; -1: as many as fit the machine")
      ->check(quiet(CLI::Range(kAutotune, kMostWorkers)))
      ->type_name("N");
  app_.add_option("--memory", memory_, "Bytes that may be held, as 64M or 2G")->type_name("BYTES");
  add_run();
  add_explain();
  add_bench();
  add_replay();
  add_stages();
  add_pack();
  add_index();
  add_verify();
  add_inspect();
  add_demo();
  add_completion();
  add_help();
}

CLI::App* CommandLine::add(const std::string& name, const std::string& doc, const char* footer,
                           std::function<int()> call) {
  CLI::App* command = app_.add_subcommand(name, doc);
  command->footer(footer);
  command->fallthrough();
  commands_.push_back({command, std::move(call)});
  return command;
}

void CommandLine::graph_argument(CLI::App* command, std::string& path) {
  command->add_option("GRAPH", path, "A graph file; '-': standard input")->required()->type_name("FILE");
}

void CommandLine::add_stages() {
  CLI::App* command = add("stages", "List stages and operations with their parameters", kStagesFooter,
                          [this] { return stages(stages_); });
  command->add_option("NAME", stages_.name, "Only this stage or operation")->type_name("");
  command->add_flag("--json", stages_.json, "As JSON");
}

void CommandLine::add_run() {
  CLI::App* command = add("run", "Run a graph and print its elements as JSON lines", kRunFooter, [this] {
    run_.print = print_ == "json";
    if (!on_error_.empty()) run_.skip_errors = on_error_ == "skip";
    return cli::run(run_);
  });
  graph_argument(command, run_.graph);
  command->add_option("--limit", run_.limit, "Stop after so many elements")
      ->check(quiet(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max())))
      ->type_name("N");
  command->add_option("--print", print_, "What to print of elements: json or none")
      ->check(quiet(CLI::IsMember({"json", "none"})))
      ->type_name("HOW");
  command->add_option("--save", run_.save, "Write the state after the last element printed")->type_name("FILE");
  command->add_option("--restore", run_.restore, "Go on from a saved state")->type_name("FILE");
  command->add_option("--on-error", on_error_, "When an element fails: raise or skip; else as the graph says")
      ->check(quiet(CLI::IsMember({"raise", "skip"})))
      ->type_name("WHAT");
}

void CommandLine::add_explain() {
  CLI::App* command = add("explain", "Show how a graph will run, without running it", kExplainFooter,
                          [this] { return explain(explain_); });
  graph_argument(command, explain_.graph);
  command->add_flag("--json", explain_.json, "As JSON");
}

void CommandLine::add_bench() {
  CLI::App* command = add("bench", "Measure how fast a graph runs, and which stage binds", kBenchFooter,
                          [this] { return bench(bench_); });
  graph_argument(command, bench_.graph);
  command->add_option("--seconds", bench_.seconds, "How long to run; 5 unless told")
      ->check(quiet(CLI::Range(0.001, 1e6)))
      ->type_name("S");
  command->add_flag("--json", bench_.json, "As JSON");
}

void CommandLine::add_replay() {
  CLI::App* command = add("replay", "Make one element again, from the origin an error named", kReplayFooter,
                          [this] { return replay(replay_); });
  graph_argument(command, replay_.graph);
  command->add_option("--at", replay_.at, "The element's origin, as range:17")->required()->type_name("ORIGIN");
  command->add_flag("--json", replay_.json, "As JSON, with origin and type, or the error");
}

void CommandLine::add_pack() {
  CLI::App* command =
      add("pack", "Pack pictures, idx, tar or TFRecord files into TFRecord shards", kPackFooter, [this] {
        pack_.skip_errors = on_error_ == "skip";
        return pack(pack_);
      });
  command->add_option("SRC", pack_.source, "What to pack")->required()->type_name("FILE");
  command->add_option("DST", pack_.target, "The folder that the shards go to")->required()->type_name("FILE");
  command->add_option("--labels", pack_.labels, "CSV of path,label; for an idx file its labels")->type_name("FILE");
  command->add_option("--name", pack_.name, "What shards are called; that of SRC unless told")->type_name("NAME");
  command->add_option("--shards", pack_.shards, "How many; unless told each gets about 128 MB")
      ->check(quiet(CLI::Range(1, 99999)))
      ->type_name("N");
  command->add_option("--seed", pack_.seed, "Of the order of the records; 0 unless told")->type_name("N");
  command->add_option("--split", pack_.split, "Deal out by shares, as train=0.9,validation=0.1")->type_name("SHARES");
  command->add_option("--resize", pack_.resize, "Make pictures smaller whose short side is above so many pixels")
      ->check(quiet(CLI::Range(1, 65500)))
      ->type_name("PIXELS");
  command->add_option("--quality", pack_.quality, "Of the JPEGs that --resize makes, 1 to 100; 95 unless told")
      ->check(quiet(CLI::Range(1, 100)))
      ->type_name("Q");
  command->add_option("--image-feature", pack_.image_feature, "Of TFRecord files: where the picture is")
      ->type_name("NAME");
  command->add_option("--label-feature", pack_.label_feature, "Of TFRecord files: where the label is")
      ->type_name("NAME");
  command->add_option("--on-error", on_error_, "When a file is bad: raise, unless told skip")
      ->check(quiet(CLI::IsMember({"raise", "skip"})))
      ->type_name("WHAT");
  command->add_flag("--keep-bytes", pack_.keep_bytes,
                    "Pictures as they are; else JPEG gets restart markers, which changes no pixel and lets windows be "
                    "decoded alone");
  command->add_flag("--overwrite", pack_.overwrite, "Replace shards of that name, and labels.txt");
  command->add_flag("--quiet", pack_.quiet, "Say nothing but errors");
  command->add_flag("--json", pack_.json, "The summary as JSON");
}

void CommandLine::data_argument(CLI::App* command, std::vector<std::string>& paths) {
  command->add_option("DATA", paths, "Files, folders, or patterns as 'train-*'")->required()->type_name("FILE");
}

void CommandLine::add_index() {
  CLI::App* command = add("index", "Find where the records of TFRecord files begin, and keep it", kIndexFooter,
                          [this] { return cli::index(index_); });
  data_argument(command, index_.paths);
  command->add_option("--label", index_.label, "Keep this int64 feature of each record, too")->type_name("FEATURE");
  command->add_flag("--quiet", index_.quiet, "Say nothing but errors");
  command->add_flag("--json", index_.json, "The files with their records as JSON");
}

void CommandLine::add_verify() {
  CLI::App* command = add("verify", "Check every checksum and every picture, and list the bad", kVerifyFooter,
                          [this] { return verify(verify_); });
  data_argument(command, verify_.paths);
  command->add_flag_callback(
      "--no-pictures", [this] { verify_.pictures = false; }, "Decode no pictures: only checksums");
  command->add_flag("--quiet", verify_.quiet, "Show no progress");
  command->add_flag("--json", verify_.json, "What was found as JSON");
}

void CommandLine::add_inspect() {
  CLI::App* command = add("inspect", "Show what records and pictures are like, and a sheet of them", kInspectFooter,
                          [this] { return inspect(inspect_); });
  data_argument(command, inspect_.paths);
  command->add_option("--sheet", inspect_.sheet, "Write a contact sheet, a .png or .html")->type_name("FILE");
  command->add_option("--limit", inspect_.limit, "Pictures on it; 64 unless told")
      ->check(quiet(CLI::Range(1, 10000)))
      ->type_name("N");
  command->add_flag("--quiet", inspect_.quiet, "Show no progress");
  command->add_flag("--json", inspect_.json, "As JSON");
}

void CommandLine::add_demo() {
  CLI::App* command = add("demo", "Watch a small pipeline: speed, a failure, a checkpoint", kDemoFooter,
                          [this] { return demo(demo_); });
  command->add_option("--seconds", demo_.seconds, "How long the live part runs; 3 unless told")
      ->check(quiet(CLI::Range(0.1, 3600.0)))
      ->type_name("S");
}

void CommandLine::add_completion() {
  CLI::App* command = add("completion", "Print a completion script for a shell", kCompletionFooter,
                          [this] { return completion(shell_, words()); });
  command->add_option("SHELL", shell_, "bash, zsh or fish")
      ->required()
      ->check(quiet(CLI::IsMember({"bash", "zsh", "fish"})))
      ->type_name("");
}

void CommandLine::add_help() {
  CLI::App* command = add("help", "Explain a command", "\nExample:\n  stoker help run", [this] { return help(); });
  command->add_option("COMMAND", help_on_, "The command")->type_name("");
}

int CommandLine::help() {
  if (help_on_.empty()) {
    // Not app_.help(): that is the help of the command in progress, this one.
    print(app_.get_formatter()->make_help(&app_, "stoker", CLI::AppFormatMode::Normal));
    return kFine;
  }
  for (const Command& command : commands_)
    if (command.app->get_name() == help_on_) {
      print(command.app->help("stoker"));
      return kFine;
    }
  complain("no command named '" + help_on_ + "'" + hint_for(help_on_, nullptr));
  return kWrongUse;
}

// "; did you mean 'run'?": among the options of a command, or the commands.
std::string CommandLine::hint_for(const std::string& word, const CLI::App* command) const {
  std::vector<std::string> known;
  if (word.starts_with("-")) {
    for (const CLI::App* owner : {command, &app_})
      if (owner)
        for (const CLI::Option* option : owner->get_options())
          if (!option->get_lnames().empty()) known.push_back("--" + option->get_lnames()[0]);
  } else if (!command) {
    for (const Command& one : commands_) known.push_back(one.app->get_name());
  }
  const std::string_view near = nearest(word.substr(0, word.find('=')), {known.begin(), known.end()});
  if (!near.empty()) return "; did you mean '" + std::string(near) + "'?";
  return command ? "; see stoker help " + command->get_name() : "; `stoker help` lists the commands";
}

int CommandLine::refuse(const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app_.get_subcommands();
  const CLI::App* command = chosen.empty() ? nullptr : chosen[0];
  if (const std::vector<std::string> left = app_.remaining(true);
      dynamic_cast<const CLI::ExtrasError*>(&error) && !left.empty()) {
    // A mistyped option rather than the value behind it.
    const auto option = std::ranges::find_if(left, [](const std::string& word) { return word.starts_with("-"); });
    const std::string& word = option == left.end() ? left[0] : *option;
    const std::string what = word.starts_with("-") ? "no option "
                             : command             ? "one argument too many, "
                                                   : "no command named ";
    complain(what + "'" + word + "'" + hint_for(word, command));
    return kWrongUse;
  }
  std::string message = error.what();
  if (!message.empty() && message.back() == '\n') message.pop_back();
  complain((command ? command->get_name() + ": " : "") + message + "; see stoker help" +
           (command ? " " + command->get_name() : ""));
  return kWrongUse;
}

int CommandLine::configure_and_call(const Command& command) {
  Resources resources;
  resources.workers = workers_;
  if (!memory_.empty()) {
    const Result<int64_t> bytes = parse_bytes(memory_);
    if (!bytes) {
      complain("--memory: " + bytes.error().message());
      return kWrongUse;
    }
    resources.memory_bytes = *bytes;
  }
  try {
    configure(resources);
  } catch (const Error& error) {
    complain(error.message());
    return kWrongUse;
  }
  return command.call();
}

int CommandLine::run(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(app_.help());  // of the command, where one was named
    return kFine;
  } catch (const CLI::CallForVersion& version) {
    print_line(version.what());
    return kFine;
  } catch (const CLI::ParseError& error) {
    return refuse(error);
  }
  for (const Command& command : commands_)
    if (command.app->parsed()) return configure_and_call(command);
  remark(app_.help());
  return kWrongUse;
}

OptionWords CommandLine::words_of(const CLI::Option& option) {
  OptionWords words{
      "--" + option.get_lnames()[0], option.get_description(), option.get_items_expected_max() > 0, false, {}};
  words.takes_file = option.get_type_name() == "FILE";
  if (words.name == "--print") words.choices = {"json", "none"};
  if (words.name == "--on-error") words.choices = {"raise", "skip"};
  return words;
}

std::vector<CommandWords> CommandLine::words() const {
  std::vector<CommandWords> all;
  for (const Command& command : commands_) {
    CommandWords words{command.app->get_name(), command.app->get_description(), {}, 0, false, {}};
    for (const CLI::App* owner : {static_cast<const CLI::App*>(command.app), &app_})
      for (const CLI::Option* option : owner->get_options()) {
        if (option->get_positional()) {
          if (option->get_type_name() == "FILE") ++words.files;
          words.many_files |= option->get_items_expected_max() > 1;
          continue;
        }
        const bool twice = owner == &app_ && (option->check_lname("help") || option->check_lname("version"));
        if (!twice) words.options.push_back(words_of(*option));
      }
    if (words.name == "completion") words.arguments = {"bash", "zsh", "fish"};
    if (words.name == "help")
      for (const Command& other : commands_) words.arguments.push_back(other.app->get_name());
    if (words.name == "stages") {
      for (const StageType* stage : registry().stages()) words.arguments.emplace_back(stage->name);
      for (const OpType* op : registry().ops()) words.arguments.emplace_back(op->name);
    }
    all.push_back(std::move(words));
  }
  return all;
}

}  // namespace
}  // namespace stoker::cli

int main(int argc, char** argv) {
  using namespace stoker::cli;
  watch_interrupts();
  return end_output(CommandLine().run(argc, argv));
}
