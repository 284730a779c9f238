#include "stoker/runtime/cached_rows.h"

#include <algorithm>
#include <bit>

#include "stoker/runtime/budget.h"

namespace stoker {
namespace {

constexpr int64_t kSmallRow = 2048;
// The bits of `mixed`.
constexpr size_t kMostLeaves = 32;
// A chunk is at most this large if its rows are like the first one. Blocks of this size come from malloc without waste.
constexpr int64_t kChunkBytes = 32 << 10;
constexpr int64_t kLeastRows = 16, kMostRows = 1024;
constexpr int64_t kLeastPart = 960, kMostPart = 15'360;
// malloc rounds sizes up, and keeps a size in front of each block.
constexpr int64_t kBlock = 24;
// A node and a bucket of a map, while the map grows.
constexpr int64_t kMapNode = 96;

// The memory of a buffer in addition to its bytes: the object, the alignment, and sizes that are rounded up.
int64_t beyond(int64_t bytes) {
  const auto whole = static_cast<size_t>(bytes) + 128;
  const size_t taken = whole < 4096 + 128 ? std::bit_ceil(whole) : whole;
  return static_cast<int64_t>(taken + std::bit_ceil(sizeof(Buffer))) - bytes + 2 * kBlock;
}

// The memory of the shape of an array in addition to the array.
int64_t beyond(const Array& array) {
  return array.rank() > 3
             ? static_cast<int64_t>(std::bit_ceil(std::max<size_t>(64, array.shape().size_bytes()))) + kBlock
             : 0;
}

int64_t bytes_of(const std::vector<Origin>& origins);
int64_t bytes_of_members(const Origin& origin) {
  return origin.members ? bytes_of(*origin.members) + 48 + 2 * kBlock : 0;
}
// The memory of everything to which an origin refers.
int64_t bytes_of_parents(const Origin* parent) {
  int64_t bytes = 0;
  for (; parent; parent = parent->parent.get())
    bytes += static_cast<int64_t>(sizeof(Origin)) + 16 + kBlock + bytes_of_members(*parent);
  return bytes;
}
int64_t bytes_of(const std::vector<Origin>& origins) {
  auto bytes = static_cast<int64_t>(origins.size() * sizeof(Origin));
  for (const Origin& origin : origins) bytes += bytes_of_members(origin) + bytes_of_parents(origin.parent.get());
  return bytes;
}

// Characters or values, with the table that an array of strings needs.
int64_t bytes_of(const Array& array) {
  const bool has_table = array.type() == DType::kBytes && array.rank() > 0;
  return array.byte_size() + (has_table ? array.count() * static_cast<int64_t>(sizeof(Bytes)) : 0);
}

void freeze(Buffer* buffer) {
  if (!buffer) return;
  buffer->keep_charged();
  buffer->freeze();
}

template <typename T>
int64_t bytes_of_items(int64_t n) {
  return n * static_cast<int64_t>(sizeof(T)) + kBlock;
}

}  // namespace

bool CacheAccount::take(int64_t bytes, bool must) {
  if (must)
    Budget::process().take(bytes);
  else if (!Budget::process().try_take(bytes))
    return false;
  held_.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void CacheAccount::give_back(int64_t bytes) {
  held_.fetch_sub(bytes, std::memory_order_relaxed);
  Budget::process().give_back(bytes);
}

// ---- origins

Origin RowOrigins::at(int32_t row) const {
  const auto i = static_cast<size_t>(row);
  if (!each_.empty()) return each_[i];
  Origin origin = first_;
  origin.position = positions_.empty() ? origin.position + row : positions_[i];
  return origin;
}

bool RowOrigins::charge_for(const Origin& origin, Charge& charge) {
  int64_t bytes = bytes_of_members(origin);
  if (origin.parent.get() != last_parent_) bytes += bytes_of_parents(origin.parent.get());
  if (bytes > 0 && !charge.grow(bytes)) return false;
  last_parent_ = origin.parent.get();
  return true;
}

bool RowOrigins::set(int32_t row, Origin origin, Charge& charge) {
  const auto i = static_cast<size_t>(row);
  const auto rows = static_cast<int64_t>(rows_);
  if (empty_) {
    if (!charge_for(origin, charge)) return false;
    first_ = std::move(origin);
    first_.position -= row;
    empty_ = false;
    return true;
  }
  if (each_.empty()) {
    Origin alike = first_;
    alike.position = origin.position;
    if (!first_.members && alike == origin && alike.elements == origin.elements) {
      if (positions_.empty() && origin.position == first_.position + row) return true;
      if (positions_.empty()) {
        if (!charge.grow(bytes_of_items<int64_t>(rows))) return false;
        positions_.resize(rows_);
        for (size_t k = 0; k < rows_; ++k) positions_[k] = first_.position + static_cast<int64_t>(k);
      }
      positions_[i] = origin.position;
      return true;
    }
    if (!charge.grow(bytes_of_items<Origin>(rows))) return false;
    std::vector<Origin> each;
    each.reserve(rows_);
    for (size_t k = 0; k < rows_; ++k) each.push_back(at(static_cast<int32_t>(k)));
    each_ = std::move(each);
  }
  if (!charge_for(origin, charge)) return false;
  each_[i] = std::move(origin);
  return true;
}

Origins RowOrigins::slice(int32_t first, int32_t n) const {
  const auto from = static_cast<size_t>(first);
  const auto count = static_cast<size_t>(n);
  if (!each_.empty()) return Origins(RecycledVector<Origin>(each_.begin() + first, each_.begin() + first + n));
  if (n == 1) {
    Origins one;
    one.append(at(first));
    return one;
  }
  Origins all = positions_.empty() ? Origins(first_.source, first_.pass, first_.position + first, n)
                                   : Origins(first_.source, {first_.pass},
                                             Numbers(positions_.data() + from, positions_.data() + from + count));
  all.set_parent(first_.parent);
  all.set_elements(first_.elements);
  return all;
}

// ---- a chunk

class CachedRows::Chunk {
 public:
  // `mixed` has a bit for each leaf whose values have had several shapes or types.
  Chunk(int32_t rows, const Nest* nest, size_t leaves, uint32_t& mixed, Charge charge)
      : rows_(rows),
        nest_(nest),
        mixed_(mixed),
        charge_(std::move(charge)),
        kept_(static_cast<size_t>(rows)),
        leaves_(leaves),
        origins_(rows) {}
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk() {
    if (part_) part_->drop();
  }

  // The memory of a chunk without values.
  static int64_t bytes_of_tables(int32_t rows, size_t leaves) {
    return static_cast<int64_t>(sizeof(Chunk)) + kBlock + kMapNode +
           bytes_of_items<Leaf>(static_cast<int64_t>(leaves)) + rows / 8 + 2 * kBlock;
  }

  bool has(int32_t row) const { return kept_[static_cast<size_t>(row)]; }
  bool fits(const Run& run) const { return run.nest == nest_ && run.columns.size() == leaves_.size(); }
  int64_t size() const { return size_; }
  int64_t bytes() const { return charge_.bytes() + buffer_bytes_; }

  Put put(int32_t at, const Run& run, int32_t row) {
    const AccountScope account(charge_.account());
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const Array value = run.columns[i].row(row);
      if (!put_value(i, at, value)) return Put::kNoSpace;
      if (!value.check_intact()) return Put::kLost;
    }
    if (!origins_.set(at, run.origins.at(row), charge_)) return Put::kNoSpace;
    kept_[static_cast<size_t>(at)] = true;
    ++size_;
    return Put::kDone;
  }

  Run slice(int32_t first, int64_t most) const {
    int32_t n = 1;
    while (n < most && first + n < rows_ && has(first + n)) ++n;
    Run run;
    run.nest = nest_;
    run.size = n;
    run.origins = origins_.slice(first, n);
    for (const Leaf& leaf : leaves_) {
      if (leaf.each.empty())
        run.columns.push_back(Column(leaf.block.rows(first, n)));
      else
        run.columns.push_back(Column(Arrays(leaf.each.begin() + first, leaf.each.begin() + first + n)));
    }
    return run;
  }

 private:
  // A block while all values have one type and shape, then separate arrays.
  struct Leaf {
    bool empty = true;
    Array block;
    Arrays each;
  };

  bool put_value(size_t number, int32_t at, const Array& value) {
    Leaf& leaf = leaves_[number];
    if (leaf.empty && !start(leaf, value, (mixed_ >> number & 1) != 0)) return false;
    if (leaf.each.empty()) {
      if (is_row_of(leaf.block, value)) {
        const auto bytes = static_cast<size_t>(value.byte_size());
        std::memcpy(leaf.block.owner()->data() + bytes * static_cast<size_t>(at), value.raw(), bytes);
        return true;
      }
      if (!spell_out(leaf)) return false;
      mixed_ |= uint32_t{1} << number;
    }
    std::optional<Array> copy = small_copy(value);
    if (!copy) return false;
    leaf.each[static_cast<size_t>(at)] = *std::move(copy);
    return true;
  }

  static bool is_row_of(const Array& block, const Array& value) {
    return value.type() == block.type() && std::ranges::equal(value.shape(), block.shape().subspan(1));
  }

  bool start(Leaf& leaf, const Array& value, bool mixed) {
    const int64_t bytes = value.byte_size() * rows_;
    if (mixed || value.type() == DType::kBytes || bytes > 2 * kChunkBytes) {
      if (!start_each(leaf)) return false;
    } else {
      std::vector<int64_t> dims{rows_};
      dims.insert(dims.end(), value.shape().begin(), value.shape().end());
      if (!charge_.grow(beyond(bytes))) return false;
      Result<Array> block = Array::make(dims, value.type());
      if (!block) return false;
      buffer_bytes_ += bytes;
      leaf.block = *std::move(block);
      freeze(leaf.block.owner());
    }
    leaf.empty = false;
    return true;
  }

  bool start_each(Leaf& leaf) {
    const auto bytes = static_cast<size_t>(rows_) * sizeof(Array);
    if (!charge_.grow(static_cast<int64_t>(std::bit_ceil(std::max<size_t>(64, bytes))) + kBlock)) return false;
    leaf.each.resize(static_cast<size_t>(rows_));
    return true;
  }

  // A block of arrays stays in memory: its rows are views.
  bool spell_out(Leaf& leaf) {
    if (!start_each(leaf)) return false;
    for (int32_t row = 0; row < rows_; ++row)
      if (has(row)) leaf.each[static_cast<size_t>(row)] = leaf.block.row(row);
    if (leaf.block.rank() == 1) buffer_bytes_ -= leaf.block.byte_size();
    leaf.block = Array();
    return true;
  }

  std::optional<Array> small_copy(const Array& value) {
    if (value.is_number()) return *value.clone();
    if (const int64_t shape = beyond(value); shape > 0 && !charge_.grow(shape)) return std::nullopt;
    std::byte* const memory = take(bytes_of(value));
    if (!memory) return std::nullopt;
    auto* characters = reinterpret_cast<char*>(memory);
    if (value.type() != DType::kBytes) {
      std::memcpy(memory, value.raw(), static_cast<size_t>(value.byte_size()));
    } else if (value.rank() == 0) {
      std::ranges::copy(value.bytes(), characters);
      part_->keep();
      return Array::view_bytes({characters, value.bytes().size()}, part_);
    } else {
      auto* table = reinterpret_cast<Bytes*>(memory);
      characters += value.count() * static_cast<int64_t>(sizeof(Bytes));
      for (int64_t i = 0, n = value.count(); i < n; ++i) {
        const Bytes text = value.bytes_at(i);
        new (table + i) Bytes(characters, text.size());
        characters = std::ranges::copy(text, characters).out;
      }
    }
    part_->keep();
    return Array::over(memory, value.shape(), value.type(), part_);
  }

  // Memory of the current part, or of a new one. Arrays keep the parts that they are in.
  std::byte* take(int64_t bytes) {
    constexpr int64_t kAligned = alignof(std::max_align_t);
    bytes = (bytes + kAligned - 1) / kAligned * kAligned;
    if (!part_ || part_used_ + bytes > static_cast<int64_t>(part_->size())) {
      const int64_t next = part_ ? std::min(kMostPart, 2 * static_cast<int64_t>(part_->size())) : kLeastPart;
      const int64_t size = std::max(next, bytes);
      if (!charge_.grow(beyond(size))) return nullptr;
      Result<Buffer*> made = Buffer::make(static_cast<size_t>(size));
      if (!made) return nullptr;
      if (part_) part_->drop();
      part_ = *made;
      freeze(part_);
      part_used_ = 0;
      buffer_bytes_ += size;
    }
    return part_->data() + std::exchange(part_used_, part_used_ + bytes);
  }

  const int32_t rows_;
  const Nest* const nest_;
  uint32_t& mixed_;
  Charge charge_;
  std::vector<bool> kept_;
  int64_t size_ = 0;
  int64_t buffer_bytes_ = 0;
  std::vector<Leaf> leaves_;
  RowOrigins origins_;
  Buffer* part_ = nullptr;  // for values of different sizes
  int64_t part_used_ = 0;
};

// ---- all rows

CachedRows::CachedRows(std::shared_ptr<Account> account) : account_(std::move(account)) {}
CachedRows::~CachedRows() = default;

bool CachedRows::is_small(const Run& run, int32_t row) {
  int64_t bytes = 0;
  for (const Column& column : run.columns) bytes += bytes_of(column.row(row));
  return bytes <= kSmallRow && run.columns.size() <= kMostLeaves;
}

Result<CachedRows::Own> CachedRows::copy_of(const Run& run, int32_t row, const std::shared_ptr<Account>& account) {
  const AccountScope scope(account);
  Own own{Element(run.nest, {}), run.origins.at(row), Charge(account)};
  int64_t tables = static_cast<int64_t>(sizeof(Own)) + kMapNode + bytes_of_members(own.origin) +
                   bytes_of_parents(own.origin.parent.get());
  if (run.columns.size() > 2)
    tables += static_cast<int64_t>(std::bit_ceil(run.columns.size()) * sizeof(Array)) + kBlock;
  for (const Column& column : run.columns) {
    const Array value = column.row(row);
    tables += beyond(value) + (value.is_number() ? 0 : beyond(bytes_of(value)));
  }
  if (!own.charge.grow(tables)) return Error::exhausted("the memory budget has no space for ", tables, " bytes now");
  for (const Column& column : run.columns) {
    STOKER_TRY(Array copy, column.row(row).clone());
    freeze(copy.owner());
    own.bytes += copy.owner() ? static_cast<int64_t>(copy.owner()->size()) : 0;
    own.element.leaves.push_back(std::move(copy));
  }
  return own;
}

// The first chunks are smaller, because many caches are.
CachedRows::Place CachedRows::place_of(int64_t number) const {
  if (number < kLeastRows) return {0, kLeastRows};
  const int64_t rows =
      number < most_rows_ ? static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(number))) : most_rows_;
  return {number / rows * rows, static_cast<int32_t>(rows)};
}

