// SPDX-License-Identifier: Apache-2.0
// The Host seam: what a directory and a memory tree answer, and that no path leads out of a directory or hangs. Works
// in a directory of its own; the live host is only asked for files put there and for this very process.
#include "host/host.h"

#include "host/utf16.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace pindown {
namespace {

namespace fs = std::filesystem;

class HostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pindown-host-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    top_ = name;
    root_ = top_ / "root";
    put("root/etc/os-release", "PRETTY_NAME=x\n");
    put("secret", "outside\n");
  }
  void TearDown() override { fs::remove_all(top_); }

  void put(const std::string& path, const std::string& text) {
    fs::create_directories((top_ / path).parent_path());
    std::ofstream(top_ / path) << text;
  }
  void link(const std::string& path, const std::string& target) {
    fs::create_directories((top_ / path).parent_path());
    fs::create_symlink(target, top_ / path);
  }
  std::unique_ptr<Host> directory() {
    auto host = make_directory_host(root_.string());
    EXPECT_TRUE(host) << host.error().message;
    return host ? std::move(*host) : nullptr;
  }

  fs::path top_, root_;
};

HostErrorKind kind(const std::expected<std::string, HostError>& answer) {
  EXPECT_FALSE(answer) << *answer;
  return answer ? HostErrorKind::kError : answer.error().kind;
}

TEST_F(HostTest, DirectoryReadsInside) {
  const auto host = directory();
  EXPECT_EQ(host->read("/etc/os-release").value_or("?"), "PRETTY_NAME=x\n");
  EXPECT_TRUE(host->exists("/etc/os-release"));
  EXPECT_TRUE(host->exists("/etc"));
  EXPECT_FALSE(host->exists("/secret"));
  EXPECT_FALSE(host->live());
}

TEST_F(HostTest, DirectoryNeverLeavesItsRoot) {
  link("root/up", "../secret");
  link("root/absolute", (top_ / "secret").string());
  link("root/etc/far", "../../../../../../../.." + (top_ / "secret").string());
  link("root/dir", top_.string());
  const auto host = directory();
  for (const char* path : {"/up", "/absolute", "/etc/far", "/dir/secret", "/../secret", "/etc/../../secret"}) {
    EXPECT_EQ(kind(host->read(path)), HostErrorKind::kNotFound) << path;
    EXPECT_FALSE(host->exists(path)) << path;
  }
  EXPECT_FALSE(host->list("/dir"));
}

TEST_F(HostTest, DirectoryResolvesLinksAsOnTheMachine) {
  put("root/usr/lib/os-release", "vendor\n");
  fs::remove(root_ / "etc/os-release");
  link("root/etc/os-release", "../usr/lib/os-release");
  link("root/lib", "/usr/lib");
  const auto host = directory();
  EXPECT_EQ(host->read("/etc/os-release").value_or("?"), "vendor\n");
  EXPECT_EQ(host->read("/lib/os-release").value_or("?"), "vendor\n");
  EXPECT_EQ(host->link("/lib").value_or("?"), "/usr/lib");
}

TEST_F(HostTest, LinkTellsTargetsWithoutResolving) {
  link("root/proc/1/ns/user", "user:[4026531837]");
  const auto host = directory();
  EXPECT_EQ(host->link("/proc/1/ns/user").value_or("?"), "user:[4026531837]");
  EXPECT_EQ(kind(host->link("/proc/2/ns/user")), HostErrorKind::kNotFound);
  const auto plain = host->link("/etc/os-release");
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().message, "cannot read /etc/os-release: not a symbolic link");
}

TEST_F(HostTest, OnlyRegularFilesOfADirectoryAreRead) {
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0644), 0);
  const auto host = directory();
  EXPECT_EQ(kind(host->read("/pipe")), HostErrorKind::kError);
  EXPECT_EQ(kind(host->read("/etc")), HostErrorKind::kError);
}

TEST_F(HostTest, AFifoDoesNotHangTheLiveHost) {
  const fs::path pipe = top_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0644), 0);
  ::alarm(20);  // a hang kills the test, and so fails it
  const auto empty = make_live_host()->read(pipe.string());
  ::alarm(0);
  EXPECT_EQ(empty.value_or("?"), "");
}

TEST_F(HostTest, SizesAreBounded) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{32767}, std::size_t{32768},
                                 std::size_t{32769}, std::size_t{200000}}) {
    std::string text(size, 'x');
    if (size > 2) text[size - 2] = '\0';
    put("root/file", text);
    const auto host = directory();
    EXPECT_EQ(host->read("/file", size).value_or("?"), text) << size;
    EXPECT_EQ(make_live_host()->read((root_ / "file").string(), size).value_or("?"), text) << size;
    if (size == 0) continue;
    EXPECT_EQ(kind(host->read("/file", size - 1)), HostErrorKind::kTooLarge) << size;
  }
}

TEST_F(HostTest, ListsManyNames) {
  for (int i = 0; i < 3000; ++i) put("root/many/name-" + std::to_string(i), "");
  auto names = directory()->list("/many");
  ASSERT_TRUE(names);
  EXPECT_EQ(names->size(), 3000U);
  std::sort(names->begin(), names->end());
  EXPECT_EQ(names->front(), "name-0");
  EXPECT_EQ(std::adjacent_find(names->begin(), names->end()), names->end());
  const auto live = make_live_host()->list((root_ / "many").string());
  EXPECT_EQ(live ? live->size() : 0, 3000U);
}

