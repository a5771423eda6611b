// SPDX-License-Identifier: Apache-2.0
// Opens a PAM session and says what RLIMIT_MEMLOCK it left: "SOFT HARD" in bytes, or "refused CODE" (the answer of
// pam_start, pam_acct_mgmt, which is asked first with "account", or pam_open_session). The session is not closed: its
// limits are what is asked for. Works in any guest that has libpam.
// usage: pam_session SERVICE USER [account]        build: cc -O2 -o pam_session pam_session.c -lpam
#include <security/pam_appl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static int no_conversation(int count, const struct pam_message** messages, struct pam_response** answers, void* data) {
  (void)count, (void)messages, (void)answers, (void)data;
  return PAM_CONV_ERR;
}

int main(int argc, char** argv) {
  const int asks_account = argc == 4 && strcmp(argv[3], "account") == 0;
  if (argc != 3 && !asks_account) {
    fprintf(stderr, "usage: pam_session SERVICE USER [account]\n");
    return 2;
  }
  const struct pam_conv conversation = {no_conversation, NULL};
  pam_handle_t* handle = NULL;
  const int started = pam_start(argv[1], argv[2], &conversation, &handle);
  if (started != PAM_SUCCESS) {  // libpam reads the service's file here
    printf("refused %d\n", started);
    return 0;
  }
  int code = asks_account ? pam_acct_mgmt(handle, 0) : PAM_SUCCESS;
  if (code == PAM_SUCCESS) code = pam_open_session(handle, 0);
  struct rlimit limit;
  if (code != PAM_SUCCESS) {
    printf("refused %d\n", code);
  } else if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    printf("%llu %llu\n", (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
  }
  return 0;
}
