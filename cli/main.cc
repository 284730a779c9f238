// The `stoker` command: parses the command line, prints the help, and calls the command. Only this file includes CLI11,
// which takes seconds to compile.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
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
    "Stoker produces training data and delivers it before the accelerator requests it.\n"
    "A pipeline is a graph file: JSON that lists its stages. Stages have the names of tf.data.";

constexpr const char* kFooter = R"(
A first pipeline:
  echo '{"stoker": 1, "stages": [{"stage": "range", "stop": 10},
        {"stage": "shuffle"}, {"stage": "batch", "batch_size": 3}]}' > g.json
  stoker run g.json               print its elements, one JSON line each
  stoker explain g.json           show how it will run, without running it
  stoker bench g.json             measure its speed, and find the slowest stage
  stoker stages batch             show what a stage does, and its parameters

Data files:
  stoker pack photos packed       write images to TFRecord shards
  stoker index packed             index the shards, for a faster first epoch
  stoker verify packed            check every checksum and every image
  stoker inspect packed           show features, sizes and classes

`stoker help run` explains one command. A graph named '-' is read from standard
input.

Exit codes:
  0    success
  1    an element failed, data is damaged, or a result could not be written
  2    the command line is wrong, or a graph or checkpoint is missing or invalid
  130  interrupted by Ctrl-C

Environment:
  STOKER_WORKERS, STOKER_MEMORY   defaults of --workers and --memory
  NO_COLOR                        if not empty, print without colors)";

// Returns a check whose limits CLI11 does not add to the help: the option's
// description states them.
CLI::Validator quiet(CLI::Validator check) { return check.description(""); }

// CLI11 replaces an integer that does not fit by the largest one, and accepts NaN in every range.
const CLI::Validator kFits(
    [](const std::string& text) -> std::string {
      errno = 0;
      (void)std::strtoll(text.c_str(), nullptr, 0);
      return errno == ERANGE ? text + " does not fit int64" : "";
    },
    "");
const CLI::Validator kNumber(
    [](const std::string& text) -> std::string {
      return std::isnan(std::strtod(text.c_str(), nullptr)) ? "expected a number of seconds, got " + text : "";
    },
    "");

// A subcommand of CLI11 and the function that runs it.
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
  std::vector<CommandWords> describe() const;
  static OptionWords describe_option(const CLI::Option& option);

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
  prepare::PackOptions pack_;
  prepare::IndexOptions index_;
  prepare::VerifyOptions verify_;
  prepare::InspectOptions inspect_;
  PrintOptions how_;
  DemoOptions demo_;
};

CommandLine::CommandLine() {
  app_.set_version_flag("--version", std::string("stoker ") + STOKER_VERSION, "Print the version and exit");
  app_.set_help_flag("-h,--help", "Print this help and exit");
  app_.footer(kFooter);
  app_.require_subcommand(0, 1);
  app_.fallthrough();
  app_.get_formatter()->column_width(26);
  app_.get_formatter()->label("REQUIRED", "");
  app_.add_option("--workers", workers_,
                  "Number of worker threads; 0: the consumer's thread does all work; -1: as many as fit the machine")
      ->check(quiet(CLI::Range(kAutotune, kMostWorkers)))
      ->type_name("N");
  app_.add_option("--memory", memory_, "Memory budget of the process, such as 64M or 2G")->type_name("BYTES");
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
  command->add_option("GRAPH", path, "A graph file, or '-' for standard input")->required()->type_name("FILE");
}

void CommandLine::add_stages() {
  CLI::App* command = add("stages", "List stages and operations with their parameters", kStagesHelp,
                          [this] { return stages(stages_); });
  command->add_option("NAME", stages_.name, "Show only this stage or operation")->type_name("");
  command->add_flag("--json", stages_.json, "Print JSON");
}

