// `stoker completion`: prints a completion script for bash, zsh or fish. The
// script is generated from the parser's own commands and options.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/terminal.h"

namespace stoker::cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

// Quotes a text for a shell, in single quotes.
std::string quoted(std::string_view text) {
  std::string safe = "'";
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe + "'";
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::string names, cases, values;
  for (const CommandWords& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    std::string options;
    for (const OptionWords& option : command.options) {
      options += (options.empty() ? "" : " ") + option.name;
      if (option.takes_file)
        values +=
            fmt::format("    {}:{}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", command.name, option.name);
      else if (!option.choices.empty())
        values += fmt::format("    {}:{}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", command.name,
                              option.name, joined(option.choices, " "));
      else if (option.takes_value)
        values += fmt::format("    {}:{}) return ;;\n", command.name, option.name);
    }
    cases += fmt::format("    {}) options='{}'; arguments='{}'; files={} ;;\n", command.name, options,
                         joined(command.arguments, " "), command.files > 0 ? 1 : 0);
  }
  return fmt::format(R"(# stoker completion for bash:  source <(stoker completion bash)
_stoker() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command='' options='' arguments='' files=0 i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case " {0} " in *" ${{COMP_WORDS[i]}} "*) command=${{COMP_WORDS[i]}}; break ;; esac
  done
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W '{0} --help --version' -- "$word"))
    return
  fi
  case "$command:$before" in
{1}  esac
  case "$command" in
{2}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif ((files)); then
    COMPREPLY=($(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -W "$arguments" -- "$word"))
  fi
}}
complete -o filenames -F _stoker stoker
)",
                     names, values, cases);
}

// Escapes the characters that are special in zsh's _describe and _arguments.
std::string zsh_safe(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  std::string names, cases;
  for (const CommandWords& command : commands) {
    names += "    " + quoted(command.name + ":" + zsh_safe(command.doc)) + "\n";
    cases += fmt::format("    {}) _arguments", command.name);
    for (const OptionWords& option : command.options) {
      std::string spec = option.name + "[" + zsh_safe(option.doc) + "]";
      if (option.takes_file)
        spec += ":file:_files";
      else if (!option.choices.empty())
        spec += ":value:(" + joined(option.choices, " ") + ")";
      else if (option.takes_value)
        spec += ":value:";
      cases += " " + quoted(spec);
    }
    for (int i = 0; i < command.files; ++i)
      cases += " " + quoted(command.many_files ? "*:file:_files" : ":file:_files");
    if (!command.arguments.empty()) cases += " " + quoted(":word:(" + joined(command.arguments, " ") + ")");
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef stoker
# stoker completion for zsh:  stoker completion zsh > DIR/_stoker, where DIR is in $fpath,
# or in .zshrc, after compinit:  source <(stoker completion zsh)
_stoker() {{
  local -a commands=(
{0}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift 'words'
  ((CURRENT--))
  case $command in
{1}  esac
}}
# Autoloaded from $fpath, this file is the function's body; when sourced, it only registers the function.
if [[ $funcstack[1] == _stoker ]]; then _stoker "$@"; else compdef _stoker stoker; fi
)",
                     names, cases);
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text = "# stoker completion for fish:  stoker completion fish | source\ncomplete -c stoker -f\n";
  for (const CommandWords& command : commands) {
    text += fmt::format("complete -c stoker -n __fish_use_subcommand -a {} -d {}\n", command.name, quoted(command.doc));
    const std::string when = fmt::format("-n '__fish_seen_subcommand_from {}'", command.name);
    if (command.files > 0) text += fmt::format("complete -c stoker {} -F\n", when);
    if (!command.arguments.empty())
      text += fmt::format("complete -c stoker {} -a {}\n", when, quoted(joined(command.arguments, " ")));
    for (const OptionWords& option : command.options) {
      text += fmt::format("complete -c stoker {} -l {} -d {}", when, option.name.substr(2), quoted(option.doc));
      if (option.takes_file) text += " -r -F";
      if (!option.choices.empty())
        text += " -x -a " + quoted(joined(option.choices, " "));
      else if (option.takes_value && !option.takes_file)
        text += " -x";
      text += "\n";
    }
  }
  return text;
}

}  // namespace

int completion(const std::string& shell, const std::vector<CommandWords>& commands) {
  print(shell == "bash" ? bash_script(commands) : shell == "zsh" ? zsh_script(commands) : fish_script(commands));
  return kFine;
}

const char* const kCompletionHelp = R"(
Prints a script that completes commands, options, stage names and files.

Examples:
  source <(stoker completion bash)                 in ~/.bashrc
  stoker completion zsh > ~/.zfunc/_stoker         a folder in $fpath
  stoker completion fish > ~/.config/fish/completions/stoker.fish)";

}  // namespace stoker::cli
