// SPDX-License-Identifier: Apache-2.0
// PD4xx, memory of a GPU: the table and its pages. The functions are in gpu_memory.cc. Entry point: gpu_checks.
// Must not: hold logic.
#include "checks/gpu_rows.h"

namespace pindown {
namespace {

constexpr Page kPeerMemoryPage = {
    .meaning =
        R"(The adapter was asked to register an address in GPU memory, and nothing in the kernel can turn that
address into something the adapter may reach. Buffers in host memory of the same job register well.
NCCL looks for the module first and silently stays on the host when it is absent; Mooncake, NIXL,
UCX, mscclpp and perftest fail with `Bad address`. An NCCL that fails this way saw the module in
sysfs (a container sees the host's sysfs), yet the module does not work.)",
    .why =
        R"(`ib_umem_get` pins pages with `pin_user_pages_fast`. A GPU mapping is VM_IO|VM_PFNMAP, so
`check_vma_flags` (mm/gup.c) answers EFAULT. An RDMA core with peer memory (MLNX_OFED, DOCA,
Ubuntu's and NVIDIA's kernels, not upstream) then offers the address to its peer-memory clients;
`nvidia-peermem` (NVIDIA driver 470 and later; before that nv_peer_mem) accepts it if
`nvidia_p2p_get_pages` succeeds in its acquire callback. With no client, or with a client that
refuses, the EFAULT stands.

A module built against another `ib_core` does not load at all: `Unknown symbol
ib_register_peer_memory_client`, typical after the RDMA stack was installed or upgraded later than
the GPU driver. On AMD, amdgpu itself is the client; mori and rocSHMEM report EINVAL there.

Registrations through peer memory are charged to RLIMIT_MEMLOCK like host memory (the out-of-tree
core charges first and does not take the charge back), so a low limit gives ENOMEM and hides this
cause.)",
    .recognised =
        R"(EFAULT (AMD: EINVAL) from ibv_reg_mr on memory that is or may be the GPU's: UCX prints `(cuda)`,
aws-ofi-nccl `type = 2`, NCCL its GDRDMA channels. Likely when lsmod shows no nvidia_peermem and no
nv_peer_mem, or when the library itself says the buffer is the GPU's; proven by the kernel's
`Unknown symbol … peer_memory`. On AMD likely when /sys/kernel/mm/memory_peers is not there and RCCL
says `Dmabuf feature disabled`. Ruled out by a loaded module or a host buffer. In NCCL with `[RO]`,
plain `ibv_reg_mr` only ever registers host control buffers.)",
    .fix = R"(Load the module, now and at boot:

    modprobe nvidia-peermem
    echo nvidia-peermem > /etc/modules-load.d/90-pindown-nvidia-peermem.conf
    lsmod | grep nvidia_peermem

nvidia-peermem needs the peer-memory API of MLNX_OFED or DOCA in `ib_core`. With the RDMA drivers of
the kernel itself (inbox) it cannot load; there dma-buf is the way: kernel 5.12 or later, the open
NVIDIA kernel modules of driver 515 or later, rdma-core 34 or later. Which it is:

    grep -c ib_register_peer_memory_client /proc/kallsyms    # 0: inbox, use dma-buf
    modinfo -F license nvidia                                # Dual MIT/GPL: open modules

If modprobe says `Unknown symbol` or `Invalid argument`, the module does not match the RDMA stack:
reinstall the NVIDIA driver after MLNX_OFED or DOCA, or rebuild its modules:

    dkms autoinstall -k $(uname -r)

Kubernetes: the GPU operator loads the module when
`driver.rdma.enabled=true`; it must be loaded on the node, not in the pod. To keep an NCCL job
running meanwhile, slower:

    export NCCL_NET_GDR_LEVEL=LOC)",
    .ignore_when =
        "The job uses dma-buf (`DMA-BUF is available`, ibv_reg_dmabuf_mr succeeds) or keeps its buffers on the host.",
};

constexpr Page kBar1Page = {
    .meaning =
        R"(An adapter reaches GPU memory through a PCI window of the GPU, BAR1. The buffer is larger than what
is left of that window, or the GPU is one that offers none for this: GeForce boards and vGPU
profiles. Small registrations pass, large ones fail, commonly somewhere between 128 and 512 MiB;
host buffers of any size pass.)",
    .why =
        R"(nvidia-peermem and dma-buf both ask the NVIDIA driver to pin the range and to map it into BAR1
