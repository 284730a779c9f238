#include "stoker/codecs/archive.h"

#include <gtest/gtest.h>

#include "support/tars.h"
#include "support/zips.h"

namespace stoker {
namespace {

// Bytes in pieces. Skips as a file does, if it may skip.
class Pieces final : public ArchiveInput {
 public:
  Pieces(std::string bytes, size_t piece, bool skips) : bytes_(std::move(bytes)), piece_(piece), skips_(skips) {}
  Result<Bytes> read() override {
    const Bytes next = Bytes(bytes_).substr(at_, piece_);
    at_ += next.size();
    return next;
  }
  Result<int64_t> skip(int64_t bytes) override {
    if (!skips_) return 0;
    const size_t count = std::min(static_cast<size_t>(bytes), bytes_.size() - at_);
    at_ += count;
    return static_cast<int64_t>(count);
  }

 private:
  const std::string bytes_;
  const size_t piece_;
  const bool skips_;
  size_t at_ = 0;
};

TEST(TarReader, ReturnsTheOffsetOfEachMemberForPiecesOfEverySize) {
  const std::string large(5000, 'x');
  const std::string tar = tar_header("dir/", 0, '5') + tar_file("dir/a.txt", "one") + tar_file("b.bin", large) +
                          tar_link("c.txt", "dir/a.txt") + tar_end();
  for (const size_t piece : {512, 700, 100000})
    for (const bool skips : {false, true}) {
      const auto reader = TarReader::open(std::make_unique<Pieces>(tar, piece, skips)).value();
      std::vector<std::string> found;
      while (auto member = reader->next().value()) {
        found.push_back(member->name + (member->link.empty() ? "" : " -> " + member->link));
        if (!member->link.empty()) continue;
        const std::string bytes = tar.substr(static_cast<size_t>(member->offset), static_cast<size_t>(member->size));
        EXPECT_EQ(bytes, member->name == "b.bin" ? large : "one");
        EXPECT_EQ(*reader->contents(10000), bytes);
      }
      EXPECT_EQ(found, (std::vector<std::string>{"dir/a.txt", "b.bin", "c.txt -> dir/a.txt"}));
    }
}

TEST(TarReader, RejectsMembersAboveTheLimit) {
  const auto reader =
      TarReader::open(std::make_unique<Pieces>(tar_file("a", std::string(100, 'x')), 512, false)).value();
  ASSERT_TRUE(reader->next().value());
  EXPECT_EQ(reader->contents(99).error().message(), "the member a: it is larger than the limit of 99 bytes");
}

TEST(ReadZip, ReturnsStoredAndDeflatedMembers) {
  for (const bool deflate : {false, true}) {
    const auto members =
        read_zip(zip_of({{"a.npy", "one"}, {"b.npy", std::string(9000, 'b')}}, deflate), 10000).value();
    ASSERT_EQ(members.size(), 2u);
    EXPECT_EQ(members[0], (std::pair<std::string, std::string>{"a.npy", "one"}));
    EXPECT_EQ(members[1].second, std::string(9000, 'b'));
  }
  EXPECT_EQ(read_zip(zip_of({{"a", "12345"}, {"b", "12345"}}, true), 9).error().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace stoker
