// SPDX-License-Identifier: Apache-2.0
// PD1xx, login, PAM and the process itself: the table and its pages. The functions are in pam_checks.cc and process.cc.
// Entry point: login_checks. Must not: hold logic.
#include "checks/login_rows.h"

namespace pindown {
namespace {

constexpr Check kRows[] = {
    {.code = "PD101",
     .slug = "memlock-too-low",
     .title = "the locked-memory limit refused the registration",
     .page =
         {.meaning = R"page(A call that hands memory to an RDMA device was refused because the process may not lock
that much memory. The job dies there, or goes on over TCP at a fraction of the speed.
pindown uses this code when the limit is the reason but nothing shows who set it; a code that
names the link (sshd, slurmd, a service, a container) takes its place when the evidence does.)page",
          .why = R"page(The kernel pins every page of a registered buffer and counts them per process:
drivers/infiniband/core/umem.c, ib_umem_get(), same logic from 5.10 to 7.2. When pinned_vm plus
the new pages exceeds the SOFT limit RLIMIT_MEMLOCK and the thread has no CAP_IPC_LOCK in the
first user namespace, the answer is ENOMEM (EPERM at a limit of 0). The count is per process, not
per user; a buffer registered on two devices counts twice; pages are 4 KiB even for hugepages;
VmPin in /proc/PID/status is the count, VmLck is not. Queues count as well on mlx5, mlx4, bnxt_re
and others, so at 64 KiB ibv_create_cq or ibv_create_qp fails first. GPU memory through
nvidia_peermem is charged; dma-buf and on-demand paging are not. The kernel logs nothing.

What does not help. Overcommit: vm.overcommit_memory is read when memory is allocated, never when
it is pinned. Contiguous memory: registration takes single 4 KiB pages, so fragmentation is no
reason. vm.max_map_count: only through fork protection, see PD603. `sudo ulimit`: ulimit is a
shell builtin, there is no such program. `ulimit -l unlimited` in one shell: it changes that shell
and its children, never a daemon or a rank that something else starts. /etc/sysconfig/docker: no
docker-ce unit reads it. Editing limits.conf: it is read when PAM opens a session, never by
services, containers or batch daemons. Being root: only the capability counts.)page",
          .recognised =
              R"page(From ENOMEM, or a line without errno (NCCL up to 2.12), of ibv_reg_mr, ibv_reg_mr_iova2,
ibv_create_cq, ibv_create_qp or a library's wording for them, together with a limit the job, its
container or the library itself showed; from the warnings of libibverbs (only at 32 KiB or less),
UCX ("current: 64 kbytes"), Open MPI ("Memlock limit") and DAPL. From a live process: its soft
limit and capabilities against --need, or against the default policy (2 GiB passes, less than
64 MiB is an error). ENOMEM alone makes it a candidate. What the failing process pins (VmPin of its pid, or the
"total mr reg size" of libfabric's EFA provider) counts beside the request: over the limit it is likely; with room for
both it is a candidate at most, and ruled out where UCX froze the process at the error. Any other errno rules it out.)page",
          .fix =
              R"page(Raise the limit where the process gets it, then start it again. What started the job decides which of
these it is; inside the job this tells: session-N.scope is a login session, X.service a service,
slurmstepd or job_N Slurm, docker, libpod or kubepods a container:

    cat /proc/self/cgroup

A login or ssh session, mpirun over ssh included (PD102 to PD108): pam_limits, then a new login:

    printf '* - memlock unlimited\nroot - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf

A systemd service (PD201): a drop-in for its unit, then a restart:

    systemctl edit UNIT.service        # [Service]  LimitMEMLOCK=infinity
    systemctl restart UNIT.service

Slurm (PD203, PD202): slurmd's unit on every node, and no propagation of the submit shell's limit;
limits.conf does not reach a job there. Other batch systems, Ray, prted: the daemon (PD204).

A Docker or Podman container (PD301): the run line, or the daemon's default:

    docker run --ulimit memlock=-1:-1 IMAGE

A Kubernetes pod (PD304): the container runtime's unit on the node, or root with IPC_LOCK.

For a process that runs now:

    prlimit --pid PID --memlock=unlimited

Check it inside the rank, not in your shell:

    grep 'locked memory' /proc/PID/limits)page",
          .ignore_when =
              "The job went on and does not need RDMA, or the program is known to need less than the limit."},
     .eval = login::memlock_too_low},

    {.code = "PD102",
     .slug = "sshd-usepam-off",
     .title = "sshd runs without PAM, so limits.conf is never read",
     .page =
         {.meaning =
              R"page(Sessions and remote ranks that come through sshd have exactly the limit of the sshd daemon,
often 8 MiB or 64 KiB. Edits of limits.conf change nothing for them, while a console login or `su -`
shows the new value.)page",
          .why = R"page(limits.conf is read by pam_limits, and sshd opens a PAM session only with `UsePAM yes`
(do_pam_session() before the shell is forked; sshd-session.c, in sshd.c before 9.8). The compiled
default is no (servconf.c, 9.2 to 10.2 and later); distributions ship `UsePAM yes` in sshd_config.
The first value read wins, and files that an Include at the top brings in come first. sshd never
sets RLIMIT_MEMLOCK itself, so without PAM the session inherits the daemon's.)page",
          .recognised =
              R"page(`UsePAM no` in pasted sshd_config text or `sshd -T` output, and a low limit in a job that no container
or batch daemon started; a candidate while the limit is not known. For a live process under sshd with
exactly the limit of sshd it is a candidate.)page",
          .fix =
              R"page(Switch PAM on, reload, and log in again (sessions that are open keep their limit). With PAM its account
