#include "stoker/core/element.h"

#include <algorithm>
#include <utility>

#include "stoker/core/hash.h"
#include "stoker/core/rng.h"

namespace stoker {

const Array& Element::operator[](size_t field) const {
  const bool is_leaf = nest->fields().empty();
  const size_t fields = is_leaf ? leaves.size() : nest->fields().size();
  if (field >= fields)
    throw Error::invalid("no field ", field, " in an element ", nest->describe(), " of ", fields, " fields");
  return leaves[is_leaf ? field : nest->first_leaf(field)];
}

const Array& Element::operator[](std::string_view field) const {
  const std::optional<size_t> found = nest->find(field);
  if (!found) throw Error::invalid("no field named '", field, "' in an element ", nest->describe());
  return leaves[nest->first_leaf(*found)];
}

int64_t Element::byte_size() const {
  int64_t total = 0;
  for (const Array& leaf : leaves) total += leaf.byte_size();
  return total;
}

Spec Element::spec() const {
  Spec spec{nest, {}};
  for (const Array& leaf : leaves) spec.leaves.push_back(Spec::of(leaf).leaves[0]);
  return spec;
}

bool Element::operator==(const Element& other) const {
  return nest == other.nest && std::equal(leaves.begin(), leaves.end(), other.leaves.begin(), other.leaves.end());
}

std::string Element::describe() const {
  if (nest->kind() == Nest::Kind::kLeaf) return leaves[0].describe();
  std::string text = "(";
  for (size_t i = 0; i < leaves.size(); ++i) text += (i ? ", " : "") + nest->path_of(i) + ": " + leaves[i].describe();
  return text + ")";
}

Element tuple_of(std::vector<Element> parts) {
  std::vector<const Nest*> nests;
  Element joined;
  for (Element& part : parts) {
    nests.push_back(part.nest);
    for (Array& leaf : part.leaves) joined.leaves.push_back(std::move(leaf));
  }
  joined.nest = Nest::tuple(std::move(nests));
  return joined;
}

Element dict_of(std::vector<std::pair<std::string, Element>> parts) {
  std::vector<Nest::Field> fields;
  for (const auto& [key, part] : parts) fields.emplace_back(key, part.nest);
  std::ranges::sort(parts, {}, &std::pair<std::string, Element>::first);  // leaves are numbered by sorted key
  Element joined;
  joined.nest = Nest::dict(std::move(fields));
  for (auto& [key, part] : parts)
    for (Array& leaf : part.leaves) joined.leaves.push_back(std::move(leaf));
  return joined;
}

namespace {

// Whether `next` starts `rows` bytes after the first byte of `first`, in the same buffer.
bool follows(const Array& first, int64_t rows, const Array& next) {
  return first.owner() && next.owner() && first.owner()->root() == next.owner()->root() &&
         first.type() != DType::kBytes && first.type() == next.type() &&
         static_cast<const std::byte*>(first.raw()) + rows == static_cast<const std::byte*>(next.raw());
}

// The block together with the `rows` rows that follow it in memory.
Array widened(const Array& block, int64_t rows) {
  InlineVector<int64_t, 8> dims;
  for (const int64_t dim : block.shape()) dims.push_back(dim);
  dims[0] += rows;
  Buffer* const whole = block.owner()->root();
  whole->keep();
  return Array::over(block.raw(), Dims(dims.begin(), dims.size()), block.type(), whole);
}

// Returns the block that these rows form if they are adjacent in one buffer.
std::optional<Array> block_of(const Arrays& rows) {
  const Array& first = rows[0];
  const int64_t bytes = first.byte_size();
  for (size_t i = 0; i < rows.size(); ++i)
    if (!follows(first, bytes * static_cast<int64_t>(i), rows[i]) ||
        !std::ranges::equal(first.shape(), rows[i].shape()))
      return std::nullopt;
  std::vector<int64_t> dims{static_cast<int64_t>(rows.size())};
  dims.insert(dims.end(), first.shape().begin(), first.shape().end());
  Buffer* const whole = first.owner()->root();
  whole->keep();
  return Array::over(first.raw(), dims, first.type(), whole);
}

}  // namespace

Result<void> Column::make_dense() {
  if (dense_) return {};
  if (std::optional<Array> whole = block_of(rows_)) {
    *this = Column(*std::move(whole));
    return {};
  }
  STOKER_TRY(block_, stacked(rows_));
  rows_.clear();
  dense_ = true;
  return {};
}

void Column::make_rows() {
  if (!dense_) return;
  const int64_t n = size();
  rows_.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) rows_.push_back(block_.row(i));
  block_ = Array();
  dense_ = false;
}

