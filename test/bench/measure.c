/* measure FILE PROGRAM [ARGUMENT…]
 *
 * Runs a program and writes "SECONDS PEAK_KILOBYTES" of it to FILE; ends as the program ended. The peak is that of the
 * largest process among it and the children it waited for. A parent as small as this one matters: Linux counts what a
 * process held before it called exec, so a child of Node would start at the size of Node.
 *
 * cc -O2 measure.c -o measure
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  if (count < 3) return fputs("usage: measure FILE PROGRAM [ARGUMENT...]\n", stderr), 2;
  double began = seconds();
  pid_t child = fork();
  if (child < 0) return perror("measure: fork"), 126;
  if (child == 0) {
    execvp(arguments[2], arguments + 2);
    perror(arguments[2]);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) < 0) return perror("measure: wait"), 126;
  double took = seconds() - began;
  FILE *out = fopen(arguments[1], "w");
  if (out == NULL) return perror(arguments[1]), 126;
  fprintf(out, "%.6f %ld\n", took, usage.ru_maxrss);
  if (fclose(out) != 0) return perror(arguments[1]), 126;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
