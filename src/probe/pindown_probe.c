/* SPDX-License-Identifier: Apache-2.0
 * pindown-probe: what only the site's own libibverbs can tell. It links nothing but libc, by the oldest symbol versions
 * (glibc 2.17 and later run it), and opens libibverbs when started: pindown itself is static and cannot.
 * usage: pindown-probe devices
 * Prints one line per device: "NAME max_mr_size=N max_mr=N max_qp=N max_cq=N fw_ver=S", or "NAME error=ERRNO".
 * Exit status: 0, 2 no libibverbs, 64 usage. Must not: register memory, or change anything.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#else
#error "the oldest glibc symbol version of this processor is not known here"
#endif
__asm__(".symver dlopen,dlopen@" OLDEST);
__asm__(".symver dlsym,dlsym@" OLDEST);
__asm__(".symver dlerror,dlerror@" OLDEST);

/* The C library's start routine has a version of its own since 2.34; the old one takes init and fini, which are not
 * needed: there are no constructors here. */
int main(int argc, char** argv, char** environment);
int pindown_libc_start(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void),
                       void*);
__asm__(".symver pindown_libc_start,__libc_start_main@" OLDEST);

static void nothing(void) {}
__attribute__((noreturn, used)) static void start(long* stack) {
  pindown_libc_start(main, (int)stack[0], (char**)(stack + 1), nothing, nothing, 0, stack);
  __builtin_trap();
}
#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call start\n");
#else
__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x0, sp\n  bl start\n");
#endif

struct verbs {
  struct ibv_device** (*get_device_list)(int*);
  const char* (*get_device_name)(struct ibv_device*);
  struct ibv_context* (*open_device)(struct ibv_device*);
  int (*query_device)(struct ibv_context*, struct ibv_device_attr*);
  int (*close_device)(struct ibv_context*);
};

/* ISO C forbids to cast an object pointer to a function pointer; POSIX needs it. */
#define RESOLVE(member, name)                       \
  do {                                              \
    void* symbol = dlsym(library, name);            \
    if (!symbol) return name;                       \
    memcpy(&verbs->member, &symbol, sizeof symbol); \
  } while (0)

static const char* resolve(void* library, struct verbs* verbs) {
  RESOLVE(get_device_list, "ibv_get_device_list");
  RESOLVE(get_device_name, "ibv_get_device_name");
  RESOLVE(open_device, "ibv_open_device");
  RESOLVE(query_device, "ibv_query_device");
  RESOLVE(close_device, "ibv_close_device");
  return NULL;
}

static void show(const struct verbs* verbs, struct ibv_device* device) {
  const char* name = verbs->get_device_name(device);
  struct ibv_device_attr attr;
  struct ibv_context* context;
  errno = 0;
  context = verbs->open_device(device);
  if (!context) {
    printf("%s error=%d\n", name, errno);
    return;
  }
  memset(&attr, 0, sizeof attr);
  const int failed = verbs->query_device(context, &attr);
  if (failed) {
    printf("%s error=%d\n", name, failed);
  } else {
    attr.fw_ver[sizeof attr.fw_ver - 1] = 0;
    printf("%s max_mr_size=%llu max_mr=%d max_qp=%d max_cq=%d fw_ver=%s\n", name, (unsigned long long)attr.max_mr_size,
           attr.max_mr, attr.max_qp, attr.max_cq, attr.fw_ver);
  }
  verbs->close_device(context);
}

static int devices(void) {
  struct verbs verbs;
  int count = 0;
  void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "pindown-probe: %s\n", dlerror());
    return 2;
  }
  const char* missing = resolve(library, &verbs);
  if (missing) {
    fprintf(stderr, "pindown-probe: libibverbs.so.1 has no %s\n", missing);
    return 2;
  }
  struct ibv_device** list = verbs.get_device_list(&count);
  for (int i = 0; list && i < count; ++i) show(&verbs, list[i]);
  return 0;
}

int main(int argc, char** argv, char** environment) {
  (void)environment;
  if (argc == 2 && strcmp(argv[1], "devices") == 0) {
    const int status = devices();
    return fflush(stdout) ? 70 : status;
  }
  fprintf(stderr, "usage: pindown-probe devices\n");
  return 64;
}
