#pragma once

#include "stoker/core/result.h"
#include "stoker/image/view.h"

namespace stoker {

// The shape and type of the rows of an image.
struct RowForm {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  DType type = DType::kUint8;
  int64_t pixel = channels;  // values from one pixel to the next: more than `channels` if some are padding

  // The number of values in a row without padding.
  int64_t row_size() const { return width * channels; }
};

// An image that is read from top to bottom, several rows at a time.
class RowSource {
 public:
  static constexpr int kMostRows = 4;

  explicit RowSource(const RowForm& form) : form_(form) {}
  virtual ~RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;

  const RowForm& form() const { return form_; }
  // Provides rows [y, y + n), valid until the next call. n is at most kMostRows. Later calls must
  // not request rows before `y`.
  virtual Result<void> rows(int64_t y, int n, const void** rows) = 0;

 private:
  RowForm form_;
};

// An image in memory. Its rows are valid as long as that memory.
class MemoryRows final : public RowSource {
 public:
  explicit MemoryRows(const ImageView& view)
      : RowSource({view.height, view.width, view.channels, view.type, view.channels}), view_(view) {}

  Result<void> rows(int64_t y, int n, const void** rows) override {
    for (int k = 0; k < n; ++k) rows[k] = view_.row<std::byte>(y + k);
    return {};
  }

 private:
  ImageView view_;
};

// Receives the rows of an image, from top to bottom.
class RowSink {
 public:
  RowSink() = default;
  virtual ~RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;

  // Returns memory for row `y`. The caller calls done() when the row is complete.
  virtual void* row(int64_t y) = 0;
  virtual void done(int64_t y) = 0;
};

class MemorySink final : public RowSink {
 public:
  explicit MemorySink(const MutableImageView& view) : view_(view) {}
  void* row(int64_t y) override { return view_.row<std::byte>(y); }
  void done(int64_t) override {}

 private:
  MutableImageView view_;
};

}  // namespace stoker