Column Column::slice(int64_t first, int64_t n) const {
  if (dense_) return Column(block_.rows(first, n));
  return Column(Arrays(rows_.begin() + first, rows_.begin() + first + n));
}

Column Column::select(const std::vector<int32_t>& rows) const {
  Arrays chosen;
  chosen.reserve(rows.size());
  for (int32_t i : rows) chosen.push_back(row(i));
  return Column(std::move(chosen));
}

void Column::append(Column more) {
  if (dense_ && more.dense_ && follows(block_, block_.byte_size(), more.block_) &&
      std::ranges::equal(block_.shape().subspan(1), more.block_.shape().subspan(1))) {
    block_ = widened(block_, more.block_.dim(0));
    return;
  }
  make_rows();
  more.make_rows();
  rows_.insert(rows_.end(), std::make_move_iterator(more.rows_.begin()), std::make_move_iterator(more.rows_.end()));
}

void Column::append(Array row) {
  make_rows();
  rows_.push_back(std::move(row));
}

int64_t Column::byte_size() const {
  if (dense_) return block_.byte_size();
  int64_t total = 0;
  for (const Array& row : rows_) total += row.byte_size();
  return total;
}

Run Run::of(Element element, Origin origin) {
  RunBuilder builder;
  builder.add(std::move(element), std::move(origin));
  return builder.take();
}

int32_t run_size(int64_t rows) {
  if (std::in_range<int32_t>(rows) && rows >= 0) return static_cast<int32_t>(rows);
  throw Error::exhausted("expected at most ", kMostRowsOfRun, " elements in one piece, got ", rows);
}

Run Run::failure(Error error, Origin origin, bool struck) {
  RunBuilder builder;
  builder.add_failure(std::move(error), std::move(origin), struck);
  return builder.take();
}

const Failure* Run::failure_of(int32_t row) const {
  for (const Failure& failure : failed)
    if (failure.row == row) return &failure;
  return nullptr;
}

Run Run::slice(int32_t first, int32_t n) const {
  if (first == 0 && n == size) return *this;
  Run part;
  part.nest = nest;
  part.size = n;
  part.origins = origins.slice(first, n);
  for (const Column& column : columns) part.columns.push_back(column.slice(first, n));
  for (const Failure& failure : failed)
    if (failure.row >= first && failure.row < first + n) part.failed.push_back(failure.at(failure.row - first));
  if (!positions.empty()) part.positions.assign(positions.begin() + first, positions.begin() + first + n);
  if (passes.size() > 1)
    part.passes.assign(passes.begin() + first, passes.begin() + first + n);
  else
    part.passes = passes;
  return part;
}

Run Run::select(const std::vector<int32_t>& rows) const {
  Run part;
  part.nest = nest;
  part.size = run_size(std::ssize(rows));
  part.origins = origins.select(rows);
  for (const Column& column : columns) part.columns.push_back(column.select(rows));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (const Failure* failure = failure_of(rows[i])) part.failed.push_back(failure->at(static_cast<int32_t>(i)));
    if (!positions.empty()) part.positions.push_back(positions[static_cast<size_t>(rows[i])]);
    if (passes.size() > 1) part.passes.push_back(passes[static_cast<size_t>(rows[i])]);
  }
  if (passes.size() <= 1) part.passes = passes;
  return part;
}