void CommandLine::add_run() {
  CLI::App* command = add("run", "Run a graph and print its elements as JSON lines", kRunHelp, [this] {
    run_.print = print_ == "json";
    if (!on_error_.empty()) run_.skip_errors = on_error_ == "skip";
    return cli::run(run_);
  });
  graph_argument(command, run_.graph);
  command->add_option("--limit", run_.limit, "Stop after N elements")
      ->check(kFits)
      ->check(quiet(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max())))
      ->type_name("N");
  command->add_option("--print", print_, "How to print elements: json (default) or none")
      ->check(quiet(CLI::IsMember({"json", "none"})))
      ->type_name("HOW");
  command->add_option("--save", run_.save, "Save the state after the last printed element")->type_name("FILE");
  command->add_option("--restore", run_.restore, "Continue from a saved state")->type_name("FILE");
  command->add_option("--on-error", on_error_, "If an element fails: raise or skip; default: the graph's on_error")
      ->check(quiet(CLI::IsMember({"raise", "skip"})))
      ->type_name("WHAT");
}

void CommandLine::add_explain() {
  CLI::App* command = add("explain", "Show how a graph will run, without running it", kExplainHelp,
                          [this] { return explain(explain_); });
  graph_argument(command, explain_.graph);
  command->add_flag("--json", explain_.json, "Print JSON");
}

void CommandLine::add_bench() {
  CLI::App* command = add("bench", "Measure how fast a graph runs, and find the slowest stage", kBenchHelp,
                          [this] { return bench(bench_); });
  graph_argument(command, bench_.graph);
  command->add_option("--seconds", bench_.seconds, "How long to run; default: 5")
      ->check(kNumber)
      ->check(quiet(CLI::Range(0.001, 1e6)))
      ->type_name("S");
  command->add_flag("--json", bench_.json, "Print JSON");
}

void CommandLine::add_replay() {
  CLI::App* command = add("replay", "Recompute one element, from the origin in an error message", kReplayHelp,
                          [this] { return replay(replay_); });
  graph_argument(command, replay_.graph);
  command->add_option("--at", replay_.at, "The element's origin, such as range:17")->required()->type_name("ORIGIN");
  command->add_flag("--json", replay_.json, "Print JSON with the origin and type, or the error");
}

void CommandLine::add_pack() {
  CLI::App* command = add("pack", "Write images, idx, tar or TFRecord files to TFRecord shards", kPackHelp, [this] {
    if (on_error_ == "skip") pack_.on_error = OnError::kSkip;
    pack_.option_names = prepare::OptionNames::kFlags;
    return pack(pack_, how_);
  });
  command->add_option("SRC", pack_.source, "A folder, file or pattern to pack")->required()->type_name("FILE");
  command->add_option("DST", pack_.destination, "The folder for the shards")->required()->type_name("FILE");
  command->add_option("--labels", pack_.labels, "CSV file of lines path,label; for an idx file, its idx labels")
      ->type_name("FILE");
  command->add_option("--name", pack_.name, "Prefix of the shards' names; default: the name of SRC")->type_name("NAME");
  command->add_option("--shards", pack_.shards, "Number of shards; default: about 128 MB per shard")
      ->check(quiet(CLI::Range(1, 99999)))
      ->type_name("N");
  command->add_option("--seed", pack_.seed, "Seed for the order of the records; default: 0")
      ->check(kFits)
      ->type_name("N");
  command->add_option("--split", pack_.split, "Split the records, such as train=0.9,validation=0.1")
      ->type_name("SHARES");
  command->add_option("--resize", pack_.resize, "Shrink images whose short side is longer than PIXELS")
      ->check(quiet(CLI::Range(1, 65500)))
      ->type_name("PIXELS");
  command->add_option("--quality", pack_.quality, "JPEG quality for --resize, 1 to 100; default: 95")
      ->check(quiet(CLI::Range(1, 100)))
      ->type_name("Q");
  command->add_option("--image-feature", pack_.image_feature, "Feature with the image, for TFRecord files")
      ->type_name("NAME");
  command->add_option("--label-feature", pack_.label_feature, "Feature with the label, for TFRecord files")
      ->type_name("NAME");
  command->add_option("--on-error", on_error_, "If a file is bad: raise (default) or skip")
      ->check(quiet(CLI::IsMember({"raise", "skip"})))
      ->type_name("WHAT");
  command->add_flag("--keep-bytes", pack_.keep_bytes,
                    "Do not change images; by default, JPEG images get restart markers, with which a crop can be "
                    "decoded alone and which change no pixel");
  command->add_flag("--overwrite", pack_.overwrite, "Replace existing shards of that name, and labels.txt");
  command->add_flag("--quiet", how_.quiet, "Print only errors");
  command->add_flag("--json", how_.json, "Print the summary as JSON");
}

