// SPDX-License-Identifier: Apache-2.0
// PD4xx: what each row says of situations built by hand, guilty and innocent.
#include <cerrno>

#include "situation_fixture.h"

namespace pindown {
namespace {

using namespace testing;
using logs::Kind;
using logs::MemoryType;

constexpr std::uint64_t kMib = 1U << 20;

Outcome ask(const Scene& scene, std::string_view code) {
  return scene.ask(gpu_checks(), code);
}

Scene gpu_fault(int error = EFAULT) {
  Scene scene(Kind::kRegMr, error);
  scene.memory(MemoryType::kGpu);
  return scene;
}

void module(Scene& scene, const std::string& name, bool loaded) {
  scene.facts.modules[name] = Fact<bool>::of(loaded, {"job.log:40", name});
}

Gpu gpu(const std::string& product, std::optional<std::uint64_t> total, std::optional<std::uint64_t> free) {
  Gpu out;
  out.product = known(product);
  if (total) out.bar1_total = known(*total);
  if (free) out.bar1_free = known(*free);
  return out;
}

void nccl(Scene& scene, const std::string& verb, std::optional<bool> relaxed) {
  scene.incident.first.library = "nccl";
  scene.incident.first.verb = verb;
  scene.run.relaxed_ordering = relaxed;
  scene.run.net_ib = true;
}

TEST(GpuChecks, EveryRowIsThere) {
  const auto table = gpu_checks();
  ASSERT_EQ(table.size(), 5U);
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i].code, "PD40" + std::to_string(i + 1));
    EXPECT_NE(table[i].eval, nullptr) << table[i].code;
  }
}

// ---- PD401

TEST(PeerMemory, MissingModule) {
  Scene scene = gpu_fault();
  expect_found(ask(scene, "PD401"), Certainty::kLikely, 60, 60);
  module(scene, "nvidia_peermem", false);
  const Outcome out = ask(scene, "PD401");
  expect_found(out, Certainty::kLikely, 75, 75);
  EXPECT_EQ(out.evidence.back().source, "job.log:40");
  EXPECT_NE(out.remedies.front().commands.front().find("modprobe nvidia-peermem"), std::string::npos);
}

TEST(PeerMemory, WholeLsmodShowsItsAbsence) {
  Scene scene = gpu_fault();
  scene.facts.modules_complete = known(true);
  expect_found(ask(scene, "PD401"), Certainty::kLikely, 75, 75);
  module(scene, "nv_peer_mem", true);
  expect_ruled_out(ask(scene, "PD401"), "nv_peer_mem is loaded (job.log:40)");
}

TEST(PeerMemory, LoadedOrHostBufferRulesItOut) {
  Scene loaded = gpu_fault();
  module(loaded, "nvidia_peermem", true);
  expect_ruled_out(ask(loaded, "PD401"), "nvidia_peermem is loaded");
  Scene host(Kind::kRegMr, EFAULT);
  host.memory(MemoryType::kHost);
  expect_ruled_out(ask(host, "PD401"), "host buffer");
  Scene control(Kind::kRegMr, EFAULT);
  nccl(control, "ibv_reg_mr", true);
  expect_ruled_out(ask(control, "PD401"), "control buffers");
}

TEST(PeerMemory, UnknownBufferIsACandidate) {
  Scene scene(Kind::kRegMr, EFAULT);
  const Outcome out = ask(scene, "PD401");
  expect_candidate(out);
  EXPECT_NE(out.decide.find("lsmod"), std::string::npos);
}

TEST(PeerMemory, UnknownSymbolIsProof) {
  Scene scene = gpu_fault();
  scene.kernel("nv_peer_mem: Unknown symbol ib_register_peer_memory_client (err -2)", Kind::kUnknownSymbol);
  expect_found(ask(scene, "PD401"), Certainty::kProven, 90);
  scene.memory(MemoryType::kHost);
  expect_ruled_out(ask(scene, "PD401"), "host buffer");
  Scene silent(Kind::kRegMr, std::nullopt);
  silent.memory(MemoryType::kGpu)
      .kernel("nv_peer_mem: Unknown symbol ib_register_peer_memory_client", Kind::kUnknownSymbol);
  expect_found(ask(silent, "PD401"), Certainty::kLikely, 90);
}

