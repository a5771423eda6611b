// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer, in the ordinary build with its sanitizers: every recorded input as it is, then
// as many mutations of them as asked for, the same in every run. Searching for new paths is scripts/fuzz's. usage: NAME
// RUNS FILE-OR-FOLDER...     the input at hand is in NAME.input beside the program when it dies
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kMostBytes = 65536;

using Inputs = std::vector<std::string>;

void add_file(const std::filesystem::path& path, Inputs& inputs) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  bytes.resize(std::min(bytes.size(), kMostBytes));
  inputs.push_back(std::move(bytes));
}

void add(const std::filesystem::path& path, Inputs& inputs) {
  if (!std::filesystem::is_directory(path)) return add_file(path, inputs);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) add_file(file, inputs);
}

/// One change: a byte, a piece doubled, moved or cut out, or a piece of another input.
void mutate(std::string& text, const Inputs& inputs, std::mt19937& random) {
  const auto below = [&random](std::size_t end) { return end == 0 ? 0 : random() % end; };
  const std::size_t at = below(text.size() + 1);
  const std::size_t length = below(std::min<std::size_t>(text.size() - at + 1, std::size_t{1} << below(12)));
  switch (below(6)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 1:
      text.insert(at, 1, "\0\n\r\t \x1b\"'\\[]{}=:,0\xff"[below(18)]);
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(below(text.size()), text.substr(at, length));
      break;
    case 4: {
      const std::string& other = inputs[below(inputs.size())];
      const std::size_t from = below(other.size() + 1);
      text.insert(at, other.substr(from, below(400)));
      break;
    }
    default:
      text.resize(at);
  }
  text.resize(std::min(text.size(), kMostBytes));
}

void run(const std::string& input, const std::string& kept) {
  // Written first: a sanitizer ends the process.
  std::ofstream(kept, std::ios::binary | std::ios::trunc)
      .write(input.data(), static_cast<std::streamsize>(input.size()));
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int count, char** arguments) {
  std::size_t runs = 0;
  const char* const asked = count > 2 ? arguments[1] : "";
  if (std::from_chars(asked, asked + std::strlen(asked), runs).ec != std::errc{}) {
    std::fprintf(stderr, "usage: %s RUNS FILE-OR-FOLDER...\n", arguments[0]);
    return 64;
  }
  Inputs inputs;
  for (int i = 2; i < count; ++i) add(arguments[i], inputs);
  const std::string kept = std::string(arguments[0]) + ".input";
  for (const std::string& input : inputs) run(input, kept);
  std::mt19937 random(1);
  for (std::size_t done = 0; done < runs && !inputs.empty(); ++done) {
    std::string text = inputs[random() % inputs.size()];
    for (std::size_t changes = 1 + random() % 8; changes > 0; --changes) mutate(text, inputs, random);
    run(text, kept);
  }
  std::filesystem::remove(kept);
  std::printf("%zu inputs, %zu recorded\n", inputs.size() + runs, inputs.size());
  return inputs.empty() ? 1 : 0;
}
