#include "stoker/prepare/stretches.h"

#include <algorithm>

#include "stoker/codecs/tfrecord.h"
#include "stoker/core/interrupt.h"
#include "stoker/core/nest.h"
#include "stoker/core/record_limit.h"
#include "stoker/io/window.h"

namespace stoker::prepare {
namespace {

using Kind = RecordParser::Step::Kind;

Element element_of(const Stretch& stretch) {
  static const Nest* const four = Nest::tuple_of_leaves(4);
  InlineVector<Array, 2> leaves;
  for (const int64_t number : {stretch.file, stretch.begin, stretch.end, stretch.record})
    leaves.emplace_back(Array::of(number));
  return Element(four, std::move(leaves));
}

void report(const RecordParser::Step& step, const RecordPlace& place, const RecordVisitor& visitor) {
  if (step.kind == Kind::kRecord) visitor.record(place, step.payload);
  if (step.kind == Kind::kError) visitor.damage(place, *step.error);
}

void visit_mapped(const MappedFile& file, const Stretch& stretch, const RecordVisitor& visitor) {
  RecordParser parser(stretch.begin);
  const Bytes all = file.bytes();
  for (int64_t record = stretch.record; parser.offset() < stretch.end && !is_interrupted(); ++record) {
    const RecordPlace place{record, parser.offset()};
    const Bytes rest = all.substr(static_cast<size_t>(place.offset));
    const RecordParser::Step step = parser.step(rest, static_cast<int64_t>(rest.size()));
    if (file.was_cut()) return visitor.damage(place, Error::corrupt("the file was truncated while it was read"));
    report(step, place, visitor);
    if (step.kind == Kind::kEnd) return;
  }
}

void visit_stream(std::unique_ptr<ByteStream> stream, const RecordVisitor& visitor) {
  ByteWindow window(std::move(stream));
  RecordParser parser(0, static_cast<uint64_t>(record_limit()));
  RecordPlace place;
  while (!is_interrupted()) {
    const Bytes bytes = window.bytes();
    const std::optional<int64_t> left =
        window.ended() ? std::optional(static_cast<int64_t>(bytes.size())) : std::nullopt;
    const RecordParser::Step step = parser.step(bytes, left);
    report(step, place, visitor);
    if (step.kind == Kind::kEnd) return;
    if (step.kind != Kind::kMore) place = {place.record + 1, parser.offset()};
    window.take(step.consumed);
    const Result<void> read = step.kind == Kind::kMore ? window.fill(step.wanted) : window.pass(step.skipped);
    if (!read) return visitor.damage(place, read.error());
  }
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> RecordFiles::open(int64_t file) {
  const MutexLock lock(mutex_);
  std::weak_ptr<const MappedFile>& known = open_[static_cast<size_t>(file)];
  if (std::shared_ptr<const MappedFile> mapped = known.lock()) return mapped;
  STOKER_TRY(MappedFile opened, MappedFile::open(at(file).path));
  auto mapped = std::make_shared<const MappedFile>(std::move(opened));
  known = mapped;
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

Result<Spec> RecordStretches::spec(std::span<const Spec>) const {
  const LeafSpec number{DType::kInt64, std::vector<int64_t>{}};
  return Spec{Nest::tuple_of_leaves(4), {number, number, number, number}};
}

Result<std::optional<Element>> RecordStretches::next(State& state, Context&) const {
  while (state.file < static_cast<int64_t>(files->all().size())) {
    if (files->at(state.file).compression != Compression::kNone)
      return std::optional(element_of({state.file++, 0, -1, 0}));
    if (!state.mapped) {
      const auto opened = files->open(state.file);
      if (!opened) return std::optional(element_of({state.file++, 0, 0, 0}));
      state.mapped = *opened;
    }
    const Bytes all = state.mapped->bytes();
    const auto size = static_cast<int64_t>(all.size());
    Stretch stretch{state.file, state.offset, state.offset, state.record};
    for (; state.offset < size && state.offset - stretch.begin < kBytes; ++state.record)
      state.offset += static_cast<int64_t>(stretch_of_record(all.substr(static_cast<size_t>(state.offset))));
    stretch.end = state.offset;
    if (state.offset >= size) state = {.file = state.file + 1};
    return std::optional(element_of(stretch));
  }
  return std::optional<Element>();
}

void visit(RecordFiles& files, const Stretch& stretch, const RecordVisitor& visitor) {
  const InputFile& file = files.at(stretch.file);
  if (stretch.end < 0) {
    Result<std::unique_ptr<ByteStream>> stream = open_stream(file.path, file.compression);
    return stream ? visit_stream(*std::move(stream), visitor) : visitor.damage({}, stream.error());
  }
  const auto mapped = files.open(stretch.file);
  return mapped ? visit_mapped(**mapped, stretch, visitor)
                : visitor.damage({stretch.record, stretch.begin}, mapped.error());
}

}  // namespace stoker::prepare