const CachedRows::Chunk* CachedRows::chunk_with(int64_t number) const {
  if (chunks_.empty()) return nullptr;
  const Place place = place_of(number);
  const auto found = chunks_.find(place.start);
  const bool has = found != chunks_.end() && found->second->has(static_cast<int32_t>(number - place.start));
  return has ? found->second.get() : nullptr;
}

bool CachedRows::has(int64_t number) const { return chunk_with(number) || own_.contains(number); }

void CachedRows::set_most_rows(const Run& run, int32_t row) {
  int64_t bytes = 1;
  for (const Column& column : run.columns) {
    const Array value = column.row(row);
    bytes += bytes_of(value) + (value.type() == DType::kBytes ? static_cast<int64_t>(sizeof(Array)) : 0);
  }
  const auto rows = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(kChunkBytes / bytes)));
  most_rows_ = std::clamp(rows, kLeastRows, kMostRows);
}

CachedRows::Put CachedRows::put(int64_t number, const Run& run, int32_t row, bool may_grow) {
  if (has(number)) return Put::kDone;
  if (most_rows_ == 0) set_most_rows(run, row);
  const Place place = place_of(number);
  auto found = chunks_.find(place.start);
  if (found == chunks_.end()) {
    Charge charge(account_);
    if (!may_grow || !charge.grow(Chunk::bytes_of_tables(place.rows, run.columns.size()))) return Put::kNoSpace;
    auto made = std::make_unique<Chunk>(place.rows, run.nest, run.columns.size(), mixed_, std::move(charge));
    found = chunks_.emplace(place.start, std::move(made)).first;
  }
  Chunk& chunk = *found->second;
  if (!chunk.fits(run)) {
    Result<Own> own = copy_of(run, row, account_);
    if (!own) return own.error().code() == Code::kResourceExhausted ? Put::kNoSpace : Put::kLost;
    put(number, *std::move(own));
    return Put::kDone;
  }
  const Put done = chunk.put(static_cast<int32_t>(number - place.start), run, row);
  if (done == Put::kDone)
    ++size_;
  else if (chunk.size() == 0)
    chunks_.erase(found);
  return done;
}

