#include "stoker/codecs/tfrecord.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "stoker/codecs/crc32c.h"

namespace stoker {
namespace {

using Kind = RecordParser::Step::Kind;
using Words = std::vector<std::string>;

std::string file_of(const std::vector<std::string>& payloads) {
  std::string file;
  for (const std::string& payload : payloads) append_record(file, payload);
  return file;
}

// Returns "offset payload" for records, and the message for errors. `piece` is the number of bytes
// by which the window grows; `size_known` means that the file size is known.
Words parsed(const std::string& file, size_t piece = SIZE_MAX, bool size_known = true) {
  RecordParser parser;
  Words found;
  size_t begin = 0, size = 0;
  while (true) {
    const bool ended = begin + size == file.size();
    const int64_t offset = parser.offset();
    const auto left = size_known || ended ? std::optional(static_cast<int64_t>(file.size() - begin)) : std::nullopt;
    const RecordParser::Step step = parser.step(Bytes(file).substr(begin, size), left);
    if (step.kind == Kind::kEnd) return found;
    EXPECT_TRUE(step.kind != Kind::kMore || step.wanted > size - step.consumed);
    begin += step.consumed;
    size -= step.consumed;
    if (step.kind == Kind::kMore) size += std::min(piece, file.size() - begin - size);
    if (step.kind == Kind::kRecord) found.push_back(std::to_string(offset) + " " + std::string(step.payload));
    if (step.kind == Kind::kError) found.push_back(step.error->message());
  }
}

// The same for pieces of every size.
Words records(const std::string& file) {
  const Words whole = parsed(file);
  for (const size_t piece : {1, 2, 7, 12, 13, 64}) {
    EXPECT_EQ(parsed(file, piece), whole) << piece;
    EXPECT_EQ(parsed(file, piece, false), whole) << piece;
  }
  return whole;
}

std::string header_of(uint64_t length) {
  std::string header;
  for (int i = 0; i < 8; ++i) header += static_cast<char>(length >> (8 * i));
  const uint32_t crc = masked_crc32c(header);
  for (int i = 0; i < 4; ++i) header += static_cast<char>(crc >> (8 * i));
  return header;
}

TEST(TFRecord, WritesTheExpectedBytes) {
  EXPECT_EQ(file_of({""}), std::string("\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2", 16));
  EXPECT_EQ(file_of({"hello"}), std::string("\x05\0\0\0\0\0\0\0\xea\xb2\x04\x3ehello\xbb\x1f\x1c\x19", 21));
}

TEST(TFRecord, FramesAPayloadInPieces) {
  const std::vector<Bytes> pieces{"he", "", "llo"};
  const RecordFrame frame = frame_of(pieces);
  EXPECT_EQ(frame.header + "hello" + frame.footer, file_of({"hello"}));
}

// The fast path returns the same complete records as step(), and nothing else.
TEST(TFRecord, ReadsCompleteRecordsOnTheFastPath) {
  const std::string good = file_of({"one", "", "three"});
  RecordParser fast, careful;
  while (careful.offset() < static_cast<int64_t>(good.size())) {
    const Bytes window = Bytes(good).substr(static_cast<size_t>(careful.offset()));
    const RecordParser::Step step = careful.step(window, static_cast<int64_t>(window.size()));
    EXPECT_EQ(fast.step_if_whole(window), step.payload);
    EXPECT_EQ(fast.offset(), careful.offset());
  }
  const std::string one = file_of({"one"});
  for (size_t size = 0; size < one.size(); ++size) EXPECT_FALSE(fast.step_if_whole(Bytes(one).substr(0, size))) << size;
  for (size_t bad = 0; bad < one.size(); ++bad) {
    std::string damaged = one;
    damaged[bad] ^= 1;
    EXPECT_FALSE(fast.step_if_whole(damaged)) << bad;
  }
  EXPECT_FALSE(fast.step_if_whole(header_of(UINT64_MAX) + "abcdefgh"));
  EXPECT_EQ(fast.offset(), careful.offset());
}

TEST(TFRecord, DoesNotUseTheFastPathAfterABadHeader) {
  std::string file = file_of({"one", "two"});
  file[0] ^= 1;
  RecordParser parser;
  EXPECT_EQ(parser.step(Bytes(file).substr(0, 19), std::nullopt).kind, Kind::kMore);
  EXPECT_FALSE(parser.step_if_whole(Bytes(file).substr(19)));
}

TEST(TFRecord, ReadsWhatWasWrittenWithOffsets) {
  EXPECT_EQ(records(file_of({"one", "", "three"})), (Words{"0 one", "19 ", "35 three"}));
  EXPECT_EQ(records(""), Words{});
}

TEST(TFRecord, SkipsABadPayloadByItsLength) {
  std::string file = file_of({"one", "twotwo", "three"});
  file[19 + 12 + 3] ^= 1;
  EXPECT_EQ(records(file),
            (Words{"0 one", "the record at byte 19 is damaged: the checksum of its 6 bytes is wrong", "41 three"}));
}

TEST(TFRecord, SearchesForTheNextCompleteRecordAfterABadHeader) {
  std::string file = file_of({"one", "twotwo", "three"});
  file[19] ^= 64;
  EXPECT_EQ(records(file),
            (Words{"0 one",
                   "the record at byte 19 is damaged: the checksum of its length is wrong, and 22 bytes were skipped "
                   "up to the next complete record or the end of the file",
                   "41 three"}));
}

TEST(TFRecord, ReportsAnImpossibleLength) {
  EXPECT_EQ(
      records(header_of(uint64_t{1} << 63) + file_of({"one"})),
      (Words{"the record at byte 0 is damaged: its length of 9223372036854775808 bytes is impossible, and 12 bytes "
             "were skipped up to the next complete record or the end of the file",
             "12 one"}));
}

TEST(TFRecord, ReportsADamagedRangeAsOneError) {
  std::string file = file_of({"one", "two", "three", "four", "five"});
  std::fill(file.begin() + 20, file.begin() + 58, 'x');
  const Words found = records(file);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_NE(found[1].find("at byte 19"), std::string::npos) << found[1];
  EXPECT_EQ(found[2], "59 four");
  EXPECT_EQ(found[3], "79 five");
}

TEST(TFRecord, SkipsRecordsWithBadPayloadsInsideADamagedRange) {
  std::string file = file_of({"one", "two", "three"});
  file[3] ^= 1;        // the length of the first record
  file[19 + 13] ^= 1;  // the payload of the second record
  const Words found = records(file);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("38 bytes were skipped"), std::string::npos) << found[0];
  EXPECT_EQ(found[1], "38 three");
}

TEST(TFRecord, ReportsHowManyBytesATruncatedFileLacks) {
  const std::string file = file_of({"one", "twotwo"});
  for (size_t size = 20; size < file.size(); ++size) {
    const Words found = records(file.substr(0, size));
    ASSERT_EQ(found.size(), 2u) << size;
    EXPECT_EQ(found[0], "0 one");
    EXPECT_EQ(found[1], size < 31 ? "the record at byte 19 is truncated: the file ends inside its header, " +
                                        std::to_string(31 - size) + " or more bytes too early"
                                  : "the record at byte 19 is truncated: the file ends " +
                                        std::to_string(file.size() - size) + " bytes too early");
  }
}

TEST(TFRecord, RequestsNoMoreBytesThanRemain) {
  const std::string file = header_of(uint64_t{1} << 40) + "abc";
  RecordParser parser;
  const RecordParser::Step step = parser.step(Bytes(file).substr(0, 12), static_cast<int64_t>(file.size()));
  EXPECT_EQ(step.kind, Kind::kError);
  EXPECT_EQ(step.error->message(), "the record at byte 0 is truncated: the file ends 1099511627777 bytes too early");
  EXPECT_EQ(parser.step("", std::nullopt).kind, Kind::kEnd);
  EXPECT_EQ(parser.offset(), 15);
}

TEST(TFRecord, TreatsAnImpossibleLengthAsDamage) {
  for (const uint64_t length : {UINT64_MAX, UINT64_MAX - 15, uint64_t{1} << 63, uint64_t{INT64_MAX}}) {
    const Words found = records(header_of(length) + file_of({"one"}));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1], "12 one");
  }
}