(`nvidia_p2p_get_pages`). A range that does not fit is refused; nvidia-peermem's acquire callback
then answers "not mine", and the RDMA core is left with the EFAULT of its own attempt, or with
ENOMEM. The window is shared by all processes on the GPU and the driver keeps some of it. Boards for
data centres have a BAR1 as large as their memory; others start with 256 MiB unless Resizable BAR is
on. NVIDIA documents GPUDirect RDMA for its data-centre and workstation boards and for a subset of
vGPUs.

RLIMIT_MEMLOCK is not involved: its refusal comes before the GPU is asked.)",
    .recognised =
        R"(EFAULT or ENOMEM for memory that may be the GPU's, and `nvidia-smi -q -d MEMORY` shows less BAR1
free than the call asked for, or 256 MiB in all and a request of more than half of it; or the
product is a GeForce or a vGPU profile; or the kernel log has `NVRM: … Out of memory
[NV_ERR_NO_MEMORY]`. Ruled out if what is free exceeds the request on every GPU listed.)",
    .fix = R"(See the window and who uses it:

    nvidia-smi -q -d MEMORY | grep -A3 BAR1

Then one of: turn on Above 4G Decoding and Resizable BAR in the firmware setup and reboot; register
the buffer in smaller pieces and release what is idle; use a GPU with a full-size BAR1; on vGPU
choose a full-size profile that supports GPUDirect. Or keep NCCL's and UCX's buffers on the host:

    export NCCL_NET_GDR_LEVEL=LOC
    export UCX_IB_GPU_DIRECT_RDMA=no)",
    .ignore_when =
        "The job does not register GPU memory, or the registration that failed is far smaller than the BAR1 free.",
};

constexpr Page kVmmPage = {
    .meaning =
        R"(The GPU buffer is one range of addresses but several physical allocations behind it, and the RDMA
stack can only register one at a time. PyTorch builds such ranges with `expandable_segments:True`;
so does code that uses cuMemCreate and cuMemMap itself, or without the gpuDirectRDMACapable flag.
Buffers from plain cudaMalloc register well, which is why an RDMA benchmark on the same node passes
while Mooncake, NIXL or DeepEP fail on tensors.)",
    .why =
        R"(With expandable segments the caching allocator reserves addresses and maps chunks with
cuMemCreate/cuMemMap as it grows (c10/cuda/CUDACachingAllocator.cpp). `nvidia_p2p_get_pages` pins
within one allocation: a tensor that crosses chunks is refused, and nvidia-peermem's refusal
surfaces as EFAULT. A dma-buf likewise stands for one allocation; a range that reaches beyond it is
refused, commonly with EINVAL. A cuMemCreate allocation without gpuDirectRDMACapable is refused
either way. NCCL sets that flag for its own cuMem buffers, so NCCL_CUMEM_ENABLE=1 is a weaker
suspect.)",
    .recognised =
        R"(EFAULT or EINVAL on memory that may be the GPU's, and PYTORCH_CUDA_ALLOC_CONF or PYTORCH_ALLOC_CONF
of the process (or as printed in the log) contains expandable_segments:True, or NCCL_CUMEM_ENABLE=1
with NCCL. A loaded nvidia_peermem strengthens it; an absent one makes PD401 the first thing to fix.)",
    .fix = R"(Take the setting out where it is made; setting it to False is not the same if code sets it again:

    unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF

See that the process is free of it, with its pid in place of PID:

    tr '\0' '\n' < /proc/PID/environ | grep ALLOC_CONF

If expandable segments are needed for fragmentation, allocate what is registered (KV cache, staging
buffers) from a torch.cuda.MemPool over cudaMalloc. For NCCL:

    export NCCL_CUMEM_ENABLE=0)",
    .ignore_when =
        "The buffer that failed is in host memory, or the same tensors register on another node with the same setting.",
};

constexpr Page kDmabufPage = {
    .meaning =
        R"(The library registers GPU memory as a dma-buf, and one part of the chain cannot: the kernel, the
adapter's driver, rdma-core or the GPU driver. NCCL says `DMA-BUF is available on GPU device` when
the GPU side can; the adapter side may still refuse. Nothing is wrong with limits: dma-buf
registrations are not charged to RLIMIT_MEMLOCK.)",
    .why =
        R"(`ibv_reg_dmabuf_mr` exists since rdma-core 34 (IBVERBS_1.12) and kernel 5.12
(drivers/infiniband/core/umem_dmabuf.c; the driver must offer reg_user_mr_dmabuf, and an old one
answers EOPNOTSUPP). The exporter must be able to: NVIDIA's open kernel modules can, the proprietary
ones cannot, and integrated GPUs such as GB10 do not. Where an exporter or importer returns the
kernel's private ENOTSUPP, user space sees `Unknown error 524`; on a single adapter that points at
its driver or firmware.

