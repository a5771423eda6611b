// SPDX-License-Identifier: Apache-2.0
// Which limit a service gets: its unit, the manager's default, systemd's and the kernel's.
#include "model/service_limit.h"

#include <gtest/gtest.h>

namespace pindown {
namespace {

Fact<MemlockLimit> known(std::uint64_t bytes, std::string path) {
  return Fact<MemlockLimit>::of({Limit{bytes}, Limit{bytes}}, {std::move(path), "x", {}});
}

Fact<MemlockLimit> missing(Missing why) {
  return Fact<MemlockLimit>::none(why, "place");
}

UnitFile unit(Fact<MemlockLimit> memlock) {
  UnitFile out;
  out.name = "a.service";
  out.fragment = Fact<std::string>::of("/usr/lib/systemd/system/a.service", {});
  out.memlock = std::move(memlock);
  return out;
}

constexpr std::uint64_t kUnknown = 1;
constexpr std::uint64_t kMib = 1U << 20;

TEST(ServiceLimit, Defaults) {
  struct Case {
    const char *systemd, *kernel;
    std::uint64_t bytes;
  };
  for (const Case& c : std::initializer_list<Case>{{"252.39-1~deb12u1", "6.1.0-32-amd64", 8 * kMib},   // Debian 12
                                                   {"257.8-1~deb13u1", "6.12.41", 8 * kMib},           // Debian 13
                                                   {"252-55.el9", "5.14.0-427.el9.x86_64", 8 * kMib},  // RHEL 9
                                                   {"239-82.el8", "4.18.0-553.el8", 64 * 1024},        // RHEL 8
                                                   {"247.3-7+deb11u5", "5.10.0-30-amd64", 64 * 1024},  // Debian 11
                                                   {"249.11-0ubuntu3.12", "5.15.0-1", 64 * 1024},      // Ubuntu 22.04
                                                   {"250.4", "5.15.99", 64 * 1024},
                                                   {"250.4", "5.16.0", 8 * kMib},
                                                   {"251~rc1", "5.4.0", 8 * kMib},
                                                   {"systemd 255 (255.4-1ubuntu8)", "", 8 * kMib},
                                                   {"245.4-4ubuntu3.24", "5.4.0", kUnknown},
                                                   {"250", "", kUnknown},
                                                   {"", "6.1.0", kUnknown},
                                                   {"99999999999999999999999", "6.1.0", kUnknown}}) {
    const ServiceLimit out = derive_service_limit(unit(missing(Missing::kAbsent)),
                                                  {.default_memlock = missing(Missing::kAbsent)}, c.systemd, c.kernel);
    EXPECT_EQ(out.soft ? out.soft->bytes : kUnknown, c.bytes) << c.systemd;
    EXPECT_EQ(out.hard, out.soft);
    EXPECT_FALSE(out.why.empty());
    EXPECT_EQ(out.decided_by.path, "/usr/lib/systemd/system/a.service");
    EXPECT_TRUE(out.decided_by.text.empty());
  }
}

TEST(ServiceLimit, UnitThenManager) {
  const ManagerConf manager = {.default_memlock = known(1, "system.conf:2")};
  EXPECT_EQ(derive_service_limit(unit(known(2, "u:1")), manager, "252", "6.1").decided_by.path, "u:1");
  const ServiceLimit by_default = derive_service_limit(unit(missing(Missing::kAbsent)), manager, "252", "6.1");
  EXPECT_EQ(by_default.soft->bytes, 1U);  // below 8 MiB: taken as it is
  EXPECT_EQ(by_default.decided_by.path, "system.conf:2");
}

TEST(ServiceLimit, UnknownIsNoDefault) {
  const ManagerConf none = {.default_memlock = missing(Missing::kAbsent)};
  const ManagerConf denied = {.default_memlock = missing(Missing::kDenied)};
  UnitFile absent = unit(missing(Missing::kAbsent));
  absent.fragment = Fact<std::string>::none(Missing::kAbsent, "a.service");
  UnitFile masked = unit(known(2, "u:1"));
  masked.masked = true;
  UnitFile broken = unit(known(2, "u:1"));
  broken.refuses = Source{"u:7", "[x", {}};
  UnitFile user = unit(missing(Missing::kAbsent));
  user.user_manager = true;
  const std::vector<ServiceLimit> all = {derive_service_limit(unit(missing(Missing::kDenied)), none, "252", "6.1"),
                                         derive_service_limit(unit(missing(Missing::kAbsent)), denied, "252", "6.1"),
                                         derive_service_limit(absent, none, "252", "6.1"),
                                         derive_service_limit(masked, none, "252", "6.1"),
                                         derive_service_limit(broken, none, "252", "6.1"),
                                         derive_service_limit(user, none, "252", "6.1"),
                                         derive_service_limit(unit(missing(Missing::kNotAsked)), none, "252", "6.1")};
  for (const ServiceLimit& out : all) {
    EXPECT_FALSE(out.soft) << out.why;
    EXPECT_FALSE(out.hard) << out.why;
    EXPECT_FALSE(out.why.empty());
  }
  EXPECT_EQ(all[4].decided_by.path, "u:7");
}

}  // namespace
}  // namespace pindown