namespace {

// Appends a row without a value, so that every column has one entry per row.
void append_blank(Run& run) {
  for (Column& column : run.columns) column.append(column.size() > 0 ? column.row(0) : Array());
}

void spell_out_passes(Run& run) {
  if (run.passes.size() == 1) run.passes.resize(static_cast<size_t>(run.size), run.passes[0]);
}

}  // namespace

void Run::append(Run more) {
  if (size == 0) {
    *this = std::move(more);
    return;
  }
  const int32_t together = run_size(int64_t{size} + more.size);
  if (names() || more.names()) {
    if (passes.size() > 1 || more.passes.size() > 1 || passes != more.passes) {
      spell_out_passes(*this);
      spell_out_passes(more);
      passes.insert(passes.end(), more.passes.begin(), more.passes.end());
    }
    positions.insert(positions.end(), more.positions.begin(), more.positions.end());
    size = together;
    return;
  }
  origins.append(more.origins);
  const bool all_failed = static_cast<int32_t>(failed.size()) == size;
  for (const Failure& failure : more.failed) failed.push_back(failure.at(failure.row + size));
  if (nest == more.nest) {
    for (size_t i = 0; i < columns.size(); ++i) columns[i].append(std::move(more.columns[i]));
  } else if (static_cast<int32_t>(more.failed.size()) == more.size) {
    for (int32_t i = 0; i < more.size; ++i) append_blank(*this);
  } else if (all_failed || nest == nullptr) {
    nest = more.nest;
    Columns grown;
    for (Column& column : more.columns) {
      Column blanks(Arrays(static_cast<size_t>(size), column.row(0)));
      blanks.append(std::move(column));
      grown.push_back(std::move(blanks));
    }
    columns = std::move(grown);
  } else {
    for (int32_t i = 0; i < more.size; ++i) {
      append_blank(*this);
      fail(size + i, Error::invalid("an element of structure ", more.nest->describe(), " follows one of structure ",
                                    nest->describe()));
    }
  }
  size = together;
}

void Run::fail(int32_t row, Error error) {
  auto at = std::ranges::lower_bound(failed, row, {}, &Failure::row);
  if (at != failed.end() && at->row == row) return;
  const bool struck = error.ends_program() || error.is_extra();
  failed.insert(at, Failure{row, std::move(error), struck});
}

void Run::fail_truncated(const Run& input) {
  if (!Buffer::any_backed()) return;
  for (const Column& column : input.columns) {
    if (column.dense() && column.block().check_intact()) continue;
    for (int32_t row = 0; row < input.size; ++row) {
      Result<void> intact = column.check_intact(row);
      if (intact || input.failure_of(row)) continue;
      std::erase_if(failed, [&](const Failure& failure) {
        return failure.row == row && !failure.struck && failure.error.code() != Code::kCancelled;
      });
      fail(row, std::move(intact).error());
    }
  }
}

void Run::freeze_if_shared() const {
  for (const Column& column : columns) {
    if (column.dense()) column.block().freeze_if_shared();
    for (const Array& row : column.rows()) row.freeze_if_shared();
  }
}

int64_t Run::byte_size() const {
  int64_t total = 0;
  for (const Column& column : columns) total += column.byte_size();
  return total;
}