NCCL asks the adapter with a fake descriptor before it relies on dma-buf and falls back to peer
memory; early versions (2.13) and drivers that answer the question wrongly fail at the first real
buffer instead.)",
    .recognised =
        R"(ibv_reg_dmabuf_mr, or libfabric for GPU memory (`type = 2`), with EOPNOTSUPP, EPROTONOSUPPORT or
`Unknown error 524`; proven if the kernel is
older than 5.12 and neither MLNX_OFED nor an enterprise kernel (both carry backports) is in sight.
EINVAL is only a candidate: it also comes from allocations that span several pieces (PD403).)",
    .fix = R"(Let NCCL use peer memory instead:

    modprobe nvidia-peermem
    export NCCL_DMABUF_ENABLE=0

For UCX:

    export UCX_CUDA_COPY_DMABUF=no

Or complete the chain: open NVIDIA kernel modules, kernel 5.12 or later (or MLNX_OFED/DOCA that
matches), rdma-core 34 or later inside the container too, and a current NCCL.

    modinfo -F license nvidia
    uname -r

`Dual MIT/GPL` are the open modules, `NVIDIA` the proprietary ones. With 524 on one adapter only,
compare driver and firmware with a node that works: `ethtool -i`, `ibv_devinfo`.)",
    .ignore_when =
        "The library falls back by itself and the job runs: NCCL then prints GDRDMA channels without dma-buf.",
};

constexpr Page kRelaxedPage = {
    .meaning =
        R"(The registration carries the relaxed-ordering flag and the adapter, mostly a virtual function in a
cloud VM or one behind an old driver, answers `Invalid argument`. The same buffer registers without
the flag. On a few cloud adapters it is the other way round: only registrations with the flag pass.)",
    .why =
        R"(NCCL 2.12 and later set IBV_ACCESS_RELAXED_ORDERING on data buffers when
NCCL_IB_PCI_RELAXED_ORDERING is 1, or 2 (the default) and libibverbs has `ibv_reg_mr_iova2`
(IBVERBS_1.8, rdma-core 28). The flag is optional: rdma-core drops it if the kernel does not
announce IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS, but a kernel that does passes it on, and the
driver or the hypervisor's side of a virtual function may still refuse it.

NCCL calls ibv_reg_mr_iova2 only with the flag, and prints `[RO]` in its NET/IB line. A log that
shows either, while the variable was set to 0, shows that the variable did not reach that process.)",
    .recognised =
        R"(EINVAL from ibv_reg_mr_iova2 in NCCL or RCCL, or a UCX line whose access flags have bit 20
(0x100000), and nothing explains it better: no fork protection with huge pages (PD604), no
expandable segments (PD403), no libfabric in between. A run that was started again with
the flag off, and worked, is cited. A plain ibv_reg_mr in a run with `[RO]` is a
control buffer without the flag: ruled out.)",
    .fix = R"(Turn it off, and make sure every rank gets it (mpirun: add -x NCCL_IB_PCI_RELAXED_ORDERING):

    export NCCL_IB_PCI_RELAXED_ORDERING=0
    export UCX_IB_PCI_RELAXED_ORDERING=off

The `[RO]` must be gone from NCCL's `NET/IB : Using` line. If registrations fail without the flag
instead, force it:

    export NCCL_IB_PCI_RELAXED_ORDERING=1

Then update the guest's RDMA driver; on cloud VMs use the provider's image and topology file.)",
    .ignore_when =
        "The EINVAL comes with a length of 0, a wrapped address or a freed buffer: that is the caller's (PD608).",
};

constexpr Check kRows[] = {
    {"PD401", "peer-memory-missing", Severity::kError, "no working peer-memory module for this GPU", kPeerMemoryPage,
     gpu::peer_memory_missing},
    {"PD402", "bar1-too-small", Severity::kError, "the GPU's BAR1 window is too small for the buffer", kBar1Page,
     gpu::bar1_too_small},
    {"PD403", "vmm-allocation-not-registrable", Severity::kError,
     "the allocator's GPU ranges cannot be registered whole", kVmmPage, gpu::vmm_not_registrable},
    {"PD404", "dmabuf-unsupported", Severity::kError, "GPU memory cannot be registered as dma-buf here", kDmabufPage,
     gpu::dmabuf_unsupported},
    {"PD405", "relaxed-ordering-rejected", Severity::kError, "the adapter refuses relaxed ordering", kRelaxedPage,
     gpu::relaxed_ordering_rejected},
};
static_assert(all_well_formed(kRows));

}  // namespace

std::span<const Check> gpu_checks() {
  return kRows;
}

}  // namespace pindown