void CommandLine::data_argument(CLI::App* command, std::vector<std::string>& paths) {
  command->add_option("DATA", paths, "Files, folders, or patterns such as 'train-*'")->required()->type_name("FILE");
}

void CommandLine::add_index() {
  CLI::App* command =
      add("index", "Index the records of TFRecord files", kIndexHelp, [this] { return cli::index(index_, how_); });
  data_argument(command, index_.paths);
  command->add_option("--label", index_.label, "Also store this int64 feature of each record")->type_name("FEATURE");
  command->add_flag("--quiet", how_.quiet, "Print only errors");
  command->add_flag("--json", how_.json, "Print the files and their record counts as JSON");
}

void CommandLine::add_verify() {
  CLI::App* command = add("verify", "Check every checksum and every image, and list the bad ones", kVerifyHelp,
                          [this] { return verify(verify_, how_); });
  data_argument(command, verify_.paths);
  command->add_flag_callback(
      "--no-images", [this] { verify_.images = false; }, "Check only checksums; do not decode images");
  command->add_flag("--quiet", how_.quiet, "Do not show progress");
  command->add_flag("--json", how_.json, "Print the findings as JSON");
}

void CommandLine::add_inspect() {
  CLI::App* command =
      add("inspect", "Show what records and images contain, and write a contact sheet", kInspectHelp, [this] {
        inspect_.option_names = prepare::OptionNames::kFlags;
        return inspect(inspect_, how_);
      });
  data_argument(command, inspect_.paths);
  command->add_option("--sheet", inspect_.sheet, "Write a contact sheet to a .png or .html file")->type_name("FILE");
  command->add_option("--limit", inspect_.limit, "Number of images on the sheet; default: 64")
      ->check(quiet(CLI::Range(1, 10000)))
      ->type_name("N");
  command->add_flag("--quiet", how_.quiet, "Do not show progress");
  command->add_flag("--json", how_.json, "Print JSON");
}

void CommandLine::add_demo() {
  CLI::App* command = add("demo", "Run a small pipeline: its speed, a failure, a checkpoint", kDemoHelp,
                          [this] { return demo(demo_); });
  command->add_option("--seconds", demo_.seconds, "How long the first part runs; default: 3")
      ->check(kNumber)
      ->check(quiet(CLI::Range(0.1, 3600.0)))
      ->type_name("S");
}

void CommandLine::add_completion() {
  CLI::App* command = add("completion", "Print a completion script for a shell", kCompletionHelp,
                          [this] { return completion(shell_, describe()); });
  command->add_option("SHELL", shell_, "bash, zsh or fish")
      ->required()
      ->check(quiet(CLI::IsMember({"bash", "zsh", "fish"})))
      ->type_name("");
}

void CommandLine::add_help() {
  CLI::App* command = add("help", "Explain a command", "\nExample:\n  stoker help run", [this] { return help(); });
  command->add_option("COMMAND", help_on_, "The command to explain; default: list all commands")->type_name("");
}

int CommandLine::help() {
  if (help_on_.empty()) {
    // app_.help() would print the help of the command in progress, which is `help`.
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

// Returns "; did you mean 'run'?" for the nearest option of the command, or the
// nearest command; without a near one, returns where they are listed.
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
    // Report a mistyped option, not the value that follows it.
    const auto option = std::ranges::find_if(left, [](const std::string& word) { return word.starts_with("-"); });
    const std::string& word = option == left.end() ? left[0] : *option;
    const std::string what = word.starts_with("-") ? "no option "
                             : command             ? "unexpected argument "
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
    print(app_.help());  // of the command, if one was given
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

OptionWords CommandLine::describe_option(const CLI::Option& option) {
  OptionWords words{
      "--" + option.get_lnames()[0], option.get_description(), option.get_items_expected_max() > 0, false, {}};
  words.takes_file = option.get_type_name() == "FILE";
  if (words.name == "--print") words.choices = {"json", "none"};
  if (words.name == "--on-error") words.choices = {"raise", "skip"};
  return words;
}

std::vector<CommandWords> CommandLine::describe() const {
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
        if (!twice) words.options.push_back(describe_option(*option));
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
