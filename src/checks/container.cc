// SPDX-License-Identifier: Apache-2.0
// PD3xx, containers, Kubernetes and device nodes: the table and its pages. The functions are in container_limit.cc,
// container_capability.cc and container_device.cc. Entry point: container_checks. Must not: hold logic.
#include "checks/container_rows.h"

namespace pindown {
namespace {

constexpr Page kInheritsPage = {
    .meaning =
        R"(Nothing gave the container a memlock limit of its own, so it lives under the limit of whatever
started it: containerd for Docker and nerdctl, the calling shell or unit for podman. That is 8 MiB
on current hosts and 64 KiB on older ones. 64 KiB is too little even for NCCL's queues; under 8 MiB
its first data buffer fails. `ulimit -l` in a shell of the host says nothing about the container,
and being root inside does not help: a default container has no CAP_IPC_LOCK.)",
    .why =
        R"(An OCI runtime sets `process.rlimits` when the spec has them (runc libcontainer/init_linux.go
setupRlimits, crun libcrun_set_rlimits) and otherwise leaves what it inherited. Docker fills the
field only from `--ulimit` and from default-ulimits in daemon.json. Docker's containers are started
by containerd through containerd-shim-runc-v2, so the value is that of containerd.service, not of
docker.service; neither unit ships a LimitMEMLOCK, which leaves systemd's default: the larger of 8
MiB and what PID 1 was started with (systemd 251/252 and later, core/main.c
fallback_rlimit_memlock), before that the kernel's 64 KiB (8 MiB since kernel 5.16).

The kernel compares the pages pinned by the process with the soft limit
(drivers/infiniband/core/umem.c ib_umem_get, 5.10 to 7.2) and lets only CAP_IPC_LOCK in the first
user namespace pass.)",
    .recognised =
        R"(A failed registration or queue creation with ENOMEM, in a container (host name of twelve hex digits,
a container's prompt, a docker or podman run line), not in Kubernetes, with a limit that explains
it. Without a known limit it is a candidate. Proven only if the run line without `--ulimit` is
there, the daemon's unit has the very limit of the container, and the limit is shown to have
refused. Ruled out by `--ulimit memlock=…` on the run line, an unlimited limit or a usable
capability. A running containerd, dockerd or crio is judged for what its containers will get; their
configuration files are not read.)",
    .fix = R"(For one container:

    docker run --ulimit memlock=-1:-1 --device /dev/infiniband IMAGE

In compose: `ulimits: {memlock: {soft: -1, hard: -1}}`. For every container of this Docker, keeping
what is in the file. It is read at start only, and restarting Docker stops its containers unless
live-restore is on; the containers need a restart anyway:

    test -s /etc/docker/daemon.json || echo '{}' > /etc/docker/daemon.json
    jq '."default-ulimits".memlock = {"Name":"memlock","Soft":-1,"Hard":-1}' /etc/docker/daemon.json > /etc/docker/daemon.json.new && mv /etc/docker/daemon.json.new /etc/docker/daemon.json
    systemctl restart docker

Or raise what they inherit, and restart the containers:

    mkdir -p /etc/systemd/system/containerd.service.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/containerd.service.d/90-pindown-memlock.conf
    systemctl daemon-reload
    systemctl restart containerd

podman: `podman run --ulimit memlock=-1:-1`, or LimitMEMLOCK=infinity in the quadlet's [Service]
section. See what a container really has:

    docker exec CONTAINER grep 'locked memory' /proc/1/limits
    docker inspect -f '{{.HostConfig.Ulimits}}' CONTAINER)",
    .ignore_when = "The container never registers memory, or runs as root with IPC_LOCK in the first user namespace.",
};

constexpr Page kWrongUnitPage = {
    .meaning =
        R"(LimitMEMLOCK was set on docker.service, and the containers still have the old limit. dockerd does
not start containers; containerd does, and its own unit was not changed.)",
    .why =
        R"(dockerd asks containerd over a socket; containerd starts containerd-shim-runc-v2, the shim runs