TEST_F(HostTest, ErrorsSayWhichFileAndWhy) {
  const auto missing = directory()->read("/no/such");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "cannot read /no/such: no such file or directory");
  const auto host = make_directory_host((top_ / "nowhere").string());
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().kind, HostErrorKind::kNotFound);
  const auto file = make_directory_host((top_ / "secret").string());
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("not a directory"), std::string::npos);
}

TEST_F(HostTest, OddPathsAreNotFound) {
  const auto host = make_live_host();
  const std::string long_path = "/" + std::string(5000, 'a');
  const std::string with_nul("/proc/self/limits\0/x", 20);
  for (const std::string_view path : {std::string_view(), std::string_view("proc/1/limits"),
                                      std::string_view(long_path), std::string_view(with_nul)}) {
    EXPECT_EQ(kind(host->read(path)), HostErrorKind::kNotFound) << path;
    EXPECT_EQ(kind(directory()->read(path)), HostErrorKind::kNotFound) << path;
    EXPECT_FALSE(host->exists(path)) << path;
  }
}

TEST_F(HostTest, PermissionIsAnAnswerOfItsOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  put("closed", "x");
  fs::permissions(top_ / "closed", fs::perms::none);
  fs::permissions(top_, fs::perms::all);
  const std::string path = (top_ / "closed").string();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    const auto answer = make_live_host()->read(path);
    const bool right = !answer && answer.error().kind == HostErrorKind::kDenied &&
                       answer.error().message == "cannot read " + path + ": permission denied";
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(HostTest, AProcessThatEndedIsVanished) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::pause();
  // The descriptor is ours; reading it after the child is gone gives ESRCH or ENOENT.
  const std::string directory = "/proc/" + std::to_string(child);
  const auto host = make_directory_host(directory);
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_TRUE((*host)->read("/limits"));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto answer = (*host)->read("/limits");
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().kind == HostErrorKind::kVanished || answer.error().kind == HostErrorKind::kNotFound);
  EXPECT_EQ(kind(make_live_host()->read(directory + "/limits")), HostErrorKind::kNotFound);
}

TEST(MemoryHost, AnswersLikeATree) {
  const auto host = make_memory_host({.files = {{"/proc/7/limits", "x"}, {"/proc/7/fd/", ""}, {"/a/b/c", "y"}},
                                      .links = {{"/proc/7/fd/3", "/dev/infiniband/uverbs0"}},
                                      .denied = {"/proc/7/environ", "/proc/8/fd"}});
  EXPECT_EQ(host->read("/proc/7/limits").value_or("?"), "x");
  EXPECT_EQ(kind(host->read("/proc/7/environ")), HostErrorKind::kDenied);
  EXPECT_EQ(kind(host->link("/proc/8/fd/3")), HostErrorKind::kDenied);
  EXPECT_EQ(kind(host->read("/proc/9/limits")), HostErrorKind::kNotFound);
  EXPECT_EQ(host->link("/proc/7/fd/3").value_or("?"), "/dev/infiniband/uverbs0");
  auto names = host->list("/proc/7");
  ASSERT_TRUE(names);
  std::sort(names->begin(), names->end());
  EXPECT_EQ(*names, (std::vector<std::string>{"environ", "fd", "limits"}));
  EXPECT_EQ(host->list("/proc/7/fd")->size(), 1U);
  EXPECT_EQ(host->list("/a")->front(), "b");
  EXPECT_TRUE(host->exists("/a/b"));
  EXPECT_FALSE(host->exists("/a/b/cc"));
  EXPECT_EQ(kind(host->read("/proc/7/limits", 0)), HostErrorKind::kTooLarge);
}

// ---- UTF-16

/// Gives `text` a byte at a time.
class Drip final : public InputStream {
 public:
  explicit Drip(std::string text) : text_(std::move(text)) {}
  std::expected<std::size_t, HostError> read(char* buffer, std::size_t size) override {
    if (size == 0 || at_ == text_.size()) return 0;
    *buffer = text_[at_++];
    return 1;
  }
  bool seek(std::uint64_t) override { return false; }
  std::uint64_t size_hint() const override { return 0; }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

std::string read_as_utf8(std::string text) {
  const auto stream = as_utf8(std::make_unique<Drip>(std::move(text)));
  std::string out;
  char buffer[3];
  for (auto n = stream->read(buffer, sizeof buffer); n && *n > 0; n = stream->read(buffer, sizeof buffer)) {
    out.append(buffer, *n);
  }
  return out;
}

TEST(Utf16, IsReadAsUtf8AndNothingElseIs) {
  using namespace std::string_literals;
  EXPECT_EQ(read_as_utf8("\xff\xfe"s + "a\0b\0\n\0"s), "ab\n");
  EXPECT_EQ(read_as_utf8("\xfe\xff"s + "\0a\0\n"s), "a\n");
  EXPECT_EQ(read_as_utf8("\xff\xfe"s + "a\0\xe4\0\xac\x20\x3d\xd8\x00\xde"s), "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(read_as_utf8("\xff\xfe"s + "a\0\x3d\xd8"s), "a\xef\xbf\xbd");  // half a pair
  EXPECT_EQ(read_as_utf8("\xff\xfe"s + "a\0\x00\xdc"
                                       "b\0"s),
            "a\xef\xbf\xbd"
            "b");                                                   // the other half
  EXPECT_EQ(read_as_utf8("\xff\xfe"s + "a\0b"s), "a\xef\xbf\xbd");  // half a unit
  EXPECT_EQ(read_as_utf8("\xff\xfe plain"), "\xff\xfe plain");
  EXPECT_EQ(read_as_utf8("plain text"), "plain text");
  EXPECT_EQ(read_as_utf8("x"), "x");
  EXPECT_EQ(read_as_utf8(""), "");
}

}  // namespace
}  // namespace pindown
