// SPDX-License-Identifier: Apache-2.0
// Asks the real kernel: each line of stdin is a registration under stated circumstances, each line of stdout what it
// answered ("0", or the errno's number; "cannot WHY" if the circumstances could not be made). Every case has a process
// of its own.
//   SOFT HARD UID CAP USERNS PINNED OFFSET SIZE KIND
// Bytes; "unlimited" is 18446744073709551615. CAP: none, permitted (only), effective. USERNS: 0, 1 (a child user
// namespace). PINNED: registered beforehand. KIND: anon, none (PROT_NONE), readonly, unmapped. Needs root with
// CAP_SYS_RESOURCE, and a verbs device. usage: register < CASES     build: cc -O1 -o register register.c -libverbs
#define _GNU_SOURCE
#include <errno.h>
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
  unsigned long long soft, hard, pinned, offset, size;
  int uid, userns;
  char cap[16], kind[16];
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

static char* memory_of(unsigned long long size, int protection) {
  char* memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
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

static int ask(const struct circumstances* c) {
  struct ibv_pd* pd = open_device();
  if (pd == NULL) return give_up("open a device");
  if (set_limit(RLIM_INFINITY, RLIM_INFINITY) != 0) return give_up("raise the limit");
  if (c->pinned > 0) {
    char* held = memory_of(c->pinned, PROT_READ | PROT_WRITE);
    if (held == NULL || ibv_reg_mr(pd, held, c->pinned, IBV_ACCESS_LOCAL_WRITE) == NULL)
      return give_up("pin beforehand");
  }
  const int readable = strcmp(c->kind, "none") == 0 ? PROT_NONE : PROT_READ;
  const int protection = strcmp(c->kind, "anon") == 0 ? PROT_READ | PROT_WRITE : readable;
  const unsigned long long room = c->offset + c->size + 4096;
  char* memory = memory_of(room, protection);
  if (memory == NULL) return give_up("map the memory");
  if (strcmp(c->kind, "unmapped") == 0 && munmap(memory, room) != 0) return give_up("unmap");
  if (set_limit(c->soft, c->hard) != 0) return give_up("set the limit");
  if (become(c) != 0) return give_up("become that process");
  errno = 0;
  const struct ibv_mr* mr = ibv_reg_mr(pd, memory + c->offset, c->size, IBV_ACCESS_LOCAL_WRITE);
  printf("%d\n", mr != NULL ? 0 : errno);
  return 0;
}

int main(void) {
  char line[512];
  while (fgets(line, sizeof line, stdin) != NULL) {
    struct circumstances c;
    if (sscanf(line, "%llu %llu %d %15s %d %llu %llu %llu %15s", &c.soft, &c.hard, &c.uid, c.cap, &c.userns, &c.pinned,
               &c.offset, &c.size, c.kind) != 9) {
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