TEST(PeerMemory, OtherErrnosAndCallsAreNotMeant) {
  for (const int number : {ENOMEM, EINVAL, EPERM}) expect_silent(ask(gpu_fault(number), "PD401"));
  Scene dmabuf(Kind::kRegDmabuf, EFAULT);
  expect_silent(ask(dmabuf, "PD401"));
  Scene queue(Kind::kCreateQueue, EFAULT);
  expect_silent(ask(queue, "PD401"));
  Scene bare(Kind::kRegMr, std::nullopt);
  expect_silent(ask(bare, "PD401"));
}

TEST(PeerMemory, Amd) {
  Scene scene(Kind::kRegMr, EINVAL);
  scene.incident.first.library = "mori";
  const Outcome out = ask(scene, "PD401");
  expect_found(out, Certainty::kLikely, 50);
  EXPECT_NE(out.summary.find("amdgpu"), std::string::npos) << out.summary;
  scene.incident.first.library = "rccl";
  expect_candidate(ask(scene, "PD401"));
}

TEST(PeerMemory, JobThatWentOnIsAWarning) {
  Scene scene = gpu_fault();
  scene.went_on();
  EXPECT_EQ(ask(scene, "PD401").severity, Severity::kWarning);
}

// ---- PD402

TEST(Bar1, AgainstTheRequest) {
  struct Case {
    Gpu card;
    std::optional<std::uint64_t> length;
    Outcome::Kind kind;
  };
  const Case cases[] = {
      {gpu("Tesla T4", 256 * kMib, 42 * kMib), 512 * kMib, Outcome::Kind::kFound},
      {gpu("Tesla T4", 256 * kMib, 42 * kMib), 64 * kMib, Outcome::Kind::kFound},
      {gpu("Tesla T4", 256 * kMib, 200 * kMib), 64 * kMib, Outcome::Kind::kRuledOut},
      {gpu("Tesla T4", 256 * kMib, std::nullopt), 200 * kMib, Outcome::Kind::kFound},
      {gpu("Tesla T4", 256 * kMib, std::nullopt), 4 * kMib, Outcome::Kind::kCandidate},
      {gpu("NVIDIA A100-SXM4-80GB", 131072 * kMib, 131000 * kMib), 512 * kMib, Outcome::Kind::kRuledOut},
      {gpu("NVIDIA A100-SXM4-80GB", 131072 * kMib, 131000 * kMib), std::nullopt, Outcome::Kind::kCandidate},
      {gpu("NVIDIA GeForce RTX 3090", std::nullopt, std::nullopt), 64 * kMib, Outcome::Kind::kFound},
      {gpu("NVIDIA A40-48Q", std::nullopt, std::nullopt), 64 * kMib, Outcome::Kind::kFound},
      {gpu("GRID T4-16C", std::nullopt, std::nullopt), 64 * kMib, Outcome::Kind::kFound},
      {gpu("NVIDIA H100 80GB HBM3", std::nullopt, std::nullopt), 64 * kMib, Outcome::Kind::kCandidate},
  };
  for (const Case& each : cases) {
    Scene scene = gpu_fault();
    scene.incident.first.length = each.length;
    scene.facts.gpus.push_back(each.card);
    const Outcome out = ask(scene, "PD402");
    EXPECT_EQ(out.kind, each.kind) << *each.card.product << ' ' << out.summary << out.why;
    if (out.kind == Outcome::Kind::kFound) {
      expect_found(out, Certainty::kLikely, 70);
    }
  }
}

TEST(Bar1, KernelLine) {
  Scene scene = gpu_fault(ENOMEM);
  scene.unlimited().kernel("NVRM: nvidia_p2p_get_pages: Out of memory [NV_ERR_NO_MEMORY] (0x00000051)", Kind::kNvrm);
  expect_found(ask(scene, "PD402"), Certainty::kLikely, 80);
}

