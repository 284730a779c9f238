#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "stoker/core/charge.h"
#include "stoker/core/element.h"

namespace stoker {

// Counts the memory of a cache in the budget of the process. It never displaces other memory.
class CacheAccount final : public Account {
 public:
  // Returns false if the budget has no free space. With `must`, always takes the bytes.
  bool take(int64_t bytes, bool must) override;
  void give_back(int64_t bytes) override;
  int64_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> held_{0};
};

// The origins of the rows of a chunk. Takes no memory for origins that differ only in consecutive positions.
class RowOrigins {
 public:
  explicit RowOrigins(int32_t rows) : rows_(static_cast<size_t>(rows)) {}
  // Returns false if the budget has no space.
  bool set(int32_t row, Origin origin, Charge& charge);
  // All of these rows must have been set.
  Origins slice(int32_t first, int32_t n) const;

 private:
  Origin at(int32_t row) const;
  bool charge_for(const Origin& origin, Charge& charge);

  size_t rows_;
  bool empty_ = true;
  Origin first_;                    // with the position that row 0 would have
  std::vector<int64_t> positions_;  // empty: they are consecutive
  std::vector<Origin> each_;        // empty: they differ only in their positions
  const Origin* last_parent_ = nullptr;
};

// The rows that a cache keeps, by number. Small rows are kept in chunks of consecutive numbers: numbers and arrays of
// one shape in one block for each leaf, others in memory that the rows of the chunk share. A large row has memory of
// its own. All of it is charged to the account, including the memory of the tables; a row for which the budget has no
// space is not kept.
//
// Not synchronized. Rows that were read stay valid when they are dropped.
class CachedRows {
 public:
  // A row in memory of its own.
  struct Own {
    Element element;
    Origin origin;
    Charge charge;
    int64_t bytes = 0;  // of its arrays
  };
  enum class Put { kDone, kNoSpace, kLost };  // kLost: the file that contains the values was truncated

  explicit CachedRows(std::shared_ptr<Account> account);
  CachedRows(const CachedRows&) = delete;
  CachedRows& operator=(const CachedRows&) = delete;
  ~CachedRows();

  static bool is_small(const Run& run, int32_t row);
  // Copies a row of any size. Takes time for a large one, so call it without a lock.
  static Result<Own> copy_of(const Run& run, int32_t row, const std::shared_ptr<Account>& account);

  bool has(int64_t number) const;
  // Copies a small row, unless it is kept. Without `may_grow`, only into chunks that exist.
  Put put(int64_t number, const Run& run, int32_t row, bool may_grow = true);
  // Keeps the row, unless it is kept.
  void put(int64_t number, Own own);
  // Returns rows of one structure from `first` on, at least one and at most `most`; nullopt if `first` is not kept.
  std::optional<Run> find(int64_t first, int64_t most) const;
  // Drops rows, at least this many bytes if possible. Returns the number of bytes.
  int64_t drop(int64_t bytes);
  int64_t size() const { return size_; }

 private:
  class Chunk;
  struct Place {
    int64_t start;  // the number of the first row of the chunk
    int32_t rows;
  };
  Place place_of(int64_t number) const;
  const Chunk* chunk_with(int64_t number) const;  // null if the number is not in a chunk
  void set_most_rows(const Run& run, int32_t row);

  const std::shared_ptr<Account> account_;
  int64_t most_rows_ = 0;  // of a chunk; 0: unknown until the first row
  uint32_t mixed_ = 0;     // leaves whose values have several shapes or types
  int64_t size_ = 0;
  std::unordered_map<int64_t, std::unique_ptr<Chunk>> chunks_;  // by the number of the first row
  std::unordered_map<int64_t, Own> own_;
};

}  // namespace stoker
