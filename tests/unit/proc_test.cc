// SPDX-License-Identifier: Apache-2.0
// Parsers of /proc text: tables of text → struct. Pure; nothing is read from the build machine.
#include "facts/proc.h"

#include <gtest/gtest.h>

namespace pindown {
namespace {

constexpr std::string_view kLimits =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max cpu time              unlimited            unlimited            seconds   \n"
    "Max locked memory         65536                unlimited            bytes     \n"
    "Max address space         unlimited            unlimited            bytes     \n";

struct LimitsCase {
  std::string_view text;
  bool ok;
  std::uint64_t soft, hard;
};

TEST(Proc, Limits) {
  constexpr auto kInf = Limit::kInfinity;
  const LimitsCase cases[] = {
      {kLimits, true, 65536, kInf},
      {"Max locked memory         8388608              8388608              bytes     ", true, 8388608, 8388608},
      {"  Max locked memory 8388608 8388608 bytes\r\n", true, 8388608, 8388608},
      {"Max locked memory\t0\t0\tbytes", true, 0, 0},
      {"Max locked memory unlimited unlimited bytes", true, kInf, kInf},
      {"Max locked memory 1 18446744073709551615 bytes", true, 1, kInf},
      {"Max locked memory 8388608 8388608", true, 8388608, 8388608},
      {"", false, 0, 0},
      {"Max locked memory", false, 0, 0},
      {"Max locked memory 8388608", false, 0, 0},
      {"Max locked memory 8388608 bytes", false, 0, 0},
      {"Max locked memory -1 -1 bytes", false, 0, 0},
      {"Max locked memory 18446744073709551616 1 bytes", false, 0, 0},
      {"Max locked memory 1 2 kbytes", false, 0, 0},
      {"Max locked memory 1 2 bytes more", false, 0, 0},
      {"Max file locks            unlimited            unlimited            locks", false, 0, 0},
  };
  for (const auto& c : cases) {
    const auto limit = parse_limits(c.text);
    ASSERT_EQ(limit.has_value(), c.ok) << c.text;
    if (!c.ok) continue;
    EXPECT_EQ(limit->soft->bytes, c.soft) << c.text;
    EXPECT_EQ(limit->hard->bytes, c.hard) << c.text;
  }
}

TEST(Proc, Status) {
  const auto s = parse_status(
      "Name:\tpython3\nUmask:\t0022\nState:\tS (sleeping)\nPid:\t4242\nPPid:\t4101\nUid:\t1000\t1001\t1000\t1000\n"
      "VmPeak:\t  123 kB\nVmLck:\t    4096 kB\nVmPin:\t    5248 "
      "kB\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000001\n"
      "CapEff:\t0000000000004000\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000002\nNoNewPrivs:\t1\nSeccomp:\t2\n");
  EXPECT_EQ(s.name, "python3");
  EXPECT_EQ(s.ppid, 4101);
  EXPECT_EQ(s.ruid, 1000U);
  EXPECT_EQ(s.euid, 1001U);
  EXPECT_EQ(s.vm_pin, 5248U * 1024);
  EXPECT_EQ(s.vm_lck, 4096U * 1024);
  EXPECT_EQ(s.no_new_privs, true);
  EXPECT_EQ(s.caps.permitted, 1U);
  EXPECT_EQ(s.caps.effective, 0x4000U);
  EXPECT_EQ(s.caps.bounding, 0x1ffffffffffU);
  EXPECT_EQ(s.caps.ambient, 2U);
  EXPECT_EQ(s.caps.inheritable, 0U);
  EXPECT_TRUE(has_cap(*s.caps.effective, kCapIpcLock));
}

TEST(Proc, StatusKeepsNothingItCannotRead) {
  const auto s = parse_status(
      "VmPin:\t5248 MB\nVmLck:\t99999999999999999999 kB\nUid:\t0\nPPid:\tx\nCapEff:\tzz\nCapBnd:\t11112222333344445\n"
      "NoNewPrivs:\t2\nCapEff\nno colon\n:\n");
  EXPECT_FALSE(s.vm_pin || s.vm_lck || s.ruid || s.euid || s.ppid || s.no_new_privs);
  EXPECT_FALSE(s.caps.effective || s.caps.bounding);
  EXPECT_FALSE(parse_status("VmPin:\t18014398509481984 kB").vm_pin);                // 2^54 KiB is 2^64 bytes
  EXPECT_EQ(parse_status("CapEff: 00000000a80425fb").caps.effective, 0xa80425fbU);  // pasted with a blank
}

TEST(Proc, Stat) {
  const std::string tail = " S 4101 1 2 3 4 4194304 6 7 8 9 10 11 12 13 20 0 1 0 987654 19 20\n";
  const auto plain = parse_stat("4242 (python3)" + tail);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->comm, "python3");
  EXPECT_EQ(plain->ppid, 4101);
  EXPECT_EQ(plain->start_ticks, 987654U);
  EXPECT_EQ(parse_stat("1 (a) b (c)" + tail)->comm, "a) b (c");
  EXPECT_EQ(parse_stat("1 ()" + tail)->comm, "");
  EXPECT_EQ(parse_stat("1 (a\n) S 1)" + tail)->ppid, 4101);
  for (const char* bad :
       {"", "4242", "4242 (python3", ")(", "4242 (a) S", "1 (a) S x 1 2 3 4 5 6 7 8 9 10 11 12 13 20 0 1 0 9"}) {
    EXPECT_FALSE(parse_stat(bad)) << bad;
  }
}

TEST(Proc, Meminfo) {
  const auto m =
      parse_meminfo("MemTotal:       2048 kB\nHugePages_Total:       7\nCmaFree:  1 MB\nbroken\n: 3\nMemTotal: 1 kB\n",
                    "/proc/meminfo");
  ASSERT_EQ(m.bytes.size(), 2U);
  EXPECT_EQ(m.bytes.at("MemTotal"), 2048U * 1024);
  EXPECT_EQ(m.bytes.at("HugePages_Total"), 7U);
  EXPECT_EQ(m.source.at("MemTotal").text, "MemTotal:       2048 kB");
  EXPECT_EQ(m.source.at("MemTotal").path, "/proc/meminfo");
  std::string flood;
  for (int i = 0; i < 100000; ++i) flood += "Key" + std::to_string(i) + ": 1 kB\n";
  EXPECT_LE(parse_meminfo(flood, "x").bytes.size(), 512U);
}

struct UidMapCase {
  const char* text;
  std::optional<bool> initial;
};

TEST(Proc, UidMap) {
  const UidMapCase cases[] = {
      {"         0          0 4294967295\n", true},
      {"0 0 4294967295", true},
      {"         0       1000          1\n", false},
      {"0 0 1\n1 1 4294967294\n", false},
      {"0 0 4294967295\n1 1 1\n", false},
      {"0 100000 65536\n", false},
      {"", std::nullopt},
      {"0 0\n", std::nullopt},
      {"0 0 4294967296\n", std::nullopt},
      {"hello there you\n", std::nullopt},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_uid_map_is_initial(c.text), c.initial) << c.text;
}

TEST(Proc, UsernsLink) {
  EXPECT_EQ(is_initial_userns_link("user:[4026531837]"), true);
  EXPECT_EQ(is_initial_userns_link("user:[4026532444]\n"), false);
  for (const char* bad : {"", "user:[]", "user:4026531837", "pid:[4026531837]", "user:[4026531837", "user:[-1]"}) {
    EXPECT_EQ(is_initial_userns_link(bad), std::nullopt) << bad;
  }
}

TEST(Proc, KeptVariables) {
  for (const char* name :
       {"NCCL_DEBUG", "RCCL_X", "UCX_TLS", "FI_PROVIDER", "RDMAV_FORK_SAFE", "IBV_FORK_SAFE", "MLX5_X",
        "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "OMPI_MCA_btl"}) {
    EXPECT_TRUE(is_kept_variable(name)) << name;
  }
  for (const char* name :
       {"", "AWS_SECRET_ACCESS_KEY", "nccl_debug", "MY_NCCL_DEBUG", "PYTORCH_TOKEN", "WIFI_KEY", "OMPI_X"}) {
    EXPECT_FALSE(is_kept_variable(name)) << name;
  }
}

TEST(Proc, Environ) {
  using namespace std::string_literals;
  const auto kept =
      parse_environ("HOME=/root\0NCCL_DEBUG=INFO\0TOKEN=s3cret\0UCX_TLS\0FI_X=\0\0UCX_A=b=c\nd\0RDMAV_FORK_SAFE=1"s);
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_EQ(kept[0], (std::pair<std::string, std::string>("NCCL_DEBUG", "INFO")));
  EXPECT_EQ(kept[1].second, "");
  EXPECT_EQ(kept[2].second, "b=c\nd");
  EXPECT_EQ(kept[3].first, "RDMAV_FORK_SAFE");  // the last one has no NUL when the process overwrote it
  EXPECT_EQ(parse_environ("NCCL_X=" + std::string(1000, 'v'))[0].second.size(), 256U);
  std::string flood;
  for (int i = 0; i < 5000; ++i) flood += "NCCL_" + std::to_string(i) + "=1" + '\0';
  EXPECT_LE(parse_environ(flood).size(), 512U);
}

struct MapsCase {
  const char* text;
  std::uint64_t count;
  const char* nccl;
};

TEST(Proc, Maps) {
  const MapsCase cases[] = {
      {"", 0, ""},
      {"7f00-7f01 r-xp 00000000 08:01 12  /usr/lib/libc.so.6\n", 1, ""},
      {"7f00-7f01 r-xp 00000000 08:01 12  /opt/x/libnccl.so.2\n7f02-7f03 rw-p 00000000 00:00 0\n", 2,
       "/opt/x/libnccl.so.2"},
      {"a r 0 08:01 12 /x/libnccl.so.2.28 (deleted)\n", 1, "/x/libnccl.so.2.28"},
      {"a r 0 08:01 12 /x/librccl.so.1\na r 0 08:01 12 /x/libnccl.so.2", 2, "/x/librccl.so.1"},
      {"a r 0 08:01 12 /x/libnccl.so.2\na r 0 08:01 12 /x/librccl.so.1", 2, "/x/libnccl.so.2"},
      {"a r 0 08:01 12 /x/libnccl-net.so\n", 1, "/x/libnccl-net.so"},
      {"a r 0 08:01 12 /opt/libnccl.so.d/other.so\n", 1, ""},
      {"a r 0 08:01 12 /opt/libnccl/my dir/libnccl.so.2\n", 1, "/opt/libnccl/my dir/libnccl.so.2"},
      {"a r 0 08:01 12 /x/mylibnccl.so\na r 0 08:01 12 /x/libncclfake.so\n", 2, ""},
      {"libnccl.so.2\n", 1, ""},
  };
  for (const auto& c : cases) {
    const auto fields = parse_maps(c.text);
    EXPECT_EQ(fields.count, c.count) << c.text;
    EXPECT_EQ(fields.nccl_path, c.nccl) << c.text;
  }
}

// One search a line: a line of a million tries must not cost a million passes over it.
TEST(Proc, MapsOfOneHugeLine) {
  std::string text = "a r 0 08:01 12 /";
  for (int i = 0; i < 2000000; ++i) text += "libnccl";
  text += "/x";
  EXPECT_EQ(parse_maps(text).nccl_path, "");
}

}  // namespace
}  // namespace pindown