TEST(Bar1, EnomemIsTheLimitsFirst) {
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.incident.first.length = 64 * kMib;
  scene.facts.gpus.push_back(gpu("NVIDIA GeForce RTX 3090", 256 * kMib, 42 * kMib));
  scene.soft(Limit{8 * kMib});
  EXPECT_NE(ask(scene, "PD402").kind, Outcome::Kind::kFound);
  scene.unlimited();
  expect_found(ask(scene, "PD402"), Certainty::kLikely, 70);
}

TEST(Bar1, NotForHostBuffersOrOtherErrnos) {
  Scene host = gpu_fault();
  host.memory(MemoryType::kHost).facts.gpus.push_back(gpu("Tesla T4", 256 * kMib, 1 * kMib));
  host.incident.first.length = 512 * kMib;
  expect_ruled_out(ask(host, "PD402"), "host buffer");
  expect_silent(ask(gpu_fault(EINVAL), "PD402"));
}

// ---- PD403

TEST(Vmm, ExpandableSegments) {
  struct Case {
    const char* value;
    bool found;
  };
  const Case cases[] = {
      {"expandable_segments:True", true},     {"max_split_size_mb:128, expandable_segments: true", true},
      {"expandable_segments:False", false},   {"max_split_size_mb:128", false},
      {"no_expandable_segments:True", false},
  };
  for (const Case& each : cases) {
    for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
      Scene scene = gpu_fault();
      scene.env(name, each.value);
      const Outcome out = ask(scene, "PD403");
      if (each.found) {
        expect_found(out, Certainty::kLikely, 78, 78);
      } else {
        expect_ruled_out(out, "job.log:3");
      }
    }
  }
}