void CachedRows::put(int64_t number, Own own) {
  if (!has(number)) size_ += own_.emplace(number, std::move(own)).second ? 1 : 0;
}

std::optional<Run> CachedRows::find(int64_t first, int64_t most) const {
  if (const Chunk* const chunk = chunk_with(first))
    return chunk->slice(static_cast<int32_t>(first - place_of(first).start), most);
  Run run;
  for (int64_t number = first; number < first + most; ++number) {
    const auto own = own_.find(number);
    if (own == own_.end() || (run.size > 0 && own->second.element.nest != run.nest)) break;
    run.append(Run::of(own->second.element, own->second.origin));
  }
  return run.size > 0 ? std::optional(std::move(run)) : std::nullopt;
}

int64_t CachedRows::drop(int64_t bytes) {
  int64_t freed = 0;
  while (freed < bytes && !own_.empty()) {
    const Own& own = own_.begin()->second;
    freed += own.bytes + own.charge.bytes();
    --size_;
    own_.erase(own_.begin());
  }
  while (freed < bytes && !chunks_.empty()) {
    const Chunk& chunk = *chunks_.begin()->second;
    freed += chunk.bytes();
    size_ -= chunk.size();
    chunks_.erase(chunks_.begin());
  }
  return freed;
}

}  // namespace stoker
