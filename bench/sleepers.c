// SPDX-License-Identifier: Apache-2.0
// Makes a host look busy: N children that sleep until standard input closes. They cannot outlive their parent.
// usage: sleepers N     prints "ready" when all are there
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMost = 5000 };

int main(int argc, char** argv) {
  static pid_t children[kMost];
  const int wanted = argc > 1 ? atoi(argv[1]) : 0;
  int made = 0;
  if (wanted < 1 || wanted > kMost) return 64;
  for (; made < wanted; ++made) {
    const pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() == 1) _exit(0);
      for (;;) pause();
    }
    children[made] = pid;
  }
  printf("ready %d\n", made);
  fflush(stdout);
  char c;
  while (read(0, &c, 1) > 0) {
  }
  for (int i = 0; i < made; ++i) kill(children[i], SIGKILL);
  for (int i = 0; i < made; ++i) waitpid(children[i], NULL, 0);
  return made == wanted ? 0 : 1;
}
