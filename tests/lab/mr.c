// SPDX-License-Identifier: Apache-2.0
// A verbs client for the tests of the lab: registers one region a SIZE (in KiB) on the first device, keeps them all,
// and prints what each registration answered. With --hold it then stays until it is ended. usage: mr [--hold] SIZE...
// exit status: 0 all registered, 1 one was refused, 2 there is no device to ask
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct ibv_pd* open_device(void) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  if (list == NULL || list[0] == NULL) return NULL;
  struct ibv_context* context = ibv_open_device(list[0]);
  return context == NULL ? NULL : ibv_alloc_pd(context);
}

static int register_region(struct ibv_pd* pd, size_t kib) {
  void* memory = mmap(NULL, kib * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  errno = 0;
  return ibv_reg_mr(pd, memory, kib * 1024, IBV_ACCESS_LOCAL_WRITE) == NULL ? errno : 0;
}

int main(int argc, char** argv) {
  int first = argc > 1 && strcmp(argv[1], "--hold") == 0 ? 2 : 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  struct ibv_pd* pd = open_device();
  if (pd == NULL) {
    fprintf(stderr, "mr: no device can be opened: %s\n", strerror(errno));
    return 2;
  }
  int refused = 0;
  for (int i = first; i < argc; i++) {
    int error = register_region(pd, strtoul(argv[i], NULL, 10));
    if (error != 0) refused = 1;
    printf("%s KiB: %s\n", argv[i], error == 0 ? "registered" : strerror(error));
  }
  while (first == 2) pause();
  return refused;
}
