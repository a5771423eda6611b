// SPDX-License-Identifier: Apache-2.0
// A process to be looked at: maps a file (its name makes it look like a job that uses NCCL), tries what mlock(2) lets
// it do, prints that, and stays until its standard input closes. mlock obeys the same rule as a registration:
// RLIMIT_MEMLOCK or a usable CAP_IPC_LOCK (mm/mlock.c can_do_mlock, do_mlock; drivers/infiniband/core/umem.c
// ib_umem_get). Usage: target [--map FILE] [--soft BYTES] [--hold BYTES]
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kPage = 4096;

void die(const char* what) {
  std::fprintf(stderr, "target: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

std::size_t number(const char* text) {
  return static_cast<std::size_t>(std::strtoull(text, nullptr, 10));
}

/// "OK" or the errno of locking `size` fresh bytes; they stay locked if `keep`.
const char* try_lock(std::size_t size, bool keep) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) die("mmap");
  const int error = ::mlock(memory, size) == 0 ? 0 : errno;
  if (!keep) ::munmap(memory, size);
  return error == 0 ? "OK" : error == ENOMEM ? "ENOMEM" : error == EPERM ? "EPERM" : "other";
}

void map_file(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die(path);
  if (::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED) die("mmap of the file");
  ::close(fd);
}

void set_soft(std::size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) die("getrlimit");
  limit.rlim_cur = bytes;
  if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) die("setrlimit");
}

void print_limit(const char* name, rlim_t value) {
  if (value == RLIM_INFINITY) {
    std::printf("%s=unlimited\n", name);
  } else {
    std::printf("%s=%llu\n", name, static_cast<unsigned long long>(value));
  }
}

void report(std::size_t hold) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) die("getrlimit");
  std::printf("pid=%d\nppid=%d\n", static_cast<int>(::getpid()), static_cast<int>(::getppid()));
  print_limit("soft", limit.rlim_cur);
  print_limit("hard", limit.rlim_max);
  const bool finite = limit.rlim_cur != RLIM_INFINITY;
  const std::size_t pages = finite ? limit.rlim_cur / kPage : 256;
  std::printf("within=%s\n", pages > 0 ? try_lock(pages * kPage, false) : "none");
  std::printf("over=%s\n", finite ? try_lock((pages + 1) * kPage, false) : "none");
  if (hold > 0) std::printf("held=%s\n", try_lock(hold, true));
  std::printf("ready\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t hold = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--map") == 0) map_file(argv[i + 1]);
    if (std::strcmp(argv[i], "--soft") == 0) set_soft(number(argv[i + 1]));
    if (std::strcmp(argv[i], "--hold") == 0) hold = number(argv[i + 1]);
  }
  report(hold);
  char byte = 0;
  ssize_t n = 0;
  do {
    n = ::read(STDIN_FILENO, &byte, 1);
  } while (n > 0 || (n < 0 && errno == EINTR));
  return 0;
}
