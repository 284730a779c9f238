#include "stoker/sources/text_lines.h"

#include "stoker/core/record_limit.h"
#include "stoker/io/lines.h"
#include "stoker/io/stream.h"

namespace stoker {
namespace {

// A line that is too long is one error, and the next line follows.
bool is_too_long(const Result<bool>& line) { return !line && line.error().code() == Code::kResourceExhausted; }

}  // namespace

Result<void> TextLines::check() const {
  STOKER_TRY(Compression known, compression_of(compression_type));
  (void)known;
  if (filenames.empty()) return Error::invalid("expected at least one file, got an empty list");
  return {};
}

// Opens the current file of the state and skips the lines that were already returned.
Result<void> TextLines::open(State& state) const {
  STOKER_TRY(Compression compression, compression_of(compression_type));
  STOKER_TRY(LineReader reader, LineReader::open(filenames[static_cast<size_t>(state.file)], compression,
                                                 {.line_bytes_at_most = static_cast<size_t>(record_limit())}));
  state.reader = std::make_shared<LineReader>(std::move(reader));
  for (int64_t i = 0; i < state.lines; ++i) {
    std::string_view line;
    const Result<bool> more = state.reader->next(line);
    if (!more && !is_too_long(more)) return more.error();
    if (more && !*more)
      return Error::corrupt(filenames[static_cast<size_t>(state.file)], " has ", i, " lines, expected at least ",
                            state.lines, ": the file has changed");
  }
  return {};
}

Result<std::optional<Element>> TextLines::next(State& state, Context&) const {
  while (state.file < static_cast<int64_t>(filenames.size())) {
    const std::string& path = filenames[static_cast<size_t>(state.file)];
    std::string_view line;
    Result<void> opened = state.reader ? Result<void>() : open(state);
    Result<bool> more = opened ? state.reader->next(line) : Result<bool>(opened.error());
    const bool too_long = opened && is_too_long(more);
    if ((more && *more) || too_long) {
      ++state.lines;
      if (too_long) return std::move(more).error();
      Array text = Array::of_bytes(line);
      text.owner()->set_source({path, state.reader->offset()});
      return std::optional<Element>(Element(std::move(text)));
    }
    ++state.file;
    state.lines = 0;
    state.reader.reset();
    if (!more) return std::move(more).error();
  }
  return std::optional<Element>();
}

}  // namespace stoker