TEST(Vmm, AbsentPeerMemoryComesFirst) {
  Scene scene = gpu_fault();
  scene.env("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
  module(scene, "nvidia_peermem", false);
  EXPECT_LT(ask(scene, "PD403").weight, ask(scene, "PD401").weight);
  module(scene, "nvidia_peermem", true);
  const Outcome out = ask(scene, "PD403");
  expect_found(out, Certainty::kLikely, 78);
  EXPECT_EQ(out.evidence.back().source, "job.log:40");
}

TEST(Vmm, DmabufAndCumem) {
  Scene dmabuf(Kind::kRegDmabuf, EINVAL);
  dmabuf.env("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
  expect_found(ask(dmabuf, "PD403"), Certainty::kLikely, 78);
  Scene cumem = gpu_fault();
  cumem.env("NCCL_CUMEM_ENABLE", "1");
  expect_candidate(ask(cumem, "PD403"));  // not NCCL: its variable says nothing
  nccl(cumem, "ibv_reg_mr_iova2", true);
  expect_found(ask(cumem, "PD403"), Certainty::kLikely, 60, 77);
}

TEST(Vmm, InnocentSituations) {
  expect_candidate(ask(gpu_fault(), "PD403"));
  Scene host = gpu_fault();
  host.memory(MemoryType::kHost).env("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
  expect_ruled_out(ask(host, "PD403"), "host buffer");
  Scene enomem = gpu_fault(ENOMEM);
  enomem.env("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
  expect_silent(ask(enomem, "PD403"));
}

// ---- PD404

TEST(Dmabuf, UnsupportedErrnos) {
  for (const int number : {EOPNOTSUPP, EPROTONOSUPPORT, 524}) {
    Scene scene(Kind::kRegDmabuf, number);
    expect_found(ask(scene, "PD404"), Certainty::kLikely, 85, 85);
  }
  Scene einval(Kind::kRegDmabuf, EINVAL);
  expect_candidate(ask(einval, "PD404"));
  Scene enomem(Kind::kRegDmabuf, ENOMEM);
  expect_silent(ask(enomem, "PD404"));
  Scene plain(Kind::kRegMr, EOPNOTSUPP);
  expect_silent(ask(plain, "PD404"));
  Scene leaked(Kind::kRegMr, 524);
  expect_found(ask(leaked, "PD404"), Certainty::kLikely, 70);
}

TEST(Dmabuf, KernelDecides) {
  struct Case {
    const char* release;
    Certainty certainty;
  };
  const Case cases[] = {
      {"5.10.0-28-amd64", Certainty::kProven},
      {"4.15.0-200-generic", Certainty::kProven},
      {"5.12.0", Certainty::kLikely},
      {"5.4.17-2136.el8uek.x86_64", Certainty::kLikely},  // enterprise kernels carry backports
      {"6.8.0-45-generic", Certainty::kLikely},
      {"garbage", Certainty::kLikely},
  };
  for (const Case& each : cases) {
    Scene scene(Kind::kRegDmabuf, EOPNOTSUPP);
    scene.kernel_release(each.release);
    expect_found(ask(scene, "PD404"), each.certainty, 85);
  }
  Scene ofed(Kind::kRegDmabuf, EOPNOTSUPP);
  ofed.kernel_release("5.10.0-28-amd64").facts.versions["ofed"] = known(std::string("5.8-2.0.3"));
  expect_found(ask(ofed, "PD404"), Certainty::kLikely, 85);
}

TEST(Dmabuf, ProprietaryModulesAreCited) {
  Scene scene(Kind::kRegDmabuf, EOPNOTSUPP);
  scene.facts.nvidia_license = known(std::string("NVIDIA"));
  EXPECT_EQ(ask(scene, "PD404").evidence.size(), 2U);
  scene.facts.nvidia_license = known(std::string("Dual MIT/GPL"));
  EXPECT_EQ(ask(scene, "PD404").evidence.size(), 1U);
}

// ---- PD405

TEST(RelaxedOrdering, NcclIova2) {
  Scene scene(Kind::kRegMr, EINVAL);
  nccl(scene, "ibv_reg_mr_iova2", true);
  Outcome out = ask(scene, "PD405");
  expect_found(out, Certainty::kLikely, 60, 60);
  EXPECT_EQ(out.remedies.front().commands.front(), "export NCCL_IB_PCI_RELAXED_ORDERING=0");
  scene.env("NCCL_IB_PCI_RELAXED_ORDERING", "0");
  out = ask(scene, "PD405");
  EXPECT_NE(out.summary.find("did not reach"), std::string::npos) << out.summary;
  EXPECT_EQ(out.evidence.back().source, "job.log:3");
}

TEST(RelaxedOrdering, BetterExplanationsComeFirst) {
  Scene scene(Kind::kRegMr, EINVAL);
  nccl(scene, "ibv_reg_mr_iova2", true);
  scene.env("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
  expect_candidate(ask(scene, "PD405"));
  Scene fork(Kind::kRegMr, EINVAL);
  nccl(fork, "ibv_reg_mr_iova2", true);
  fork.env("RDMAV_FORK_SAFE", "1");
  expect_candidate(ask(fork, "PD405"));
}

TEST(RelaxedOrdering, ControlBuffersAndPlainCalls) {
  Scene control(Kind::kRegMr, EINVAL);
  nccl(control, "ibv_reg_mr", true);
  expect_ruled_out(ask(control, "PD405"), "without relaxed ordering");
  Scene off(Kind::kRegMr, EINVAL);
  nccl(off, "ibv_reg_mr", false);
  const Outcome out = ask(off, "PD405");
  expect_candidate(out);
  EXPECT_NE(out.decide.find("=1"), std::string::npos) << out.decide;
}

TEST(RelaxedOrdering, UcxPrintsItsFlags) {
  Scene scene(Kind::kRegMr, EINVAL);
  scene.incident.first.raw =
      "ibv_reg_mr(address=0x7f0000000000, length=4096, access=0x10000f) failed: Invalid argument";
  const Outcome out = ask(scene, "PD405");
  expect_found(out, Certainty::kLikely, 60);
  EXPECT_EQ(out.remedies.front().commands.front(), "export UCX_IB_PCI_RELAXED_ORDERING=off");
  scene.incident.first.raw = "ibv_reg_mr(address=0x7f0000000000, length=4096, access=0xf) failed: Invalid argument";
  expect_candidate(ask(scene, "PD405"));
}

TEST(RelaxedOrdering, NotMeant) {
  expect_silent(ask(gpu_fault(), "PD405"));
  Scene ofi(Kind::kRegMr, EINVAL);
  ofi.incident.first.library = "aws-ofi-nccl";
  expect_silent(ask(ofi, "PD405"));
}

}  // namespace
}  // namespace pindown