stack applies to every ssh login too: pam_access, pam_slurm_adopt, pam_nologin or an expired account
may refuse those who get in today. Look at it first, keep a second session open, and try a new login
before you close it:

    grep -vE '^ *(#|$)' /etc/pam.d/sshd
    sed -i '1i UsePAM yes' /etc/ssh/sshd_config
    sshd -t
    systemctl reload ssh || systemctl reload sshd
    sshd -T | grep -i '^usepam'

If PAM must stay off, give the daemon itself the limit; a reload is not enough for that:

    mkdir -p /etc/systemd/system/sshd.service.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/sshd.service.d/90-pindown-memlock.conf
    systemctl daemon-reload
    systemctl restart sshd

On Debian and Ubuntu the unit is ssh.service.)page",
          .ignore_when =
              "Jobs never start through ssh on this machine, or the sshd unit itself has an unlimited limit."},
     .eval = login::sshd_usepam_off},

    {.code = "PD103",
     .slug = "pam-limits-not-in-stack",
     .title = "the PAM service of this entry point does not run pam_limits",
     .page = {.meaning =
                  R"page(The session was opened by PAM, but the stack of that service (sshd, su, cron, ...) has no
`session` line with pam_limits.so, or something before it skips it. The session keeps the limit of
the daemon that opened it.)page",
              .why =
                  R"page(Each program has its own file in /etc/pam.d. Debian lists pam_limits in sshd, login, su, sudo,
runuser, cron, atd and systemd-user, but not in common-session; RHEL and Fedora have it in
system-auth and password-auth, which the others include. A line of type account or auth sets
nothing; `session sufficient pam_permit.so` before it ends the stack; on a missing module a
`required` line refuses the session and an `optional` one is skipped in silence.)page",
              .recognised =
                  R"page(A candidate only: limits.conf was shown and allows enough, ranks start over ssh, UsePAM is not
known to be off, and the job still has less (a candidate). For a live session by ssh, su, sudo, runuser, cron,
at or login the stack itself is read, with its includes and jumps; for those that keep what their caller has only
where limits.conf would have given enough.)page",
              .fix = R"page(See whether the stack has it:

    grep -sn pam_limits /etc/pam.d/sshd /etc/pam.d/password-auth /etc/pam.d/common-session

