#include "stoker/codecs/archive.h"

#ifdef STOKER_HAVE_LIBARCHIVE

#include <cerrno>
#include <new>

#include <archive.h>
#include <archive_entry.h>

namespace stoker {
namespace {

struct Free {
  void operator()(struct archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<struct archive, Free>;

std::string error_text(struct archive* reader) {
  const char* words = archive_error_string(reader);
  return words ? words : "the data is damaged";
}

// In the C locale, libarchive warns about names that are not ASCII. Names are bytes here.
bool is_fine(int status) { return status == ARCHIVE_OK || status == ARCHIVE_WARN; }

// Reads the rest of the current member.
Result<std::string> rest_of(struct archive* reader, int64_t at_most) {
  std::string bytes;
  while (true) {
    const void* block = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(reader, &block, &size, &offset);
    if (status == ARCHIVE_EOF) return bytes;
    if (status != ARCHIVE_OK) return Error::corrupt(error_text(reader));  // libarchive warns about a wrong checksum
    const int64_t end = offset + static_cast<int64_t>(size);
    if (end > at_most) return Error::exhausted("it is larger than the limit of ", at_most, " bytes");
    bytes.resize(static_cast<size_t>(offset));  // a hole reads as zeros
    bytes.append(static_cast<const char*>(block), size);
  }
}

class LibarchiveTar final : public TarReader {
 public:
  explicit LibarchiveTar(std::unique_ptr<ArchiveInput> input) : input_(std::move(input)), reader_(archive_read_new()) {
    if (!reader_) throw std::bad_alloc();
  }

  Result<void> open() {
    struct archive* const reader = reader_.get();
    archive_read_support_format_tar(reader);
    archive_read_set_options(reader, "tar:read_concatenated_archives");
    archive_read_set_read_callback(reader, &read);
    archive_read_set_skip_callback(reader, &skip);
    archive_read_set_callback_data(reader, this);
    if (archive_read_open1(reader) != ARCHIVE_OK) return failure("");
    return {};
  }

  Result<std::optional<ArchiveMember>> next() override {
    while (!ended_) {
      struct archive_entry* entry = nullptr;
      const int status = archive_read_next_header(reader_.get(), &entry);
      ended_ = !is_fine(status);
      if (status == ARCHIVE_EOF) break;
      if (ended_) return failure(last_);
      const char* const name = archive_entry_pathname(entry);
      const char* const link = archive_entry_hardlink(entry);
      if (name) last_ = name;
      if (!name || (!link && archive_entry_filetype(entry) != AE_IFREG)) continue;
      if (archive_entry_sparse_count(entry) > 0)
        return Error::unimplemented("the member ", name, " is a sparse file, which is not supported");
      const int64_t size = link ? 0 : archive_entry_size(entry);
      if (size < 0) return Error::corrupt("the member ", name, " has a size of ", size);
      return std::optional(ArchiveMember{name, link ? link : "", archive_filter_bytes(reader_.get(), 0), size});
    }
    return std::optional<ArchiveMember>();
  }

  Result<std::string> contents(int64_t at_most) override {
    Result<std::string> bytes = rest_of(reader_.get(), at_most);
    if (bytes) return bytes;
    if (failure_) return *failure_;
    return Error::of(bytes.error().code(), "the member ", last_, ": ", bytes.error().message());
  }

 private:
  Error failure(const std::string& behind) {
    if (failure_) return *failure_;
    return Error::corrupt("the tar is damaged at byte ", archive_filter_bytes(reader_.get(), 0),
                          behind.empty() ? "" : ", after the header of " + behind, ": ", error_text(reader_.get()));
  }

  static la_ssize_t read(struct archive* reader, void* self, const void** bytes) {
    auto* const tar = static_cast<LibarchiveTar*>(self);
    const Result<Bytes> piece = tar->input_->read();
    if (!piece) return tar->fail(reader, piece.error());
    *bytes = piece->data();
    return static_cast<la_ssize_t>(piece->size());
  }
  static la_int64_t skip(struct archive* reader, void* self, la_int64_t bytes) {
    auto* const tar = static_cast<LibarchiveTar*>(self);
    const Result<int64_t> skipped = tar->input_->skip(bytes);
    return skipped ? *skipped : tar->fail(reader, skipped.error());
  }
  int fail(struct archive* reader, const Error& error) {
    failure_ = error;
    archive_set_error(reader, EIO, "cannot read");
    return ARCHIVE_FATAL;
  }

  std::unique_ptr<ArchiveInput> input_;
  Reader reader_;
  bool ended_ = false;
  std::string last_;              // the name of the last member
  std::optional<Error> failure_;  // an error of the input
};

}  // namespace

Result<std::unique_ptr<TarReader>> TarReader::open(std::unique_ptr<ArchiveInput> input) {
  auto reader = std::make_unique<LibarchiveTar>(std::move(input));
  STOKER_TRY(reader->open());
  return reader;
}

Result<std::vector<std::pair<std::string, std::string>>> read_zip(Bytes zip, int64_t at_most) {
  const Reader reader(archive_read_new());
  if (!reader) throw std::bad_alloc();
  archive_read_support_format_zip_seekable(reader.get());
  if (archive_read_open_memory(reader.get(), zip.data(), zip.size()) != ARCHIVE_OK)
    return Error::corrupt("not a zip file: ", error_text(reader.get()));
  std::vector<std::pair<std::string, std::string>> members;
  while (true) {
    struct archive_entry* entry = nullptr;
    const int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) return members;
    if (!is_fine(status)) return Error::corrupt("the zip file is damaged: ", error_text(reader.get()));
    const char* const name = archive_entry_pathname(entry);
    if (!name || archive_entry_filetype(entry) != AE_IFREG) continue;
    Result<std::string> bytes = rest_of(reader.get(), at_most);
    if (!bytes) return Error::of(bytes.error().code(), "the member ", name, ": ", bytes.error().message());
    at_most -= static_cast<int64_t>(bytes->size());
    members.emplace_back(name, *std::move(bytes));
  }
}

}  // namespace stoker

#else

namespace stoker {
namespace {
Error no_libarchive() {
  return Error::unimplemented("cannot read tar and zip files: this build of Stoker does not include libarchive");
}
}  // namespace

Result<std::unique_ptr<TarReader>> TarReader::open(std::unique_ptr<ArchiveInput>) { return no_libarchive(); }
Result<std::vector<std::pair<std::string, std::string>>> read_zip(Bytes, int64_t) { return no_libarchive(); }

}  // namespace stoker

#endif
