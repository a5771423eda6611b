// SPDX-License-Identifier: Apache-2.0
// See input.h.
#include "host/input.h"

#include <archive.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "host/utf16.h"

namespace pindown {
namespace {

std::string reason(int error) {
  std::string text = std::strerror(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

HostErrorKind kind_of(int error) {
  if (error == ENOENT || error == ENOTDIR) return HostErrorKind::kNotFound;
  if (error == EACCES || error == EPERM) return HostErrorKind::kDenied;
  return HostErrorKind::kError;
}

std::unexpected<HostError> failed(const std::string& verb, const std::string& path, int error) {
  return std::unexpected(HostError{kind_of(error), fmt::format("cannot {} {}: {}", verb, path, reason(error))});
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::expected<std::size_t, HostError> read_descriptor_at(int fd, std::uint64_t offset, char* buffer, std::size_t size,
                                                         const std::string& path) {
  for (;;) {
    const ssize_t n = ::pread(fd, buffer, size, static_cast<off_t>(offset));
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return failed("read", path, errno);
  }
}

std::expected<std::size_t, HostError> read_descriptor(int fd, char* buffer, std::size_t size, const std::string& path) {
  for (;;) {
    const ssize_t n = ::read(fd, buffer, size);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return failed("read", path, errno);
  }
}

class PlainStream final : public InputStream {
 public:
  PlainStream(Descriptor fd, std::string path, std::uint64_t size, std::string head, bool seekable)
      : fd_(std::move(fd)), path_(std::move(path)), size_(size), head_(std::move(head)), seekable_(seekable) {}

  std::expected<std::size_t, HostError> read(char* buffer, std::size_t size) override {
    if (given_ < head_.size()) {  // bytes already taken to recognise the content
      const std::size_t n = std::min(size, head_.size() - given_);
      std::memcpy(buffer, head_.data() + given_, n);
      given_ += n;
      return n;
    }
    return read_descriptor(fd_.get(), buffer, size, path_);
  }
  std::expected<std::size_t, HostError> read_at(std::uint64_t offset, char* buffer, std::size_t size) const override {
    return read_descriptor_at(fd_.get(), offset, buffer, size, path_);
  }
  bool can_read_at() const override { return seekable_; }
  bool seek(std::uint64_t offset) override {
    if (!seekable_ || ::lseek(fd_.get(), static_cast<off_t>(offset), SEEK_SET) < 0) return false;
    given_ = head_.size();
    return true;
  }
  std::uint64_t size_hint() const override { return size_; }

 private:
  Descriptor fd_;
  std::string path_;
  std::uint64_t size_;
  std::string head_;
  std::size_t given_ = 0;
  bool seekable_;
};

/// gzip, xz, zstd, bzip2 through libarchive's filters; the content is taken as it is (raw format).
class InflatingStream final : public InputStream {
 public:
  InflatingStream(Descriptor fd, std::string path, std::string head)
      : fd_(std::move(fd)), path_(std::move(path)), head_(std::move(head)) {}
  ~InflatingStream() override { archive_read_free(archive_); }
  InflatingStream(const InflatingStream&) = delete;
  InflatingStream& operator=(const InflatingStream&) = delete;

  std::expected<std::size_t, HostError> open() {
    archive_ = archive_read_new();
    archive_read_support_filter_gzip(archive_);
    archive_read_support_filter_xz(archive_);
    archive_read_support_filter_zstd(archive_);
    archive_read_support_filter_bzip2(archive_);
    archive_read_support_format_raw(archive_);
    archive_entry* entry = nullptr;
    if (archive_read_open(archive_, this, nullptr, &InflatingStream::pull, nullptr) != ARCHIVE_OK ||
        archive_read_next_header(archive_, &entry) != ARCHIVE_OK) {
      return broken();
    }
    return 0;
  }
  std::expected<std::size_t, HostError> read(char* buffer, std::size_t size) override {
    if (total_ >= kMaxInflated) {
      return std::unexpected(
          HostError{HostErrorKind::kTooLarge,
                    fmt::format("{}: more than 16 GiB when decompressed; the rest was not read", path_)});
    }
    const la_ssize_t n = archive_read_data(archive_, buffer, size);
    if (n < 0) return broken();
    total_ += static_cast<std::uint64_t>(n);
    return static_cast<std::size_t>(n);
  }
  bool seek(std::uint64_t) override { return false; }
  std::uint64_t size_hint() const override { return 0; }

 private:
  std::expected<std::size_t, HostError> broken() const {
    const char* why = archive_error_string(archive_);
    return std::unexpected(HostError{
        HostErrorKind::kError, fmt::format("cannot decompress {}: {}", path_, why != nullptr ? why : "damaged data")});
  }
  static la_ssize_t pull(archive*, void* self, const void** data) {
    auto& stream = *static_cast<InflatingStream*>(self);
    if (!stream.head_.empty()) {
      stream.chunk_.assign(stream.head_.begin(), stream.head_.end());
      stream.head_.clear();
      *data = stream.chunk_.data();
      return static_cast<la_ssize_t>(stream.chunk_.size());
    }
    stream.chunk_.resize(std::size_t{128} << 10);
    const auto n = read_descriptor(stream.fd_.get(), stream.chunk_.data(), stream.chunk_.size(), stream.path_);
    *data = stream.chunk_.data();
    return n ? static_cast<la_ssize_t>(*n) : -1;
  }

  Descriptor fd_;
  std::string path_;
  std::string head_;
  std::vector<char> chunk_;
  archive* archive_ = nullptr;
  std::uint64_t total_ = 0;
};

bool is_compressed(std::string_view head) {
  using namespace std::string_view_literals;
  return head.starts_with("\x1f\x8b"sv) ||
         head.starts_with(
             "\xfd"
             "7zXZ\0"sv) ||
         head.starts_with("\x28\xb5\x2f\xfd"sv) ||
         (head.starts_with("BZh"sv) && head.size() > 4 && head.substr(4, 2) == "1A"sv);
}

/// Opens without waiting for a FIFO's writer; a pipe that has one is then read the ordinary way.
std::expected<Descriptor, HostError> open_path(const std::string& path, struct stat& info) {
  if (path == "-") {
    if (::fstat(STDIN_FILENO, &info) != 0) return failed("read", "standard input", errno);
    return Descriptor(STDIN_FILENO);
  }
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) return failed("open", path, errno);
  const bool readable =
      S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || ::isatty(fd.get()) == 1;
  if (!readable) {
    return std::unexpected(HostError{HostErrorKind::kError, fmt::format("cannot read {}: not a file or a pipe", path)});
  }
  (void)::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return fd;
}

}  // namespace

std::expected<std::size_t, HostError> InputStream::read_at(std::uint64_t, char*, std::size_t) const {
  return std::unexpected(HostError{HostErrorKind::kError, "cannot be read at an offset"});
}

std::expected<std::unique_ptr<InputStream>, HostError> open_input(const std::string& path) {
  struct stat info{};
  auto fd = open_path(path, info);
  if (!fd) return std::unexpected(fd.error());
  if (S_ISREG(info.st_mode)) (void)::posix_fadvise(fd->get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  std::string head(6, '\0');
  std::size_t have = 0;
  while (have < head.size()) {  // a pipe may give its first bytes one by one
    const auto n = read_descriptor(fd->get(), head.data() + have, head.size() - have, path);
    if (!n) return std::unexpected(n.error());
    if (*n == 0) break;
    have += *n;
  }
  head.resize(have);
  if (is_compressed(head)) {
    auto stream = std::make_unique<InflatingStream>(std::move(*fd), path, head);
    if (const auto opened = stream->open(); !opened) return std::unexpected(opened.error());
    return as_utf8(std::move(stream));
  }
  // What stands before the place where the caller left its standard input is not ours.
  const bool from_start = path != "-" || ::lseek(fd->get(), 0, SEEK_CUR) == static_cast<off_t>(head.size());
  const bool regular = S_ISREG(info.st_mode) && from_start;
  const std::uint64_t size = regular ? static_cast<std::uint64_t>(info.st_size) : 0;
  const bool utf16 = has_utf16_mark(head);
  auto plain = std::make_unique<PlainStream>(std::move(*fd), path, size, std::move(head), regular);
  if (utf16) return as_utf8(std::move(plain));
  return plain;
}

bool is_directory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Listing list_inputs(const std::string& directory) {
  constexpr std::size_t kMostFiles = 10000;
  constexpr int kDeepest = 8;
  namespace fs = std::filesystem;
  Listing listing;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied, error);
  if (error) {
    listing.problems.push_back(fmt::format("cannot list {}: {}", directory, reason(error.value())));
    return listing;
  }
  for (const fs::recursive_directory_iterator end; at != end && !error; at.increment(error)) {
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    if (!fs::is_regular_file(at->symlink_status(error))) continue;
    if (listing.files.size() == kMostFiles) {
      listing.problems.push_back(fmt::format("{}: more than {} files; the rest was not read", directory, kMostFiles));
      break;
    }
    listing.files.push_back(at->path().string());
  }
  if (error) listing.problems.push_back(fmt::format("cannot list all of {}: {}", directory, reason(error.value())));
  std::ranges::sort(listing.files);
  return listing;
}

}  // namespace pindown
