// SPDX-License-Identifier: Apache-2.0
// Asks the real kernel: each line of stdin is a registration under stated circumstances, each line of stdout what it
// answered ("0", or the errno's number; "cannot WHY" if the circumstances could not be made). Every case has a process
// of its own.
//   SOFT HARD UID CAP USERNS PINNED TIMES OTHER OFFSET SIZE KIND ACCESS
// Bytes; "unlimited" is 18446744073709551615. CAP: none, permitted (only), effective. USERNS: 0, 1 (a child user
// namespace). PINNED: registered beforehand, the same memory TIMES times. OTHER: what another process of that user has
// registered meanwhile. KIND, the memory: anon, none (PROT_NONE), readonly, unmapped, half (the second half unmapped),
// huge (MAP_HUGETLB; reserve some), shared, sharedro, disk, diskro (a shared mapping of a file here), memory, memoryro
// (of a file in /dev/shm), hole (a mapping beyond the file's end), kernel (the kernel's addresses), top (the last three
// pages of all). ACCESS: letters of l(ocal write), r(emote read), w (remote write), a(tomic), or 0. Needs root with
// CAP_SYS_RESOURCE, and a verbs device. usage: register < CASES   build: cc -O1 -o register register.c -libverbs
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct circumstances {
  unsigned long long soft, hard, pinned, other, offset, size;
  int uid, userns, times;
  char cap[16], kind[16], access[16];
};

static int give_up(const char* why) {
  printf("cannot %s: %s\n", why, strerror(errno));
  return 1;
}

static struct ibv_pd* open_device(void) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  if (list == NULL || list[0] == NULL) return NULL;
  struct ibv_context* context = ibv_open_device(list[0]);
  return context == NULL ? NULL : ibv_alloc_pd(context);
}