If not, on Debian and Ubuntu (for su, sudo, cron ... in the file of that name):

    printf 'session required pam_limits.so\n' >> /etc/pam.d/sshd

On RHEL and Fedora let authselect restore its files:

    authselect apply-changes

Keep a root shell open while you change PAM, and test with a new session.)page",
              .ignore_when = "The entry point is not used for jobs, or its daemon has an unlimited limit of its own."},
     .eval = login::pam_limits_not_in_stack},

    {.code = "PD104",
     .slug = "limits-conf-line-ignored",
     .title = "a memlock line in limits.conf is ignored or read as another value",
     .page = {.meaning =
                  R"page(There is a line that looks right, and PAM skips it or takes it for something else. Nobody is
told: the login succeeds and the message goes to the debug log.)page",
              .why =
                  R"page(pam_limits.c reads the value as KiB in decimal digits and stops at the first other character:
64G is 64 KiB, 2g is 2 KiB, 1e6 is 1 KiB, 0x100 is 0 (and a limit of 0 answers EPERM). Unlimited is
spelled unlimited, infinity, -1 or -. Value words such as `unlimit` are skipped, and so are a type
other than soft, hard or - (`both`, `seft`), a misspelt item, a list, quotes or a pattern as domain, and the
first line of a file with a byte order mark. `unlimited` with a carriage return behind it (a file
written on Windows) or with words after it counts up to Linux-PAM 1.5.3 and is skipped from 1.6 on
(commits eec4358a, 9228077d); the rejection is logged at debug level up to 1.7.2.)page",
              .recognised =
                  R"page(From limits.conf lines shown in the input, read as pam_limits reads them, while the limit is
low, a candidate while it is not known. Proven when the limit seen in the job is just what PAM makes of the line.
A note only where limits.conf does not govern the job or another value was seen.)page",
              .fix = R"page(Write the line in PAM's words, in a file of its own, and log in again:

    printf '* - memlock unlimited\nroot - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf

Find the wrong line and carriage returns:

    grep -rn memlock /etc/security/limits.conf /etc/security/limits.d/
    grep -rlP '\r$' /etc/security/limits.conf /etc/security/limits.d/
    sed -i 's/\r$//' /etc/security/limits.conf

A number is in KiB: 64 GiB is 67108864.)page",
              .ignore_when =
                  "A later or more specific line sets the value that is wanted, or jobs do not come through a login."},
     .eval = login::limits_conf_line_ignored},

    {.code = "PD105",
     .slug = "limits-conf-not-for-root",
     .title = "`*` and `@group` in limits.conf do not cover root on Debian and Ubuntu",
     .page =
         {.meaning =
              R"page(limits.conf says unlimited for everybody, but a session or daemon of root still has the default.
On the host itself root usually has CAP_IPC_LOCK and passes anyway; it hurts where the capability
is gone or where root's session starts something that drops to a user: ray, mpirun, a daemon
started by hand.)page",
          .why =
              R"page(Debian's pam_limits carries a patch (pam_limits_explicit_root, in every version to 1.7) under which
`*` and `@group` lines never apply to root; only a line `root - memlock ...` or a uid range that
contains 0 does. Upstream, RHEL and SUSE apply `*` to root too. One oddity: the two-word
exemption `@root -` does work for root.)page",
          .recognised = R"page(Shown limits.conf lines cover only `*` or `@group`, the failing process runs as root, its
