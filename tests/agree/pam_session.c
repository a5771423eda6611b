// SPDX-License-Identifier: Apache-2.0
// Opens a PAM session and says what RLIMIT_MEMLOCK it left: "SOFT HARD" in bytes, or "refused CODE" (pam_start's or
// pam_open_session's answer). The session is not closed: its limits are what is asked for. Works in any guest that has
// libpam. usage: pam_session SERVICE USER        build: cc -O2 -o pam_session pam_session.c -lpam
#include <security/pam_appl.h>
#include <stdio.h>
#include <sys/resource.h>

static int no_conversation(int count, const struct pam_message** messages, struct pam_response** answers, void* data) {
  (void)count, (void)messages, (void)answers, (void)data;
  return PAM_CONV_ERR;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: pam_session SERVICE USER\n");
    return 2;
  }
  const struct pam_conv conversation = {no_conversation, NULL};
  pam_handle_t* handle = NULL;
  const int started = pam_start(argv[1], argv[2], &conversation, &handle);
  if (started != PAM_SUCCESS) {  // libpam reads the service's file here
    printf("refused %d\n", started);
    return 0;
  }
  const int code = pam_open_session(handle, 0);
  struct rlimit limit;
  if (code != PAM_SUCCESS) {
    printf("refused %d\n", code);
  } else if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    printf("%llu %llu\n", (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
  }
  return 0;
}
