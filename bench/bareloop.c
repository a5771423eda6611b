// SPDX-License-Identifier: Apache-2.0
// The floor for reading a set of files: opens each, reads it to its end, closes it; lists folders, reads links. Judges
// nothing. The list says what another program was seen to do: a line is "r PATH" (read), "d PATH" (list a folder), "l
// PATH" (readlink) or "k" (read the kernel's log). usage: bareloop LIST
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <unistd.h>

static char buffer[1 << 16];

static void read_file(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return;
  while (read(fd, buffer, sizeof buffer) > 0) {
  }
  close(fd);
}

static void list_folder(const char* path) {
  DIR* folder = opendir(path);
  if (!folder) return;
  while (readdir(folder)) {
  }
  closedir(folder);
}

static void read_kernel_log(void) {
  const int size = klogctl(10, NULL, 0);  // SYSLOG_ACTION_SIZE_BUFFER
  char* log = size > 0 ? malloc((size_t)size) : NULL;
  if (log) (void)!klogctl(3, log, size);  // SYSLOG_ACTION_READ_ALL
  free(log);
}

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const int fd = open(argv[1], O_RDONLY);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) return 1;
  char* list = malloc((size_t)info.st_size + 1);
  if (!list || read(fd, list, (size_t)info.st_size) != info.st_size) return 1;
  list[info.st_size] = '\0';
  for (char* line = strtok(list, "\n"); line; line = strtok(NULL, "\n")) {
    if (line[0] == 'r') read_file(line + 2);
    if (line[0] == 'k') read_kernel_log();
    if (line[0] == 'd') list_folder(line + 2);
    if (line[0] == 'l' && readlink(line + 2, buffer, sizeof buffer) < 0) continue;
  }
  return 0;
}
