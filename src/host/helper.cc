// SPDX-License-Identifier: Apache-2.0
// See helper.h.
#include "host/helper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

extern char** environ;

namespace pindown {
namespace {

using Clock = std::chrono::steady_clock;

std::unexpected<HostError> failure(HostErrorKind kind, std::string message) {
  return std::unexpected(HostError{kind, std::move(message)});
}

std::string own_directory() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return {};
  const std::string_view whole(path.data(), static_cast<std::size_t>(length));
  return std::string(whole.substr(0, whole.rfind('/')));
}

std::string find_helper(std::string_view name) {
  const std::string directory = own_directory();
  if (directory.empty()) return {};
  for (const std::string& path :
       {fmt::format("{}/{}", directory, name), fmt::format("{}/../libexec/pindown/{}", directory, name)}) {
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

/// The child's standard output is `output`; it has no input, and its complaints go nowhere.
int spawn(const std::string& path, const std::vector<std::string>& arguments, char* const* environment, int output,
          pid_t& child) {
  std::vector<char*> words;
  words.push_back(const_cast<char*>(path.c_str()));
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = ::posix_spawn(&child, path.c_str(), &actions, nullptr, words.data(), environment);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

enum class Ending { kClosed, kTooLong, kTooMuch };

Ending read_until_closed(int input, Clock::time_point until, std::size_t max_bytes, std::string& out) {
  std::array<char, 4096> piece{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return Ending::kTooLong;
    pollfd ready{input, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t n = ::read(input, piece.data(), piece.size());
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) return Ending::kClosed;
    if (n > 0) out.append(piece.data(), static_cast<std::size_t>(n));
    if (out.size() > max_bytes) return Ending::kTooMuch;
  }
}

/// Lets a program close what it holds: rpm, killed, may leave its database locked for everybody after it. One that does
/// not listen is left to finish.
void end_gently(pid_t child, int& status) {
  ::kill(child, SIGTERM);
  for (int tries = 0; tries < 20; ++tries) {
    if (::waitpid(child, &status, WNOHANG) != 0) return;
    ::poll(nullptr, 0, 50);
  }
}

/// What a program printed and how it ended (waitpid's status).
struct Ran {
  std::string out;
  int status = 0;
};

std::expected<Ran, HostError> run(const std::string& path, const std::vector<std::string>& arguments,
                                  char* const* environment, std::chrono::milliseconds limit, std::size_t max_bytes,
                                  bool gently) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return failure(HostErrorKind::kError, fmt::format("cannot run {}: {}", path, std::strerror(errno)));
  pid_t child = 0;
  const int error = spawn(path, arguments, environment, pipe[1], child);
  ::close(pipe[1]);
  if (error != 0) {
    ::close(pipe[0]);
    return failure(error == ENOENT ? HostErrorKind::kNotFound : HostErrorKind::kError,
                   fmt::format("cannot run {}: {}", path, std::strerror(error)));
  }
  Ran ran;
  const Ending ending = read_until_closed(pipe[0], Clock::now() + limit, max_bytes, ran.out);
  ::close(pipe[0]);
  if (ending != Ending::kClosed && gently) {
    end_gently(child, ran.status);
  } else {
    if (ending != Ending::kClosed) ::kill(child, SIGKILL);
    while (::waitpid(child, &ran.status, 0) < 0 && errno == EINTR) {
    }
  }
  if (ending == Ending::kTooLong)
    return failure(HostErrorKind::kError, fmt::format("{} did not answer in {} ms", path, limit.count()));
  if (ending == Ending::kTooMuch) return failure(HostErrorKind::kTooLarge, fmt::format("{} printed too much", path));
  return ran;
}

}  // namespace

std::expected<std::string, HostError> run_helper(std::string_view name, const std::vector<std::string>& arguments,
                                                 std::chrono::milliseconds limit, std::size_t max_bytes) {
  const std::string path = find_helper(name);
  if (path.empty()) return failure(HostErrorKind::kNotFound, fmt::format("{} is not installed beside pindown", name));
  auto ran = run(path, arguments, environ, limit, max_bytes, false);
  if (!ran) return std::unexpected(ran.error());
  if (WIFEXITED(ran->status) && WEXITSTATUS(ran->status) == 2)
    return failure(HostErrorKind::kNotFound, fmt::format("{} found no libibverbs", path));
  if (!WIFEXITED(ran->status) || WEXITSTATUS(ran->status) != 0)
    return failure(HostErrorKind::kError, fmt::format("{} failed with status {}", path, ran->status));
  return std::move(ran->out);
}

std::expected<std::string, HostError> run_system_program(const std::string& path,
                                                         const std::vector<std::string>& arguments,
                                                         std::chrono::milliseconds limit, std::size_t max_bytes) {
  std::array<std::string, 3> words = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/"};
  const std::array<char*, 4> environment = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  auto ran = run(path, arguments, environment.data(), limit, max_bytes, true);
  if (!ran) return std::unexpected(ran.error());
  if (!WIFEXITED(ran->status))
    return failure(HostErrorKind::kError, fmt::format("{} was ended by signal {}", path, WTERMSIG(ran->status)));
  return std::move(ran->out);
}

}  // namespace pindown
