/* Holds a namespace open and buries processes that lost their parent. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void bury(int sig) {
  (void)sig;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
}

static void end(int sig) {
  (void)sig;
  _exit(0);
}

int main(void) {
  struct sigaction burying = {.sa_handler = bury, .sa_flags = SA_NOCLDSTOP};
  struct sigaction ending = {.sa_handler = end};
  if (sigaction(SIGCHLD, &burying, NULL) || sigaction(SIGTERM, &ending, NULL) || sigaction(SIGINT, &ending, NULL)) {
    return 1;
  }
  for (;;) {
    pause();
  }
}
