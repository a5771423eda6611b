// SPDX-License-Identifier: Apache-2.0
// PD7xx, and the rows of PD8xx and PD9xx: look-alikes are named as what they are, and only they.
#include <errno.h>

#include "situation_fixture.h"

namespace pindown {
namespace {

using namespace testing;
using logs::Kind;

Outcome ask(const Scene& scene, std::string_view code, SubjectKind kind = SubjectKind::kIncident) {
  return scene.ask(other_checks(), code, kind);
}

TEST(OtherChecks, EveryRowIsThere) {
  const auto table = other_checks();
  ASSERT_EQ(table.size(), 11U);
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i].code, "PD7" + std::string(i < 9 ? "0" : "") + std::to_string(i + 1));
    EXPECT_NE(table[i].eval, nullptr) << table[i].code;
  }
  EXPECT_EQ(fleet_checks().size(), 3U);
  EXPECT_EQ(self_checks().size(), 5U);
  EXPECT_EQ(fleet_checks().front().code, "PD801");
  EXPECT_EQ(self_checks().back().code, "PD905");
}

TEST(OtherChecks, ARegistrationThatStoppedTheJobIsNoneOfThem) {
  Scene scene(Kind::kRegMr, ENOMEM);
  for (const Check& row : other_checks()) expect_silent(ask(scene, row.code));
}

TEST(Fallback, WeightDependsOnWhatFailed) {
  struct Row {
    Kind kind;
    std::string library;
    int weight;
  };
  for (const Row& row : {Row{Kind::kCreateQueue, "ucx", 96},
                         {Kind::kOpenDevice, "nccl", 50},
                         {Kind::kRegMr, "nccl", 60},
                         {Kind::kMemlockWarning, "intel-mpi", 50}}) {
    Scene scene(row.kind, ENOMEM);
    scene.incident.first.library = row.library;
    expect_silent(ask(scene, "PD701"));
    scene.went_on();
    const Outcome out = ask(scene, "PD701");
    expect_found(out, Certainty::kLikely, row.weight, row.weight);
    EXPECT_EQ(out.severity, Severity::kWarning);
    EXPECT_EQ(out.evidence.size(), 2U);
  }
  Scene mtt(Kind::kRegisterableLow);
  mtt.went_on();
  expect_silent(ask(mtt, "PD701"));
}

TEST(ModifyQp, ErrnoTellsReachFromAttributes) {
  for (const int error : {ENODEV, ENETUNREACH, EHOSTUNREACH, ETIMEDOUT}) {
    expect_found(ask(Scene(Kind::kModifyQp, error), "PD702"), Certainty::kLikely, 95);
    expect_silent(ask(Scene(Kind::kModifyQp, error), "PD703"));
  }
  expect_found(ask(Scene(Kind::kModifyQp, EINVAL), "PD703"), Certainty::kLikely, 95);
  expect_silent(ask(Scene(Kind::kModifyQp, EINVAL), "PD702"));
  expect_candidate(ask(Scene(Kind::kModifyQp), "PD703"));
  expect_silent(ask(Scene(Kind::kCreateQueue, ENODEV), "PD702"));
}

TEST(Completion, StatusIsNamed) {
  struct Row {
    std::string detail, raw, words;
  };
  for (const Row& row : {Row{"12", "", "retries exceeded"},
                         {"", "NET/IB : Got completion from peer with status=10 opcode=2 len=0", "remote access"},
                         {"", "Got completion with error 4, opcode 0", "local protection"},
                         {"", "Transport retry count exceeded on mlx5_0:1/RoCE", "status 12"},
                         {"", "something else", "a transfer completed with an error"}}) {
    Scene scene(Kind::kCompletion);
    scene.incident.first.detail = row.detail;
    scene.incident.first.raw = row.raw;
    const Outcome out = ask(scene, "PD704");
    expect_found(out, Certainty::kLikely, 95);
    EXPECT_NE(out.summary.find(row.words), std::string::npos) << out.summary;
  }
}

TEST(OtherFailure, NamesWhatCameFirst) {
  for (const Kind kind : {Kind::kCudaOom, Kind::kCudaError, Kind::kHostOom, Kind::kKilled, Kind::kPythonException,
                          Kind::kXid, Kind::kSigbus}) {
    const Outcome out = ask(Scene(kind), "PD705");
    ASSERT_EQ(out.kind, Outcome::Kind::kFound);
    EXPECT_GE(out.certainty, Certainty::kLikely);
    EXPECT_EQ(out.weight, 95);
  }
  Scene scene(Kind::kCudaOom);
  scene.echo(Kind::kConnection);
  EXPECT_NE(ask(scene, "PD705").summary.find("consequence"), std::string::npos);
  expect_candidate(ask(Scene(Kind::kConnection), "PD705"));
  expect_silent(ask(Scene(Kind::kLibraryError), "PD705"));
  expect_silent(ask(Scene(Kind::kOpenDevice), "PD705"));
}

