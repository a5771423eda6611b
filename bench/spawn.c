// SPDX-License-Identifier: Apache-2.0
// Runs two or more commands in turn, N rounds, and prints for each: median and minimum wall time in microseconds, the
// largest resident set in KiB, and the last exit status. In C because a runner's own cost must not hide a millisecond.
// usage: spawn N -- COMMAND... -- COMMAND...     standard output of the commands goes to $SPAWN_OUT, standard error to
// /dev/null
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

enum { kMaxCommands = 8, kMaxRounds = 2000 };

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

struct command {
  char** argv;
  double us[kMaxRounds];
  long rss_kib;
  int status;
};

static void run(struct command* c, int round, const char* out) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid;
  const double start = now_us();
  const int error = posix_spawnp(&pid, c->argv[0], &files, NULL, c->argv, environ);
  if (error != 0) {
    fprintf(stderr, "spawn: %s: %s\n", c->argv[0], strerror(error));
    exit(1);
  }
  struct rusage used;
  int status = 0;
  wait4(pid, &status, 0, &used);
  c->us[round] = now_us() - start;
  posix_spawn_file_actions_destroy(&files);
  if (used.ru_maxrss > c->rss_kib) c->rss_kib = used.ru_maxrss;
  c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  static struct command commands[kMaxCommands];
  int count = 0;
  const int rounds = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], "--") != 0) continue;
    argv[i] = NULL;
    if (count < kMaxCommands) commands[count++].argv = &argv[i + 1];
  }
  if (rounds < 1 || rounds > kMaxRounds || count == 0) return 64;
  const char* out = getenv("SPAWN_OUT");
  // One round to warm caches, which is not counted.
  for (int round = -1; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) run(&commands[i], round < 0 ? 0 : round, out ? out : "/dev/null");
  }
  for (int i = 0; i < count; ++i) {
    struct command* c = &commands[i];
    qsort(c->us, (size_t)rounds, sizeof c->us[0], by_value);
    printf("%.1f %.1f %ld %d\n", c->us[rounds / 2], c->us[0], c->rss_kib, c->status);
  }
  return 0;
}