namespace {

uint64_t hash_of_values(const Array& array) {
  uint64_t hash = 0;
  if (array.type() == DType::kBytes) {
    const int64_t step = std::max<int64_t>(1, array.count() / 10'000);
    for (int64_t i = 0; i < array.count(); i += step) hash = hash_of(array.bytes_at(i), hash);
    return hash;
  }
  const std::string_view bytes(static_cast<const char*>(array.raw()), static_cast<size_t>(array.byte_size()));
  constexpr size_t kAll = size_t{1} << 20, kParts = 256;
  if (bytes.size() <= kAll) return hash_of(bytes);
  for (size_t i = 0; i < kParts; ++i)  // evenly spaced parts
    hash = hash_of(bytes.substr((bytes.size() - kAll / kParts) / (kParts - 1) * i, kAll / kParts), hash);
  return hash_of(bytes.substr(bytes.size() - kAll / kParts), hash);
}

}  // namespace

std::string Element::fingerprint() const {
  std::string all;
  uint64_t hash = 0;
  for (const Array& leaf : leaves) {
    all += std::string(name_of(leaf.type())) + shape_text(leaf.shape()) + " ";
    hash = mix_bits(hash + hash_of_values(leaf));
  }
  return shortened(std::move(all), 200) + hex_of(hash);
}

ElementType ElementType::of(const Element& element) {
  ElementType type;
  type.nest = element.nest;
  for (const Array& leaf : element.leaves) type.types.push_back(leaf.type());
  return type;
}

bool ElementType::operator==(const ElementType& other) const {
  return nest == other.nest && std::ranges::equal(types, other.types);
}

std::string ElementType::describe() const {
  std::string all;
  for (const DType type : types) all += (all.empty() ? "" : ", ") + std::string(name_of(type));
  if (!nest || nest == Nest::leaf()) return all;
  const size_t fields = nest->fields().size();
  if (fields == 0) return nest->kind() == Nest::Kind::kTuple ? "an empty tuple" : "an empty dict";
  if (nest == Nest::tuple_of_leaves(fields))
    return "a tuple of " + std::to_string(fields) + (fields == 1 ? " component (" : " components (") + all + ")";
  return nest->describe() + " of " + all;
}

Result<void> ResultRows::begin(const Element& element) {
  leaves_.resize(element.leaves.size());
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (element.leaves[i].is_number()) {
      STOKER_TRY(leaves_[i].block, Array::make({int64_t{rows_}}, element.leaves[i].type()));
      leaves_[i].numbers = static_cast<std::byte*>(leaves_[i].block.mutable_raw());
    } else {
      leaves_[i].each.resize(static_cast<size_t>(rows_));
    }
  }
  begun_ = true;
  return {};
}

void ResultRows::spell_out(Leaf& leaf) {
  leaf.each.resize(static_cast<size_t>(rows_));
  for (int32_t row = 0; row < rows_; ++row) leaf.each[static_cast<size_t>(row)] = leaf.block.row(row);
  leaf.block = Array();
}

Result<void> ResultRows::set_slowly(int32_t row, Element&& element) {
  if (!type_.nest) type_ = ElementType::of(element);
  if (!fits(element))
    return Error::invalid("returned ", ElementType::of(element).describe(), ", but the first element was ",
                          type_.describe(), "; every element must have the same structure and types");
  if (!begun_) STOKER_TRY(begin(element));
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (put_number(leaves_[i], row, element.leaves[i])) continue;
    if (leaves_[i].each.empty()) spell_out(leaves_[i]);
    element.leaves[i].freeze_if_shared();
    leaves_[i].each[static_cast<size_t>(row)] = std::move(element.leaves[i]);
  }
  return {};
}

void ResultRows::put_into(Run& run) {
  run.columns.clear();
  run.nest = begun_ ? type_.nest : Nest::leaf();
  if (!begun_) run.columns.emplace_back(Arrays(static_cast<size_t>(rows_)));
  for (Leaf& leaf : leaves_) {
    if (leaf.each.empty())
      run.columns.emplace_back(std::move(leaf.block));
    else
      run.columns.emplace_back(std::move(leaf.each));
  }
}

void RunBuilder::add(Element element, Origin origin) {
  if (run_.size == 0) {
    run_.nest = element.nest;
    run_.columns.resize(element.leaves.size());
  }
  if (run_.nest != element.nest) {
    Run one = Run::of(std::move(element), std::move(origin));
    run_.append(std::move(one));
    return;
  }
  for (size_t i = 0; i < element.leaves.size(); ++i) run_.columns[i].append(std::move(element.leaves[i]));
  run_.origins.append(std::move(origin));
  ++run_.size;
}

void RunBuilder::add_failure(Error error, Origin origin, bool struck) {
  if (run_.size == 0) run_.nest = Nest::leaf(), run_.columns.resize(1);
  append_blank(run_);
  const bool travels = struck || error.ends_program() || error.is_extra();
  run_.failed.push_back({run_.size, std::move(error), travels});
  run_.origins.append(std::move(origin));
  ++run_.size;
}

}  // namespace stoker
