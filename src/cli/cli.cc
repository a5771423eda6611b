// SPDX-License-Identifier: Apache-2.0
// See cli.h.
#include "cli/cli.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/text.h"

namespace pindown::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

/// The charset as the locale's variables name it; no locale database is needed (setlocale in a static binary has none).
bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    return icontains(value, "utf-8") || icontains(value, "utf8");
  }
  return false;
}

std::size_t terminal_width() {
  if (const auto columns = parse_u64(environment("COLUMNS")); columns && *columns >= 40 && *columns <= 400)
    return *columns;
  winsize size{};
  if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
    return size.ws_col;
  return 100;
}

bool use_color(const std::string& choice) {
  if (choice == "always") return true;
  if (choice == "never" || !environment("NO_COLOR").empty() || environment("TERM") == "dumb") return false;
  return isatty(STDOUT_FILENO) == 1;
}

}  // namespace

Style make_style(const Output& output) {
  Style style;
  style.color = use_color(output.color);
  style.utf8 = utf8_locale();
  style.width = terminal_width();
  style.verbose = output.verbose;
  return style;
}

bool print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      pollfd out{STDOUT_FILENO, POLLOUT, 0};  // somebody made the terminal or pipe non-blocking
      (void)::poll(&out, 1, -1);
    } else if (n == 0 || errno != EINTR) {
      if (n < 0 && errno == EPIPE) return true;  // the verdict still stands
      complain(fmt::format("cannot write to standard output: {}", std::strerror(n == 0 ? ENOSPC : errno)));
      return false;
    }
  }
  return true;
}

void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free descriptor is this one: those below it are open by now.
    (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

bool is_there(std::string_view path) {
  return ::access(std::string(path).c_str(), F_OK) == 0;
}

void complain(std::string_view message) {
  const std::string line = fmt::format("pindown: {}\n", escape(message, 1000));
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

void add_output_options(CLI::App& app, Output& output, const std::vector<std::string>& formats) {
  static const std::map<std::string, Format> kNames = {
      {"text", Format::kText}, {"json", Format::kJson}, {"markdown", Format::kMarkdown}};
  std::string names;
  for (const std::string& name : formats) names += (names.empty() ? "" : "|") + name;
  app.add_option_function<std::string>(
         "--format", [&output](const std::string& name) { output.format = kNames.at(name); }, "how to write the answer")
      ->check(CLI::IsMember(formats))
      ->type_name(names);
  app.add_option("--color", output.color, "colour: auto (terminals without NO_COLOR), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

}  // namespace pindown::cli
