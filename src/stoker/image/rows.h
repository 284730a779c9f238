#pragma once

#include "stoker/core/result.h"
#include "stoker/image/view.h"

namespace stoker {

// What the rows of a picture are like.
struct RowForm {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  DType type = DType::kUint8;
  int64_t pixel = channels;  // values from one pixel to the next: more than channels where some are to be passed over

  // Values in a row without what is passed over.
  int64_t row_size() const { return width * channels; }
};

// A picture that is asked for from the top, some rows at a time.
class RowSource {
 public:
  static constexpr int kMostRows = 4;

  explicit RowSource(const RowForm& form) : form_(form) {}
  virtual ~RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;

  const RowForm& form() const { return form_; }
  // Rows [y, y + n), good until the next call. No row before `y` is asked for
  // any more, and n is kMostRows at most.
  virtual Result<void> rows(int64_t y, int n, const void** rows) = 0;

 private:
  RowForm form_;
};

// One that lies in memory: its rows are good for as long as that is.
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

// Where the rows of a picture go, from the top.
class RowSink {
 public:
  RowSink() = default;
  virtual ~RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;

  // Memory for row `y`, which done() says is filled.
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