TEST(TFRecord, HintsAtTheFileTypeIfTheFirstHeaderIsInvalid) {
  EXPECT_NE(records(std::string(100, 'x'))[0].find("check that it is a TFRecord file"), std::string::npos);
  EXPECT_NE(records("\x1f\x8b" + std::string(100, 'x'))[0].find("set compression_type to \"GZIP\""), std::string::npos);
}

// Flips every bit, one at a time. All other records must remain.
TEST(TFRecord, LosesNoOtherRecordToAFlippedBit) {
  const Words whole = parsed(file_of({"one", "two", "three"}));
  for (size_t i = 0; i < 8 * file_of({"one", "two", "three"}).size(); ++i) {
    std::string file = file_of({"one", "two", "three"});
    file[i / 8] = static_cast<char>(file[i / 8] ^ 1 << i % 8);
    const Words found = parsed(file);
    ASSERT_EQ(found.size(), 3u) << i;
    int same = 0;
    for (size_t k = 0; k < 3; ++k) same += found[k] == whole[k];
    ASSERT_EQ(same, 2) << i;
  }
}

TEST(RecordParser, SkipsARecordAboveTheLimit) {
  std::string file;
  append_record(file, "first");
  const size_t large = file.size();
  append_record(file, std::string(1000, 'x'));
  append_record(file, "last");
  for (const size_t here : {kRecordHeaderBytes, size_t{500}, size_t{1015}}) {
    RecordParser parser(static_cast<int64_t>(large), 100);
    const RecordParser::Step step = parser.step(Bytes(file).substr(large, here), std::nullopt);
    ASSERT_EQ(step.kind, Kind::kError);
    EXPECT_EQ(step.error->code(), Code::kResourceExhausted);
    EXPECT_TRUE(
        step.error->message().starts_with("the record at byte 21 has 1000 bytes, more than the limit of 100 bytes"));
    EXPECT_EQ(step.consumed, here);
    EXPECT_EQ(step.skipped, static_cast<int64_t>(1016 - here));
    EXPECT_EQ(parser.offset(), static_cast<int64_t>(large) + 1016);
    EXPECT_EQ(parser.step(Bytes(file).substr(large + 1016), std::nullopt).payload, "last");
  }
  // A record that is completely in the window needs no memory.
  EXPECT_EQ(RecordParser(0, 100).step(Bytes(file).substr(large), std::nullopt).payload.size(), 1000u);
}

// Inside damage, such a length is not accepted, because nothing confirms that it is one.
TEST(RecordParser, SearchesForTheNextRecordBelowTheLimitAfterDamage) {
  std::string file(20, '?');
  file += header_of(1 << 20);
  append_record(file, "last");
  RecordParser parser(0, 100);
  const RecordParser::Step step = parser.step(file, std::nullopt);
  ASSERT_EQ(step.kind, Kind::kError);
  EXPECT_EQ(step.error->code(), Code::kDataLoss);
  EXPECT_EQ(parser.step(Bytes(file).substr(step.consumed), std::nullopt).payload, "last");
}

}  // namespace
}  // namespace stoker