TEST(Crash, EchoOfARegistrationOrReasonToLookBack) {
  Scene bare(Kind::kRegMr, EFAULT);
  bare.echo(Kind::kSegfault);
  expect_found(ask(bare, "PD706"), Certainty::kLikely, 30, 49);  // whatever explains the failure outranks it
  EXPECT_EQ(ask(bare, "PD706").severity, Severity::kError);
  Scene release(Kind::kSegfault);
  release.incident.first.raw = "#0 0x7f in ibv_dereg_mr (mr=0x0)";
  expect_found(ask(release, "PD706"), Certainty::kLikely, 60);
  Scene scene(Kind::kRegMr, ENOMEM);
  scene.soft(Limit{65536}).echo(Kind::kSegfault);
  const Outcome note = ask(scene, "PD706");
  expect_found(note, Certainty::kPossible, 0, 29);
  EXPECT_EQ(note.severity, Severity::kNote);
  expect_candidate(ask(Scene(Kind::kSegfault), "PD706"));
  Scene python(Kind::kPythonException);
  python.echo(Kind::kSegfault);
  expect_silent(ask(python, "PD706"));
}

TEST(OtherLockedMemory, SaysWhoseAccountItIs) {
  Scene scene(Kind::kIoUring, ENOMEM);
  scene.soft(Limit{65536});
  const Outcome out = ask(scene, "PD707");
  expect_found(out, Certainty::kLikely, 90);
  EXPECT_NE(out.summary.find("one user"), std::string::npos) << out.summary;
  EXPECT_NE(out.summary.find("64 KiB"), std::string::npos) << out.summary;
  expect_found(ask(Scene(Kind::kOtherMlock, ENOMEM), "PD707"), Certainty::kLikely, 90);
  scene.went_on();
  EXPECT_EQ(ask(scene, "PD707").severity, Severity::kWarning);
}

TEST(Mention, OnlyLinesThatNameARegistration) {
  Scene scene(Kind::kMention);
  scene.incident.first.verb.clear();
  scene.incident.first.raw = "NCCL WARN something about a topology";
  expect_silent(ask(scene, "PD708"));
  scene.incident.first.raw = "ibv_reg_mr handle 0x55 mr 0x66";
  EXPECT_EQ(ask(scene, "PD708").severity, Severity::kNote);
}

TEST(Mention, AmongTheNotesOfAQuietRun) {
  logs::RunContext run;
  logs::Event event;
  event.kind = Kind::kMention;
  event.verb = "ibv_reg_mr_iova2";
  Facts facts;
  Situation s;
  s.facts = &facts;
  s.run = &run;
  expect_silent(Scene::ask(other_checks(), "PD708", s));
  run.notes.push_back(event);
  expect_found(Scene::ask(other_checks(), "PD708", s), Certainty::kPossible, 0);
}

TEST(OtherLimits, SharedMemoryAndFiles) {
  Scene shm(Kind::kShm);
  shm.incident.first.length = 33030528;
  expect_found(ask(shm, "PD709"), Certainty::kProven, 95);
  EXPECT_NE(ask(shm, "PD709").summary.find("31.5 MiB"), std::string::npos) << ask(shm, "PD709").summary;
  expect_found(ask(Scene(Kind::kTooManyFiles, EMFILE), "PD710"), Certainty::kProven, 95);
  expect_silent(ask(shm, "PD710"));
}

TEST(NotExercised, SocketsAreANoteUnlessRdmaWasWanted) {
  logs::RunContext run;
  Facts facts;
  Situation s;
  s.facts = &facts;
  expect_silent(Scene::ask(other_checks(), "PD711", s));
  s.run = &run;
  run.socket_transport = true;
  expect_silent(Scene::ask(other_checks(), "PD711", s));
  run.init_complete = true;
  EXPECT_EQ(Scene::ask(other_checks(), "PD711", s).severity, Severity::kNote);
  facts.rdma_present = known(true);
  EXPECT_EQ(Scene::ask(other_checks(), "PD711", s).severity, Severity::kWarning);
  facts.env["NCCL_IB_DISABLE"] = known<std::string>("1");
  EXPECT_EQ(Scene::ask(other_checks(), "PD711", s).severity, Severity::kNote);
  run.net_ib = true;
  expect_ruled_out(Scene::ask(other_checks(), "PD711", s), "NET/IB");
}

}  // namespace
}  // namespace pindown