runc, and the container inherits that chain's limits (see PD301). A limit on docker.service reaches
dockerd and, on hosts without a containerd.service, the containerd that dockerd starts itself. Tried
on Docker 20.10 with containerd 1.6: docker.service at infinity, the container still had 8 MiB;
containerd.service at infinity, it was unlimited.)",
    .recognised =
        R"(`systemctl show docker` in the log has a LimitMEMLOCK that is enough, while the failing container
has less; or, on a live host, dockerd's limit is higher than containerd's and the process has
containerd's. Ruled out if docker.service's own limit is low or containerd.service's is high as well
(then PD308 or an old container).)",
    .fix = R"(Set it on the unit that starts the containers, then restart them:

    mkdir -p /etc/systemd/system/containerd.service.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/containerd.service.d/90-pindown-memlock.conf
    systemctl daemon-reload
    systemctl restart containerd
    docker restart CONTAINER
    docker exec CONTAINER grep 'locked memory' /proc/1/limits

default-ulimits in daemon.json (PD301) does the same without touching units.)",
    .ignore_when = "dockerd runs its own containerd (its parent process is dockerd), as some packages set it up.",
};

constexpr Page kRefusedPage = {
    .meaning =
        R"(The container was asked to have a memlock limit above the hard limit of the process that starts it,
and the kernel refused. The container does not start at all. This is rootless podman or Docker,
Docker inside a container, or a CI runner.)",
    .why =
        R"(Raising a hard limit needs CAP_SYS_RESOURCE in the first user namespace (kernel/sys.c do_prlimit,
`capable`). A rootless runtime has it in its own namespace only, and a daemon in an unprivileged
container not at all. crun then ends with "setrlimit `RLIMIT_MEMLOCK`: Operation not permitted",
runc with `error setting rlimit type 8: operation not permitted` (8 is RLIMIT_MEMLOCK). IPC_LOCK or
--privileged do not help there either: a capability of a child user namespace does not count for
registering memory (PD306). Recent podman reads -1 in rootless mode as the caller's hard limit and
starts.)",
    .recognised =
        "The runtime's own message, which names the limit and the refusal. Nothing else looks like it: proven.",
    .fix =
        R"(Raise the hard limit of the user on the host, and let the user log out fully (`loginctl
