// SPDX-License-Identifier: Apache-2.0
// An MPI job for the tests of the lab: two ranks send SIZE bytes to and fro, a few times, and each says how it went.
// Open MPI's headers are not needed to compile it: the guests have the library only, whose ABI has been libmpi.so.40
// since 2.0. usage: mpirun -np 2 mpi SIZE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* library;

static void* symbol(const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "mpi: %s\n", dlerror());
    exit(3);
  }
  return found;
}

typedef int (*Init)(int*, char***);
typedef int (*Finalize)(void);
typedef int (*Rank)(void*, int*);
typedef int (*Transfer)(void*, int, void*, int, int, void*);
typedef int (*Receive)(void*, int, void*, int, int, void*, void*);

int main(int argc, char** argv) {
  library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    fprintf(stderr, "mpi: %s\n", dlerror());
    return 3;
  }
  int size = argc > 1 ? atoi(argv[1]) : 1 << 20;
  int rank = -1;
  void* world = symbol("ompi_mpi_comm_world");
  void* byte = symbol("ompi_mpi_byte");
  int code = ((Init)symbol("MPI_Init"))(&argc, &argv);
  if (code != 0) return 4;
  ((Rank)symbol("MPI_Comm_rank"))(world, &rank);
  char* buffer = malloc((size_t)size);
  memset(buffer, rank, (size_t)size);
  for (int i = 0; i < 4; i++) {
    int sends = (i + rank) % 2 == 0;
    if (sends)
      code = ((Transfer)symbol("MPI_Send"))(buffer, size, byte, 1 - rank, i, world);
    else
      code = ((Receive)symbol("MPI_Recv"))(buffer, size, byte, 1 - rank, i, world, NULL);
    if (code != 0) return 5;
  }
  printf("rank %d: done\n", rank);
  return ((Finalize)symbol("MPI_Finalize"))();
}