limit is low (a candidate while it is not known), and the distribution is Debian or Ubuntu. An unknown distribution
makes it a candidate.)page",
          .fix = R"page(Name root as well, then open a new session:

    printf '* - memlock unlimited\nroot - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf
    ssh root@localhost 'ulimit -Sl; ulimit -Hl')page",
          .ignore_when = "The process has a usable CAP_IPC_LOCK: then no limit applies to its registrations."},
     .eval = login::limits_conf_not_for_root},

    {.code = "PD106",
     .slug = "limits-conf-overridden",
     .title = "another limits.conf line wins over the one that allows enough",
     .page =
         {.meaning =
              R"page(Two lines fit the user, and the one with the small value counts. Adding a line to yet another
file does not change that if the winning line is more specific.)page",
          .why = R"page(pam_limits.c ranks by class first: the user's name or a uid range, then @group, then `*`,
whatever the order of files and lines. Within one class the last line wins: limits.conf first, then
limits.d/*.conf in the order of their names. A file 99-*.conf therefore beats earlier files but
never a user or group line. soft and hard are decided apart, and soft is cut to hard.)page",
          .recognised =
              R"page(Shown limits.conf lines: one that would do loses to one that would not. A finding when the limit
seen equals the winner, or when the winner surely applies; a candidate when it depends on group
membership or on the user.)page",
          .fix = R"page(Find all lines, then raise or remove the one that wins, and log in again:

    grep -rn memlock /etc/security/limits.conf /etc/security/limits.d/
    id USER

A line for the user itself beats every other:

    printf 'USER - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf)page",
          .ignore_when = "The smaller value is meant for this user and jobs with RDMA run under another."},
     .eval = login::limits_conf_overridden},

    {.code = "PD107",
     .slug = "soft-below-hard",
     .title = "the hard limit would do, but the soft limit is what counts",
     .page =
         {.meaning =
              R"page(The process may raise its own limit without any privilege and nobody did. One line in the job
script is enough; no administrator is needed.)page",
          .why =
              R"page(ib_umem_get() (drivers/infiniband/core/umem.c, 5.10 to 7.2) compares with rlimit(RLIMIT_MEMLOCK),
the soft limit; the hard limit is only how far setrlimit(2) may raise it. `hard` lines alone in
limits.conf leave soft as it was, and Slurm carries the soft limit of the submit shell into the job
while hard stays that of slurmd.)page",
          .recognised =
              R"page(Both numbers of "Max locked memory" or `ulimit -Sl; ulimit -Hl` of the job or process, or of a
shell on its host where the job shows none: soft is too low and hard would do for the need, or for
the default policy.)page",
          .fix = R"page(In the job script, before the program starts:

    ulimit -l unlimited

If hard is a number:

    ulimit -Sl "$(ulimit -Hl)"

For a process that runs now, as its owner:

    prlimit --pid PID --memlock=unlimited:

To have it for good, set soft too: `* - memlock unlimited` sets both.)page",
          .ignore_when = "The program raises its own limit before it registers memory."},
     .eval = login::soft_below_hard},

    {.code = "PD108",
     .slug = "pam-resets-to-pid1",
     .title = "pam_limits of this distribution resets sessions to PID 1's limits",
     .page =
         {.meaning =
              R"page(LimitMEMLOCK=infinity was set for sshd, and ssh sessions still have another value: the one of
PID 1, usually an eighth of the memory.)page",
          .why =
              R"page(Debian's pam_limits before 1.7.0-1 (Debian 12, Ubuntu 24.04 and older) starts every session from the
limits in /proc/1/limits and only then applies limits.conf; what the daemon or the caller had is
lost, also for su, sudo and cron. systemd's PID 1 has max(64 MiB, RAM/8) (main.c,
bump_rlimit_memlock(); RAM/8 since 246). Since 1.7.0-1 this happens only with the option set_all,
so the upgrade to Debian 13 lowers a stock ssh session from RAM/8 to 8 MiB. In a container PID 1
is the container's first process.)page",
          .recognised =
              R"page(The distribution is one of those, the limit of the session equals that of PID 1, and what opened it
has more: sshd or its unit, or what called su, sudo or cron.)page",
          .fix = R"page(Set it where the session takes it from, and log in again:

    printf '* - memlock unlimited\nroot - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf
    ssh localhost 'ulimit -Sl; ulimit -Hl'

A LimitMEMLOCK in the ssh unit is not needed for this.)page",
          .ignore_when = "An eighth of the memory is enough for the job."},
     .eval = login::pam_resets_to_pid1},

    {.code = "PD109",
     .slug = "process-older-than-fix",
     .title = "the process started before the limit was raised",
     .page =
         {.meaning =
              R"page(The configuration is right and a fresh login shows it, but the job, or what started the job, is
older. Limits are inherited at fork and are not looked up again.)page",
          .why =
              R"page(RLIMIT_MEMLOCK is copied from the parent at fork (kernel/fork.c, copy_signal()) and kept over
execve; pam_limits acts once, when a session opens. So tmux and screen servers, ssh control
masters, VS Code servers, jupyter, `ray start`, JVM executors and every shell that was already open
keep what they had. A daemon needs a restart; a reload of sshd is the same process with the same
limit.)page",
          .recognised =
              R"page(A fresh shell in the input has enough and limits.conf allows it, while the limits of the job
itself are low and neither Slurm nor a container set them. Without limits.conf it is a candidate.
Live: what a session opened now, in the same way (ssh, su, sudo, cron ...), would get; for a service, that the file of
its LimitMEMLOCK line was written after the service was last started (systemd 236 and later).)page",
          .fix =
              R"page(A service is restarted: `systemctl daemon-reload && systemctl restart UNIT`. Otherwise find the old parent, end
it, and start it again from a new login:

    ps -o pid,ppid,lstart,args --forest -u "$USER"

Or raise it in place, parent first, so that its next children inherit it (root, if hard is low too):

    prlimit --pid PID --memlock=unlimited)page",
          .ignore_when = "The job will be started again from a new session anyway."},
     .eval = login::process_older_than_fix},

    {.code = "PD110",
     .slug = "memlock-zero",
     .title = "the locked-memory limit is 0, which answers EPERM",
     .page =
         {.meaning =
              R"page(Every registration fails with "Operation not permitted" whatever its size. It looks like a missing
permission on the device, but it is the limit.)page",
          .why = R"page(ib_umem_get() first asks can_do_mlock() (mm/mlock.c, 5.10 to 7.2): a soft limit of 0 and no
CAP_IPC_LOCK give EPERM before any size is looked at; any other limit gives ENOMEM. A common origin
is a limits.conf value PAM reads as 0, such as 0x800 or 0, or `ulimit -l 0`.)page",
          .recognised =
              R"page(errno EPERM of a registration and a limit of 0 in the job; EPERM with the limit unknown is a
candidate; a live process with limit 0 and no usable CAP_IPC_LOCK is proven.)page",
          .fix = R"page(Find what set it, and set it to unlimited:

    grep -rn memlock /etc/security/limits.conf /etc/security/limits.d/
    grep 'locked memory' /proc/PID/limits
    printf '* - memlock unlimited\nroot - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf

For a process that runs now, as root:

    prlimit --pid PID --memlock=unlimited)page",
          .ignore_when = "The process is meant to lock nothing, and no RDMA program runs under it."},
     .eval = login::memlock_zero},

    {.code = "PD111",
     .slug = "limit-divided-by-devices",
     .title = "every device charges the same buffer again",
     .page = {.meaning =
                  R"page(The buffer fits the limit once but not as often as it is registered: a 60 GiB cache on four
adapters needs 240 GiB of limit. Smaller buffers or fewer adapters work, which looks like a size
limit of the device.)page",
              .why =
                  R"page(ib_umem_get() adds the pages of each registration to mm->pinned_vm without asking whether they
are pinned already (umem.c, 5.10 to 7.2). VmPin may therefore exceed the resident size and even the
memory of the machine. Key-value stores, UCX multi-rail and NCCL's merged NICs register one buffer
with every adapter.)page",
              .recognised =
                  R"page(ENOMEM for a known length, several RDMA devices in the log, and a finite limit of the job that
lies between the length and the length times the devices.)page",
              .fix = R"page(Make the limit unlimited: with many adapters there is no good number. In a login session:

    printf '* - memlock unlimited\nroot - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf

Or use fewer devices:

    export NCCL_IB_HCA=mlx5_0
    export UCX_NET_DEVICES=mlx5_0:1)page",
              .ignore_when = "Each process uses only the adapter next to its GPU."},
     .eval = login::limit_divided_by_devices},

    {.code = "PD112",
     .slug = "no-limit-configured",
     .title = "nobody set a limit, so the distribution's default applies",
     .page =
         {.meaning = R"page(The value is exactly a default: 8 MiB, 64 KiB, or an eighth of the memory. Nothing on this
machine was configured for RDMA yet.)page",
          .why =
              R"page(The kernel gives PID 1 64 KiB up to 5.15 and 8 MiB since 5.16 (MLOCK_LIMIT, commit 9dcc38e2813e).
systemd gives services max(what PID 1 started with, 8 MiB) since 251/252 (core/main.c,
fallback_rlimit_memlock()); before that the kernel's value. Its own PID 1 takes max(64 MiB, RAM/8),
which Debian 12 and Ubuntu 24.04 and older hand to sessions (PD108). So a stock ssh session has
64 KiB on RHEL 8, 8 MiB on RHEL 9 and Debian 13, RAM/8 on Debian 12. An upgrade can change it.)page",
          .recognised =
              R"page(Live: the session's soft limit is one of those numbers and nothing between the service and the
process changed it. From a log it is a candidate.)page",
          .fix = R"page(Configure it once per node, in the image, and log in again:

    printf '* - memlock unlimited\nroot - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf

Services do not read that file. For all of them at once:

    mkdir -p /etc/systemd/system.conf.d
    printf '[Manager]\nDefaultLimitMEMLOCK=infinity\n' > /etc/systemd/system.conf.d/90-pindown-memlock.conf
    systemctl daemon-reload

and restart each daemon that starts jobs.)page",
          .ignore_when = "No job with RDMA starts this way on this machine."},
     .eval = login::no_limit_configured},

    {.code = "PD113",
     .slug = "lowered-by-ancestor",
     .title = "a process between PID 1 and the job lowered the limit",
     .page =
         {.meaning =
              R"page(The session or service had more; a parent of the job lowered it: `ulimit -l` in .bashrc, a module
file or a job script, sudoers rlimit_memlock, a wrapper that calls setrlimit.)page",
          .why = R"page(Any process may lower its limit, and children inherit it (getrlimit(2)). Once the hard limit is
lowered it cannot be raised again without CAP_SYS_RESOURCE: `ulimit -l N` in bash sets both, so a
later `ulimit -l unlimited` fails. sudoers `Defaults rlimit_memlock=...` wins over pam_limits (sudo
1.9.13 and 1.9.16). A pam_limits line with a small value acts at the session's first process.)page",
          .recognised =
              R"page(Live: the limits of the ancestors, nearest first; the finding names the pid where the value falls
(a fall at a service's start is PD201, at a Slurm step PD202; a service that has less than its unit says, and
whose unit is older than its start, lowered it by itself). In a log: a `ulimit -l N` command, or such a
line of a start-up file, a job script or sudoers that is shown, that matches the limit of the job.)page",
          .fix = R"page(Remove the line, start from a new session:

    grep -nsE 'ulimit.*-[SH]*l|limit +memorylocked' ~/.bashrc ~/.bash_profile ~/.profile ~/.cshrc /etc/profile /etc/profile.d/*
    grep -rns rlimit_memlock /etc/sudoers /etc/sudoers.d/

For what runs now, as root:

    prlimit --pid PID --memlock=unlimited)page",
          .ignore_when = "The limit is meant to keep this program small and it registers little."},
     .eval = login::lowered_by_ancestor},
};
static_assert(all_well_formed(kRows));

}  // namespace

std::span<const Check> login_checks() {
  return kRows;
}

}  // namespace pindown