terminate-user USER`) and in again:

    printf '* - memlock unlimited\nroot - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf
    mkdir -p /etc/systemd/system/user@.service.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/user@.service.d/90-pindown-memlock.conf
    systemctl daemon-reload

Then `ulimit -Hl` of that user must say unlimited. Or ask for no more than there is:

    podman run --ulimit host IMAGE

In a nested container or CI job the outer container's limit must be raised first.)",
    .ignore_when = "Never: the container did not start.",
};

constexpr Page kPodPage = {
    .meaning =
        R"(The pod has neither a high memlock limit nor a usable CAP_IPC_LOCK, the two ways to lock memory. A
manifest has no field for the limit; the container gets what containerd or CRI-O on that node has,
commonly 8 MiB or 64 KiB.)",
    .why = R"(The CRI has no rlimit field, and containerd removes default rlimits on purpose (internal/cri/opts
WithoutDefaultSecuritySettings) unless a base_runtime_spec is configured (kept since 1.5), so a
container inherits through its shim the limit containerd.service had when the sandbox started. CRI-O
applies default_ulimits of its configuration, else it hands on crio.service's. Neither unit ships a
LimitMEMLOCK. Per-container ulimits in the Pod API (KEP-5758) were not in a release when this was
written: look up the state for your version.

CAP_IPC_LOCK passes the kernel's check only if it is effective (root, or a file capability: PD305)
and the pod does not use a user namespace (PD306). `hostIPC`, memory limits and hugepages do not
matter.)",
    .recognised =
        R"(A failed registration or queue creation with ENOMEM in something that looks like a pod (CRI or
kubectl framing, a pod's name), and a limit that explains it: likely. Without a known limit: a
candidate with the command that decides. A live process counts as a pod's by its cgroup (kubepods).
Ruled out by an unlimited limit, enough room, or a usable capability.)",
    .fix = R"(On the node, for containerd. This raises the limit of every pod of the node, not of yours alone; running
pods keep the old limit until they are deleted:

    mkdir -p /etc/systemd/system/containerd.service.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/containerd.service.d/90-pindown-memlock.conf
    systemctl daemon-reload
    systemctl restart containerd
    kubectl delete pod POD

k3s and RKE2 start their own containerd: put the drop-in on the unit that runs it. CRI-O (add to an
existing default_ulimits list; a later file replaces it):

    mkdir -p /etc/crio/crio.conf.d
    printf '[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n' > /etc/crio/crio.conf.d/90-pindown-memlock.conf
    systemctl restart crio
    kubectl delete pod POD

Only for RDMA pods, without touching the node's default: the NRI plugin ulimit-adjuster (annotation
`ulimits.noderesource.dev/container.NAME`, values in bytes, 18446744073709551615 for unlimited; NRI
is on by default since containerd 2.0), or run the container as root with

    securityContext:
      capabilities:
        add: ["IPC_LOCK"]

What the pod has:

    kubectl exec POD -- grep -hE 'locked memory|Cap(Eff|Bnd)' /proc/1/limits /proc/1/status)",
    .ignore_when = "The pod registers nothing, or only GPU memory by dma-buf and little host memory, and the job runs.",
};

constexpr Page kNotEffectivePage = {
    .meaning =
        R"(The manifest or run line grants IPC_LOCK, and the process still cannot lock memory: it does not run
as root, and for other users the grant only fills the bounding set, what could be acquired. The
effective set, which the kernel asks, is empty.)",
    .why =
        R"(`capable(CAP_IPC_LOCK)` reads the thread's effective set (kernel/capability.c). On execve by a user
other than root the permitted and effective sets are emptied, except for ambient capabilities and
those of the file (capabilities(7), security/commoncap.c cap_bprm_creds_from_file). Docker never
fills the ambient set, containerd's CRI clears it (WithoutAmbientCaps), CRI-O too; Kubernetes has no
field for it (KEP-2763 is provisional). Rootful podman is different: it puts `--cap-add` of a
non-root user into the ambient set, and it works. `--privileged` with a non-root user does not.)",
    .recognised =
        R"(CapBnd has bit 14 (0x4000) and CapEff lacks it, the user is not root, and the process is in a
container (or its bounding set was cut down, as runtimes do). Docker's default with IPC_LOCK added
reads 00000000a80465fb. Likely from a log; proven if the limit is shown to have refused, or on a
live process whose limit is too low.)",
    .fix =
        R"page(One of: run as root with the capability (Kubernetes: runAsUser: 0, capabilities.add: ["IPC_LOCK"]);
raise the limit on the node, then nobody needs the capability (PD304, PD301); or give the program's
file the capability in the image:

    setcap cap_ipc_lock+ep "$(readlink -f "$(command -v python3)")"

With a file capability: IPC_LOCK must stay granted (otherwise execve itself fails with EPERM),
allowPrivilegeEscalation must not be false and no-new-privileges must be off, and the loader ignores
LD_LIBRARY_PATH and LD_PRELOAD for such a program (ld.so(8), secure-execution mode), which breaks
some images. Check inside the rank:

    grep Cap /proc/self/status)page",
    .ignore_when = "The limit is high enough by itself: then nobody asks for the capability.",
};

constexpr Page kUserNamespacePage = {
    .meaning =
        R"(The process holds CAP_IPC_LOCK, even all capabilities, but in a user namespace of its own: rootless
podman or Docker, userns-remap, a pod with hostUsers: false, enroot and pyxis, apptainer, an
unprivileged LXC. There the capability does not count for registering memory; only the limit does.)",
    .why =
        R"(`ib_umem_get` asks `capable(CAP_IPC_LOCK)`, which is ns_capable(&init_user_ns, …): only the
machine's first user namespace counts (kernel/capability.c; umem.c 5.10 to 7.2). CAP_SYS_RESOURCE
has the same fate in do_prlimit, so the hard limit cannot be raised from inside either. In a
namespace made with `unshare -r`, CapEff is full and a registration over the limit is ENOMEM.)",
    .recognised =
        R"(CapEff has bit 14 while /proc/PID/uid_map is not `0 0 4294967295` (or ns/user is not
user:[4026531837]), and the limit is too low. Proven on a live process; in a log likely, or proven
if the limit is shown to have refused. Ruled out in the first namespace and by an unlimited limit.)",
    .fix =
        R"(Raise the limit from outside the namespace; the runtime sets it before it enters. Rootless
containers: the user's hard limit, then a full logout:

    printf '* - memlock unlimited\nroot - memlock unlimited\n' > /etc/security/limits.d/90-pindown-memlock.conf
    mkdir -p /etc/systemd/system/user@.service.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/user@.service.d/90-pindown-memlock.conf
    systemctl daemon-reload

Kubernetes with hostUsers: false: LimitMEMLOCK=infinity on containerd.service or CRI-O's
default_ulimits (PD304), or leave hostUsers at true. enroot and pyxis: the limit of the Slurm job
(PD202, PD203). Docker's userns-remap: `--ulimit memlock=-1:-1`.)",
    .ignore_when = "The limit is high enough by itself.",
};

constexpr Page kAdmissionPage = {
    .meaning =
        R"(The cluster's admission rejects the manifest because it asks for IPC_LOCK (or for privileged): no
pod is created, or it is created from a template without the capability.)",
    .why = R"(Pod Security's baseline profile allows thirteen capabilities to be added, IPC_LOCK is not among them
(pod-security-admission check_capabilities_baseline.go); restricted allows NET_BIND_SERVICE only. On
OpenShift restricted-v2 drops all capabilities and allows NET_BIND_SERVICE; a pod that asks for more
needs an SCC whose allowedCapabilities has IPC_LOCK.)",
    .recognised =
        R"(`violates PodSecurity "…"`, or `unable to validate against any security context constraint`. Proven
if the line names IPC_LOCK, likely if it names capabilities or privileged, otherwise only a
candidate: the same words reject runAsUser, fsGroup and host paths.)",
    .fix =
        R"(Best where you own the nodes: do without the capability. With LimitMEMLOCK=infinity on
containerd.service (PD304) an ordinary pod may lock memory. Otherwise let this namespace have it:

    kubectl label --overwrite namespace NAMESPACE pod-security.kubernetes.io/enforce=privileged

OpenShift: create an SCC with `allowedCapabilities: [IPC_LOCK]` and bind the pod's service account:

    oc adm policy add-scc-to-user SCC -z SERVICEACCOUNT -n NAMESPACE

Mind that IPC_LOCK helps only a container that runs as root (PD305).)",
    .ignore_when =
        "The rejected object is not the RDMA job, or the line is a warning (Pod Security in warn or audit mode).",
};

constexpr Page kShimPage = {
    .meaning =
        R"(containerd's limit was raised and containerd restarted, yet the container still has the old limit.
Its shim survived the restart, and everything the shim starts, even a restarted container of the
same pod, inherits the shim's limit.)",
    .why =
        R"(containerd.service and docker.service use KillMode=process, so shims outlive a restart.
containerd-shim-runc-v2 is one process for all containers of a pod (grouped by
io.kubernetes.cri.sandbox-id): a container that crash-loops in an old pod, and `kubectl exec` into
it, still get the limit the shim was born with.)",
    .recognised =
        R"(`systemctl show containerd` in the log has a limit that is enough while the container has less; on a
live host the shim above the process has a lower limit than containerd. Ruled out if the shim has
containerd's present limit.)",
    .fix = R"(Delete the pod (a restart of its container is not enough), or restart the Docker container:

    kubectl delete pod POD
    docker restart CONTAINER

Without a restart, as root on the node, for the shim and for each process of the container:

    prlimit --memlock=unlimited:unlimited --pid PID)",
    .ignore_when = "The container's limit was set on purpose by its own spec (docker inspect shows Ulimits).",
};

constexpr Page kDevicePage = {
    .meaning =
        R"(The library sees the adapter, because sysfs in a container shows the host's devices, but cannot open
it: the node /dev/infiniband/uverbsN is missing in the container, or the container's device rules
block it. NCCL then prints `No device found` and goes on over sockets, many times slower; other
libraries fail.)",
    .why =
        R"(libibverbs finds devices in /sys/class/infiniband_verbs and opens /dev/infiniband/uverbsN, trying
/dev/char/MAJOR:MINOR after that, so the errno of the second attempt (ENOENT) can hide an EACCES of
the first. A bind mount of /dev/infiniband without `--device` brings the node but not the
permission: the device cgroup answers EPERM. NCCL prints no errno for ibv_open_device in any version
up to 2.30. Opening charges nothing to RLIMIT_MEMLOCK.)",
    .recognised =
        R"(A failed ibv_open_device (or a driver message of libibverbs) with ENOENT, ENODEV, EPERM or no errno:
likely in a container, more so with a run line without `--device /dev/infiniband`; proven if a
listing shows that the node is missing. ENOMEM is UAR space (PD505), EAGAIN the rdma cgroup (PD508),
EACCES permissions (PD310). On a bare host a listing with mode crw-rw-rw- rules it out.)",
    .fix = R"(Docker and podman, with all nodes of the directory:

    docker run --device /dev/infiniband --ulimit memlock=-1:-1 IMAGE

Kubernetes: request the RDMA device plugin's resource in limits. Its name on your nodes:

    kubectl describe node NODE | grep -i -E 'rdma|hca|nic'

Slurm with pyxis mounts /dev/infiniband by enroot's hook 99-mellanox.sh when
MELLANOX_VISIBLE_DEVICES is set. On a host without the directory:

    modprobe ib_uverbs
    modprobe rdma_ucm
    ls -l /dev/infiniband)",
    .ignore_when =
        "The job is meant to run over TCP (NCCL_IB_DISABLE=1), or another adapter of the list is opened and used.",
};

constexpr Page kPrivilegePage = {
    .meaning =
        R"(The device is there, but this process may not use it, or not in the way the library wants: the
node's mode, an SELinux or AppArmor rule, a seccomp filter, or a privileged interface such as DEVX.
Typical sign: it works with `--privileged` or as root.)",
    .why =
        R"(The kernel creates uverbs nodes with mode 0666 (drivers/infiniband/core/uverbs_main.c
uverbs_devnode); a udev rule or a container runtime may make them 0600, and open says EACCES. An LSM
denial says EACCES as well and leaves a line in the audit log. Raw packet queue pairs need
CAP_NET_RAW (EPERM); mlx5's DEVX needed CAP_NET_RAW for any use in its first kernels
(mlx5_ib_devx_create), later only for raw transmission. GPU-initiated libraries (NVSHMEM IBGDA,
DeepEP) also map doorbells into the GPU and report `cannot allocate mlx5dv_devx_uar` without an
errno; that text also covers exhausted UAR space (PD505).

EPERM from a registration has one meaning in memory accounting: a memlock limit of 0 (PD110). With
any other limit it is a privilege.)",
    .recognised =
        R"(EACCES or EPERM from opening the device, from a DEVX call, or from a registration whose limit is
known not to be 0; a listing with uverbs nodes that others may not open and a user other than root;
an AVC or AppArmor denial that names uverbs. Without an errno it is a candidate.)",
    .fix = R"(See mode, owner and denials:

    ls -l /dev/infiniband
    ausearch -m avc -ts recent | grep -E 'uverbs|infiniband'
    dmesg | grep DENIED

Give back the mode (and remove the udev rule that took it):

    chmod 0666 /dev/infiniband/uverbs* /dev/infiniband/rdma_cm

Containers: pass the nodes with --device; to see whether a policy is what denies, once and not for
good:

    docker run --security-opt label=disable --security-opt apparmor=unconfined --device /dev/infiniband IMAGE

DEVX and raw queues: `--cap-add NET_RAW`, in Kubernetes capabilities.add: ["NET_RAW"] for a root
container.)",
    .ignore_when = "The library says that it falls back from DEVX to plain verbs and the job runs.",
};

constexpr Page kLsmPage = {
    .meaning =
        R"(The process holds CAP_IPC_LOCK, and the security module takes it away again: SELinux's
capability:ipc_lock permission or an AppArmor profile without `capability ipc_lock`. Registrations
are then held to the memlock limit as if the capability were not there.)",
    .why =
        R"(`capable()` asks the capability module first and then every other security module
(security_capable); each may refuse. They are only asked when the bit is set and the limit is
already exceeded: `ib_umem_get` tests the limit first (umem.c, 5.10 to 7.2). So a denial in the
audit log means that a request over the limit was made at that moment.)",
    .recognised =
        R"(`avc: denied { ipc_lock }` or `apparmor="DENIED" … capname="ipc_lock"` in the kernel log, together
with a failure the limit can explain. Ruled out by an unlimited limit. SELinux dontaudit rules can
hide the line: its absence proves nothing.)",
    .fix = R"(SELinux: look at the denial, then allow it for this domain, and no more than it:

    ausearch -m avc -ts recent | grep ipc_lock | audit2allow -M rdma_ipc_lock
    semodule -i rdma_ipc_lock.pp

AppArmor: add `capability ipc_lock,` to the profile and reload it:

    apparmor_parser -r /etc/apparmor.d/PROFILE

Or raise the memlock limit (PD301, PD304): then the capability is not asked for.)",
    .ignore_when = "The denied process (comm= in the line) is not the job.",
};

constexpr Check kRows[] = {
    {"PD301", "container-inherits-daemon-limit", Severity::kError,
     "the container has its runtime daemon's memlock limit", kInheritsPage, container::container_inherits},
    {"PD302", "limit-set-on-wrong-unit", Severity::kError,
     "LimitMEMLOCK is on docker.service; containerd starts containers", kWrongUnitPage, container::wrong_unit},
    {"PD303", "ulimit-refused", Severity::kError, "the container runtime may not raise the memlock limit", kRefusedPage,
     container::ulimit_refused},
    {"PD304", "pod-has-no-memlock-route", Severity::kError, "the pod has no working route to locked memory", kPodPage,
     container::pod_route},
    {"PD305", "ipc-lock-not-effective", Severity::kError, "IPC_LOCK is granted but not effective for this user",
     kNotEffectivePage, container::ipc_lock_not_effective},
    {"PD306", "user-namespace-voids-capability", Severity::kError, "CAP_IPC_LOCK of a user namespace does not count",
     kUserNamespacePage, container::user_namespace},
    {"PD307", "admission-forbids-ipc-lock", Severity::kError, "admission rejects a pod that asks for IPC_LOCK",
     kAdmissionPage, container::admission_forbids},
    {"PD308", "shim-older-than-fix", Severity::kError, "the container's shim is older than the raised limit", kShimPage,
     container::shim_older},
    {"PD309", "rdma-device-not-in-container", Severity::kError, "the RDMA device node is missing or blocked",
     kDevicePage, container::device_absent},
    {"PD310", "device-privilege-denied", Severity::kError, "the process may not use the RDMA device", kPrivilegePage,
     container::privilege_denied},
    {"PD311", "lsm-denies-ipc-lock", Severity::kError, "a security module denies CAP_IPC_LOCK", kLsmPage,
     container::lsm_denies},
};
static_assert(all_well_formed(kRows));

}  // namespace

std::span<const Check> container_checks() {
  return kRows;
}

}  // namespace pindown
