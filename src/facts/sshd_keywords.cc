// SPDX-License-Identifier: Apache-2.0
// See sshd_keywords.h. The table is servconf.c's `keywords` of OpenSSH 9.2 with Debian's patches, and what came until
// 10.2 (servconf.h SSHD_CONFIG_ENTRIES). Options that some builds leave out (Kerberos, GSSAPI) take anything there, so
// their arguments are not judged; "Subsystem" may stand in a Match block since 9.5.
#include "facts/sshd_keywords.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/text.h"

namespace pindown {
namespace {

constexpr bool kGlobal = true;
constexpr bool kAnywhere = false;

// Sorted by name.
constexpr auto kKeywords = std::to_array<SshdKeyword>({
    {"acceptenv", SshdKind::kAny, kAnywhere, {}},
    {"addressfamily", SshdKind::kChoice, kGlobal, "inet inet6 any"},
    {"afstokenpassing", SshdKind::kAny, kGlobal, {}},
    {"allowagentforwarding", SshdKind::kChoice, kAnywhere, "yes no"},
    {"allowgroups", SshdKind::kWords, kAnywhere, {}},
    {"allowstreamlocalforwarding", SshdKind::kChoice, kAnywhere, "yes all no remote local"},
    {"allowtcpforwarding", SshdKind::kChoice, kAnywhere, "yes all no remote local"},
    {"allowusers", SshdKind::kAny, kAnywhere, {}},
    {"authenticationmethods", SshdKind::kAny, kAnywhere, {}},
    {"authorizedkeyscommand", SshdKind::kAny, kAnywhere, {}},
    {"authorizedkeyscommanduser", SshdKind::kWord, kAnywhere, {}},
    {"authorizedkeysfile", SshdKind::kWords, kAnywhere, {}},
    {"authorizedkeysfile2", SshdKind::kAny, kAnywhere, {}},
    {"authorizedprincipalscommand", SshdKind::kAny, kAnywhere, {}},
    {"authorizedprincipalscommanduser", SshdKind::kWord, kAnywhere, {}},
    {"authorizedprincipalsfile", SshdKind::kWord, kAnywhere, {}},
    {"banner", SshdKind::kWord, kAnywhere, {}},
    {"casignaturealgorithms", SshdKind::kAny, kAnywhere, {}},
    {"challengeresponseauthentication", SshdKind::kChoice, kAnywhere, "yes no"},
    {"channeltimeout", SshdKind::kAny, kAnywhere, {}},
    {"checkmail", SshdKind::kAny, kGlobal, {}},
    {"chrootdirectory", SshdKind::kWord, kAnywhere, {}},
    {"ciphers", SshdKind::kAny, kGlobal, {}},
    {"clientalivecountmax", SshdKind::kNumber, kAnywhere, {}},
    {"clientaliveinterval", SshdKind::kTime, kAnywhere, {}},
    {"compression", SshdKind::kChoice, kGlobal, "yes delayed no"},
    {"debianbanner", SshdKind::kChoice, kGlobal, "yes no"},
    {"denygroups", SshdKind::kWords, kAnywhere, {}},
    {"denyusers", SshdKind::kAny, kAnywhere, {}},
    {"disableforwarding", SshdKind::kChoice, kAnywhere, "yes no"},
    {"dsaauthentication", SshdKind::kChoice, kGlobal, "yes no"},
    {"exposeauthinfo", SshdKind::kChoice, kAnywhere, "yes no"},
    {"fingerprinthash", SshdKind::kAny, kGlobal, {}},
    {"forcecommand", SshdKind::kAny, kAnywhere, {}},
    {"gatewayports", SshdKind::kChoice, kAnywhere, "clientspecified yes no"},
    {"gssapiauthentication", SshdKind::kAny, kAnywhere, {}},
    {"gssapicleanupcredentials", SshdKind::kAny, kGlobal, {}},
    {"gssapicleanupcreds", SshdKind::kAny, kGlobal, {}},
    {"gssapidelegatecredentials", SshdKind::kAny, kGlobal, {}},
    {"gssapienablek5users", SshdKind::kAny, kAnywhere, {}},
    {"gssapikexalgorithms", SshdKind::kAny, kGlobal, {}},
    {"gssapikeyexchange", SshdKind::kAny, kGlobal, {}},
    {"gssapistorecredentialsonrekey", SshdKind::kAny, kGlobal, {}},
    {"gssapistrictacceptorcheck", SshdKind::kAny, kGlobal, {}},
    {"gssapiusesessioncredcache", SshdKind::kAny, kGlobal, {}},
    {"gssusesessionccache", SshdKind::kAny, kGlobal, {}},
    {"hostbasedacceptedalgorithms", SshdKind::kAny, kAnywhere, {}},
    {"hostbasedacceptedkeytypes", SshdKind::kAny, kAnywhere, {}},
    {"hostbasedauthentication", SshdKind::kChoice, kAnywhere, "yes no"},
    {"hostbasedusesnamefrompacketonly", SshdKind::kChoice, kAnywhere, "yes no"},
    {"hostcertificate", SshdKind::kWord, kGlobal, {}},
    {"hostdsakey", SshdKind::kWord, kGlobal, {}},
    {"hostkey", SshdKind::kWord, kGlobal, {}},
    {"hostkeyagent", SshdKind::kWord, kGlobal, {}},
    {"hostkeyalgorithms", SshdKind::kAny, kGlobal, {}},
    {"ignorerhosts", SshdKind::kChoice, kAnywhere, "yes no shosts-only"},
    {"ignoreuserknownhosts", SshdKind::kChoice, kGlobal, "yes no"},
    {"include", SshdKind::kInclude, kAnywhere, {}},
    {"ipqos", SshdKind::kAny, kAnywhere, {}},
    {"kbdinteractiveauthentication", SshdKind::kChoice, kAnywhere, "yes no"},
    {"keepalive", SshdKind::kChoice, kGlobal, "yes no"},
    {"kerberosauthentication", SshdKind::kAny, kAnywhere, {}},
    {"kerberosgetafstoken", SshdKind::kAny, kGlobal, {}},
    {"kerberosorlocalpasswd", SshdKind::kAny, kGlobal, {}},
    {"kerberostgtpassing", SshdKind::kAny, kGlobal, {}},
    {"kerberosticketcleanup", SshdKind::kAny, kGlobal, {}},
    {"kerberosuniqueccache", SshdKind::kAny, kAnywhere, {}},
    {"kerberosusekuserok", SshdKind::kAny, kAnywhere, {}},
    {"kexalgorithms", SshdKind::kAny, kGlobal, {}},
    {"keyregenerationinterval", SshdKind::kAny, kGlobal, {}},
    {"listenaddress", SshdKind::kAny, kGlobal, {}},
    {"logingracetime", SshdKind::kTime, kGlobal, {}},
    {"loglevel", SshdKind::kChoice, kAnywhere, "silent quiet fatal error info verbose debug debug1 debug2 debug3"},
    {"logverbose", SshdKind::kAny, kAnywhere, {}},
    {"macs", SshdKind::kAny, kGlobal, {}},
    {"match", SshdKind::kMatch, kAnywhere, {}},
    {"maxauthtries", SshdKind::kNumber, kAnywhere, {}},
    {"maxsessions", SshdKind::kNumber, kAnywhere, {}},
    {"maxstartups", SshdKind::kAny, kGlobal, {}},
    {"modulifile", SshdKind::kWord, kGlobal, {}},
    {"pamauthenticationviakbdint", SshdKind::kAny, kGlobal, {}},
    {"pamservicename", SshdKind::kPamService, kAnywhere, {}},
    {"passwordauthentication", SshdKind::kChoice, kAnywhere, "yes no"},
    {"permitblacklistedkeys", SshdKind::kAny, kGlobal, {}},
    {"permitemptypasswords", SshdKind::kChoice, kAnywhere, "yes no"},
    {"permitlisten", SshdKind::kAny, kAnywhere, {}},
    {"permitopen", SshdKind::kAny, kAnywhere, {}},
    {"permitrootlogin", SshdKind::kChoice, kAnywhere, "without-password prohibit-password forced-commands-only yes no"},
    {"permittty", SshdKind::kChoice, kAnywhere, "yes no"},
    {"permittunnel", SshdKind::kAny, kAnywhere, {}},
    {"permituserenvironment", SshdKind::kWord, kGlobal, {}},
    {"permituserrc", SshdKind::kChoice, kAnywhere, "yes no"},
    {"persourcemaxstartups", SshdKind::kAny, kGlobal, {}},
    {"persourcenetblocksize", SshdKind::kAny, kGlobal, {}},
    {"persourcepenalties", SshdKind::kAny, kGlobal, {}},
    {"persourcepenaltyexemptlist", SshdKind::kAny, kGlobal, {}},
    {"pidfile", SshdKind::kWord, kGlobal, {}},
    {"port", SshdKind::kAny, kGlobal, {}},
    {"printlastlog", SshdKind::kChoice, kGlobal, "yes no"},
    {"printmotd", SshdKind::kChoice, kGlobal, "yes no"},
    {"protocol", SshdKind::kAny, kGlobal, {}},
    {"pubkeyacceptedalgorithms", SshdKind::kAny, kAnywhere, {}},
    {"pubkeyacceptedkeytypes", SshdKind::kAny, kAnywhere, {}},
    {"pubkeyauthentication", SshdKind::kChoice, kAnywhere, "yes no"},
    {"pubkeyauthoptions", SshdKind::kAny, kAnywhere, {}},
    {"rdomain", SshdKind::kAny, kAnywhere, {}},
    {"refuseconnection", SshdKind::kChoice, kAnywhere, "yes no"},
    {"rekeylimit", SshdKind::kAny, kAnywhere, {}},
    {"requiredrsasize", SshdKind::kNumber, kAnywhere, {}},
    {"reversemappingcheck", SshdKind::kAny, kGlobal, {}},
    {"revokedkeys", SshdKind::kWord, kAnywhere, {}},
    {"rhostsauthentication", SshdKind::kAny, kGlobal, {}},
    {"rhostsrsaauthentication", SshdKind::kAny, kAnywhere, {}},
    {"rsaauthentication", SshdKind::kAny, kAnywhere, {}},
    {"rsaminsize", SshdKind::kAny, kAnywhere, {}},
    {"securitykeyprovider", SshdKind::kWord, kGlobal, {}},
    {"serverkeybits", SshdKind::kAny, kGlobal, {}},
    {"setenv", SshdKind::kAny, kAnywhere, {}},
    {"skeyauthentication", SshdKind::kChoice, kAnywhere, "yes no"},
    {"sshdauthpath", SshdKind::kAny, kGlobal, {}},
    {"sshdsessionpath", SshdKind::kAny, kGlobal, {}},
    {"streamlocalbindmask", SshdKind::kAny, kAnywhere, {}},
    {"streamlocalbindunlink", SshdKind::kChoice, kAnywhere, "yes no"},
    {"strictmodes", SshdKind::kChoice, kGlobal, "yes no"},
    {"subsystem", SshdKind::kAny, kAnywhere, {}},
    {"syslogfacility", SshdKind::kChoice, kGlobal,
     "daemon user auth authpriv local0 local1 local2 local3 local4 local5 local6 local7"},
    {"tcpkeepalive", SshdKind::kChoice, kGlobal, "yes no"},
    {"trustedusercakeys", SshdKind::kWord, kAnywhere, {}},
    {"unusedconnectiontimeout", SshdKind::kAny, kAnywhere, {}},
    {"usedns", SshdKind::kChoice, kGlobal, "yes no"},
    {"uselogin", SshdKind::kAny, kGlobal, {}},
    {"usepam", SshdKind::kUsePam, kGlobal, {}},
    {"useprivilegeseparation", SshdKind::kAny, kGlobal, {}},
    {"verifyreversemapping", SshdKind::kAny, kGlobal, {}},
    {"versionaddendum", SshdKind::kAny, kGlobal, {}},
    {"x11displayoffset", SshdKind::kNumber, kAnywhere, {}},
    {"x11forwarding", SshdKind::kChoice, kAnywhere, "yes no"},
    {"x11uselocalhost", SshdKind::kChoice, kAnywhere, "yes no"},
    {"xauthlocation", SshdKind::kWord, kGlobal, {}},
});
static_assert(std::ranges::is_sorted(kKeywords, {}, &SshdKeyword::name));

bool is_choice(std::string_view argument, std::string_view choices) {
  return std::ranges::any_of(split(choices, ' '), [&](std::string_view choice) { return iequals(argument, choice); });
}

/// misc.c a2port aside, servconf.c reads numbers with strtonum(0, INT_MAX), which allows a sign.
bool is_number(std::string_view argument) {
  consume(argument, "+");
  const auto number = parse_u64(argument);
  return number && *number <= INT_MAX;
}

/// misc.c convtime: numbers, each with at most one of s, m, h, d, w.
bool is_time(std::string_view argument) {
  if (argument.empty()) return false;
  while (!argument.empty()) {
    consume(argument, "+");
    const auto number = parse_u64(take_digits(argument));
    if (!number || *number > INT_MAX) return false;
    if (argument.empty()) break;
    if (!contains("smhdwSMHDW", argument.substr(0, 1))) return false;
    argument.remove_prefix(1);
  }
  return true;
}

bool is_valid(const SshdKeyword& keyword, std::string_view argument) {
  switch (keyword.kind) {
    case SshdKind::kChoice:
    case SshdKind::kUsePam:
      return is_choice(argument, keyword.kind == SshdKind::kUsePam ? "yes no" : keyword.choices);
    case SshdKind::kNumber:
      return is_number(argument);
    case SshdKind::kTime:
      return is_time(argument);
    default:
      return true;
  }
}

bool takes_one(SshdKind kind) {
  return kind == SshdKind::kUsePam || kind == SshdKind::kPamService || kind == SshdKind::kChoice ||
         kind == SshdKind::kNumber || kind == SshdKind::kTime || kind == SshdKind::kWord;
}

}  // namespace

const SshdKeyword* find_sshd_keyword(std::string_view name) {
  const std::string key = lower(name);
  const auto at = std::ranges::lower_bound(kKeywords, std::string_view(key), {}, &SshdKeyword::name);
  return at != kKeywords.end() && at->name == key ? &*at : nullptr;
}

std::string sshd_argument_error(const SshdKeyword& keyword, const std::vector<std::string>& arguments) {
  if (keyword.kind == SshdKind::kWords) {
    const bool empty = std::ranges::any_of(arguments, [](const std::string& word) { return word.empty(); });
    return empty ? fmt::format("an argument of {} is empty", keyword.name) : "";
  }
  if (!takes_one(keyword.kind)) return "";
  if (arguments.empty() || arguments[0].empty()) return fmt::format("{} has no argument", keyword.name);
  if (!is_valid(keyword, arguments[0])) {
    const std::string_view choices = keyword.kind == SshdKind::kUsePam ? "yes no" : keyword.choices;
    const std::string word = shorten(escape(arguments[0], 200), 40);
    if (choices.empty()) return fmt::format("'{}' is no value of {}", word, keyword.name);
    return fmt::format("'{}' is no value of {}; sshd takes only: {}", word, keyword.name, choices);
  }
  if (arguments.size() > 1) return fmt::format("{} has more than one argument", keyword.name);
  return "";
}

}  // namespace pindown
