#include "stoker/codecs/record_index.h"

#include <gtest/gtest.h>

#include <random>

#include "stoker/codecs/tfrecord.h"

namespace stoker {
namespace {

// The offsets of records and damage that a reader with all checks finds.
std::vector<int64_t> places_by_reading(Bytes file) {
  RecordParser parser;
  std::vector<int64_t> places;
  while (true) {
    const int64_t place = parser.offset();
    const RecordParser::Step step = parser.step(file, static_cast<int64_t>(file.size()));
    if (step.kind == RecordParser::Step::Kind::kEnd) return places;
    places.push_back(place);
    file.remove_prefix(step.consumed);
  }
}

std::string random_file(std::mt19937& random) {
  std::string file;
  const auto records = random() % 12;
  for (unsigned i = 0; i < records; ++i) append_record(file, std::string(random() % 40, static_cast<char>(random())));
  if (file.empty()) return file;
  for (unsigned i = random() % 4; i > 0; --i) file[random() % file.size()] ^= static_cast<char>(1 << random() % 8);
  if (random() % 3 == 0) file.resize(random() % file.size());
  return file;
}

TEST(RecordIndex, FindsTheSameOffsetsAsReadingEverything) {
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    const std::string file = random_file(random);
    ASSERT_EQ(places_of_records(file), places_by_reading(file)) << i;
  }
}

TEST(RecordIndex, IgnoresAFrameInsideAPayload) {
  std::string inner, file;
  append_record(inner, "inside");
  append_record(file, inner);
  append_record(file, "behind");
  file[12 + 5] ^= 1;  // the payload is damaged; its length is correct
  EXPECT_EQ(places_of_records(file), places_by_reading(file));
  EXPECT_EQ(places_of_records(file).size(), 2u);
}

TEST(RecordIndex, SurvivesSerialization) {
  const FileMark mark{.bytes = 100, .changed_ns = -5, .ends_hash = ~0ull};
  const std::string bytes = index_to_bytes(mark, std::vector<int64_t>{0, 30, 70}, std::vector<int64_t>{-1, 2, 9});
  const IndexView view = *IndexView::of(bytes);
  EXPECT_EQ(view.records(), 3);
  EXPECT_TRUE(view.file().same_bytes(mark));
  EXPECT_EQ(view.file().changed_ns, -5);
  EXPECT_EQ(view.place(1), 30);
  EXPECT_EQ(view.bytes(1), 40);
  EXPECT_EQ(view.bytes(2), 30);
  ASSERT_TRUE(view.has_labels());
  EXPECT_EQ(view.label(0), -1);
  EXPECT_FALSE(IndexView::of(index_to_bytes(mark, std::vector<int64_t>{0}, {}))->has_labels());
}

TEST(RecordIndex, IsRejectedIfAnyBitOrLengthIsWrong) {
  const std::string bytes = index_to_bytes({.bytes = 100}, std::vector<int64_t>{0, 30}, std::vector<int64_t>{1, 2});
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_FALSE(IndexView::of(damaged).ok()) << bit;
  }
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(IndexView::of(Bytes(bytes).substr(0, size)).ok());
  EXPECT_FALSE(IndexView::of(bytes + std::string(8, '\0')).ok());
}

}  // namespace
}  // namespace stoker
