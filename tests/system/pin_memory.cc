// SPDX-License-Identifier: Apache-2.0
// Pins memory for real without any RDMA device: io_uring's registered buffers are charged to mm->pinned_vm, the same
// counter as memory regions (docs/kernel-facts.md K10). usage: pin_memory BYTES. Prints "pinned" and sleeps until
// standard input ends; ends with 77 where the kernel has no io_uring, with 1 and the error where pinning is refused.
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  const std::size_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (bytes == 0) return 64;
  io_uring_params params{};
  const int ring = static_cast<int>(syscall(SYS_io_uring_setup, 1, &params));
  if (ring < 0) {
    std::printf("io_uring_setup: %s\n", std::strerror(errno));
    return 77;
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return 1;
  const iovec buffer{memory, bytes};
  if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1) != 0) {
    std::printf("io_uring_register: %s\n", std::strerror(errno));
    return 1;
  }
  std::puts("pinned");
  std::fflush(stdout);
  char c = 0;
  while (read(0, &c, 1) > 0) {
  }
  return 0;
}