static char* mapped(unsigned long long size, int protection, int flags, int file) {
  char* memory = mmap(NULL, size, protection, flags | MAP_NORESERVE, file, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static char* memory_of(unsigned long long size, int protection) {
  return mapped(size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static char* file_of(const char* folder, unsigned long long room, unsigned long long length, int protection) {
  char name[64];
  snprintf(name, sizeof name, "%s/agree-XXXXXX", folder);
  const int file = mkstemp(name);
  if (file < 0 || unlink(name) != 0 || ftruncate(file, (off_t)length) != 0) return NULL;
  return mapped(room, protection, MAP_SHARED, file);
}

static int is(const struct circumstances* c, const char* kind) {
  return strcmp(c->kind, kind) == 0;
}

// The memory of a case; NULL with errno if it cannot be had.
static char* memory_of_case(const struct circumstances* c, unsigned long long room) {
  const int both = PROT_READ | PROT_WRITE;
  const unsigned long long huge = 2 << 20;
  if (is(c, "none")) return memory_of(room, PROT_NONE);
  if (is(c, "readonly")) return memory_of(room, PROT_READ);
  if (is(c, "shared")) return mapped(room, both, MAP_SHARED | MAP_ANONYMOUS, -1);
  if (is(c, "sharedro")) return mapped(room, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1);
  if (is(c, "disk")) return file_of(".", room, room, both);
  if (is(c, "diskro")) return file_of(".", room, room, PROT_READ);
  if (is(c, "memory")) return file_of("/dev/shm", room, room, both);
  if (is(c, "memoryro")) return file_of("/dev/shm", room, room, PROT_READ);
  if (is(c, "hole")) return file_of("/dev/shm", room, 0, both);
  if (is(c, "kernel")) return (char*)0xffff888000000000ULL;
  if (is(c, "top")) return (char*)(0ULL - 3 * 4096);
  if (is(c, "huge"))
    return mapped((room + huge - 1) / huge * huge, both, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
  char* memory = memory_of(room, both);
  if (memory != NULL && is(c, "unmapped") && munmap(memory, room) != 0) return NULL;
  // What is registered always ends in the part that is not there.
  if (memory != NULL && is(c, "half")) {
    char* const cut = memory + (c->offset + c->size / 2) / 4096 * 4096;
    if (munmap(cut, (unsigned long long)(memory + room - cut)) != 0) return NULL;
  }
  return memory;
}

static int flags_of(const char* access) {
  return (strchr(access, 'l') ? IBV_ACCESS_LOCAL_WRITE : 0) | (strchr(access, 'r') ? IBV_ACCESS_REMOTE_READ : 0) |
         (strchr(access, 'w') ? IBV_ACCESS_REMOTE_WRITE : 0) | (strchr(access, 'a') ? IBV_ACCESS_REMOTE_ATOMIC : 0);
}

static int set_limit(unsigned long long soft, unsigned long long hard) {
  const struct rlimit limit = {soft, hard};
  return setrlimit(RLIMIT_MEMLOCK, &limit);
}

// Only CAP_IPC_LOCK matters, but the rest goes too: the test shall not depend on it.
static int set_capabilities(const char* cap) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  memset(data, 0, sizeof data);
  const unsigned bit = 1U << CAP_IPC_LOCK;
  if (strcmp(cap, "none") != 0) data[0].permitted = bit;
  if (strcmp(cap, "effective") == 0) data[0].effective = bit;
  return (int)syscall(SYS_capset, &header, data);
}

static int become(const struct circumstances* c) {
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return -1;
  if (c->uid != 0 && setresuid((uid_t)c->uid, (uid_t)c->uid, (uid_t)c->uid) != 0) return -1;
  if (c->userns && unshare(CLONE_NEWUSER) != 0) return -1;
  return set_capabilities(c->cap);
}

static int pin(struct ibv_pd* pd, unsigned long long size, int times) {
  char* held = memory_of(size, PROT_READ | PROT_WRITE);
  if (held == NULL) return -1;
  for (int i = 0; i < times; ++i) {
    if (ibv_reg_mr(pd, held, size, IBV_ACCESS_LOCAL_WRITE) == NULL) return -1;
  }
  return 0;
}

// Another process that holds its registration until `until` is closed.
static int start_other(const struct circumstances* c, int* until) {
  int ready[2], end[2];
  char byte;
  if (pipe(ready) != 0 || pipe(end) != 0) return -1;
  if (fork() == 0) {
    close(end[1]);
    struct ibv_pd* pd = open_device();
    const int good =
        pd != NULL && setresuid((uid_t)c->uid, (uid_t)c->uid, (uid_t)c->uid) == 0 && pin(pd, c->other, 1) == 0;
    if (good && write(ready[1], "x", 1) != 1) _exit(1);
    close(ready[1]);
    _exit(read(end[0], &byte, 1) < 0);
  }
  close(ready[1]);
  close(end[0]);
  *until = end[1];
  return read(ready[0], &byte, 1) == 1 ? 0 : -1;
}

static int ask(const struct circumstances* c) {
  int until = -1;
  if (set_limit(RLIM_INFINITY, RLIM_INFINITY) != 0) return give_up("raise the limit");
  if (c->other > 0 && start_other(c, &until) != 0) return give_up("start another process");
  struct ibv_pd* pd = open_device();
  if (pd == NULL) return give_up("open a device");
  if (c->pinned > 0 && pin(pd, c->pinned, c->times) != 0) return give_up("pin beforehand");
  char* memory = memory_of_case(c, c->offset + c->size + 4096);
  if (memory == NULL) return give_up("make the memory");
  if (set_limit(c->soft, c->hard) != 0) return give_up("set the limit");
  if (become(c) != 0) return give_up("become that process");
  errno = 0;
  const struct ibv_mr* mr = ibv_reg_mr(pd, memory + c->offset, c->size, flags_of(c->access));
  printf("%d\n", mr != NULL ? 0 : errno);
  return 0;
}

int main(void) {
  char line[512];
  while (fgets(line, sizeof line, stdin) != NULL) {
    struct circumstances c;
    if (sscanf(line, "%llu %llu %d %15s %d %llu %d %llu %llu %llu %15s %15s", &c.soft, &c.hard, &c.uid, c.cap,
               &c.userns, &c.pinned, &c.times, &c.other, &c.offset, &c.size, c.kind, c.access) != 12) {
      printf("cannot read the case\n");
      continue;
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const int status = ask(&c);
      fflush(stdout);
      _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) printf("cannot tell: it died of signal %d\n", WTERMSIG(status));
  }
  return 0;
}
