// SPDX-License-Identifier: Apache-2.0
// Splits a pasted command line into pipelines of words, as a POSIX shell would where that is plain: quotes,
// backslashes, operators, redirections. Entry point: parse_shell. Never expands or runs anything; $(…) stays one word.
#include <algorithm>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

constexpr std::size_t kMaxWords = 2000;
constexpr int kMaxNesting = 8;

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text.substr(0, kMaxCommand)) {}

  std::vector<Pipeline> run() {
    while (at_ < text_.size() && words_seen_ < kMaxWords && !comment_) step();
    end_pipeline();
    return std::move(pipelines_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = text_[at_];
    if (is_blank(c)) {
      end_word();
      ++at_;
    } else if (c == '\\') {
      in_word_ = true;
      if (peek(1) != '\0') word_ += peek(1);
      at_ += 2;
    } else if (c == '\'' || c == '"') {
      quoted(c);
    } else if (c == '`') {
      until_backtick();
    } else if (c == '$' && peek(1) == '(') {
      substitution();
    } else if (c == '#' && !in_word_) {
      comment_ = true;
    } else if (c == '<' || c == '>') {
      redirection();
    } else if (c == '|' || c == ';' || c == '&' || c == '\n' || ((c == '(' || c == ')') && !in_word_)) {
      operator_at(c);
    } else {
      in_word_ = true;
      word_ += c;
      ++at_;
    }
  }

  void quoted(char quote) {
    in_word_ = true;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (quote == '"' && text_[at_] == '\\' && (peek(1) == '"' || peek(1) == '\\')) ++at_;
      word_ += text_[at_];
    }
    ++at_;
  }

  void until_backtick() {
    in_word_ = true;
    const auto end = std::min(text_.find('`', at_ + 1), text_.size() - 1);
    word_ += text_.substr(at_, end - at_ + 1);
    at_ = end + 1;
  }

  void substitution() {
    in_word_ = true;
    int depth = 0;
    const std::size_t start = at_;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '(' && ++depth > kMaxNesting) break;
      if (text_[at_] == ')' && --depth == 0) break;
    }
    at_ = std::min(at_ + 1, text_.size());
    word_ += text_.substr(start, at_ - start);
  }

  /// "2>/dev/null", ">file", "2>&1", "<file".
  void redirection() {
    const bool input = text_[at_] == '<';
    const bool errors = word_ == "2";
    if (in_word_ && !word_.empty() && std::ranges::all_of(word_, is_digit)) {
      word_.clear();
      in_word_ = false;
    }
    end_word();
    while (peek() == '<' || peek() == '>') ++at_;
    if (peek() == '&') {  // a copy of another descriptor: output stays where it was
      for (++at_; is_digit(peek()) || peek() == '-';) ++at_;
      return;
    }
    pending_ = input ? Target::kInput : errors ? Target::kErrors : Target::kOutput;
  }

  void operator_at(char c) {
    const bool pipe = c == '|' && peek(1) != '|';
    if (c == '&' && peek(1) == '>') {  // &> file
      at_ += 2;
      pending_ = Target::kOutput;
      return;
    }
    pipe ? end_command() : end_pipeline();
    while (peek() == c || (pipe && peek() == '&')) ++at_;
  }

  void end_word() {
    if (!in_word_) return;
    if (pending_ == Target::kNone) {
      current_.words.push_back(std::move(word_));
      ++words_seen_;
    } else if (pending_ == Target::kInput) {
      current_.stdin_file = std::move(word_);
    } else if (pending_ == Target::kOutput) {
      current_.to_file = true;
    }
    word_.clear();
    in_word_ = false;
    pending_ = Target::kNone;
  }

  void end_command() {
    end_word();
    if (!current_.words.empty()) pipeline_.push_back(std::move(current_));
    current_ = {};
  }

  void end_pipeline() {
    end_command();
    if (!pipeline_.empty()) pipelines_.push_back(std::move(pipeline_));
    pipeline_ = {};
  }

  enum class Target { kNone, kInput, kOutput, kErrors };

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t words_seen_ = 0;
  bool comment_ = false;
  bool in_word_ = false;
  std::string word_;
  Target pending_ = Target::kNone;
  SimpleCommand current_;
  Pipeline pipeline_;
  std::vector<Pipeline> pipelines_;
};

}  // namespace

std::vector<Pipeline> parse_shell(std::string_view text) {
  return Splitter(text).run();
}

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

std::string join_words(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

}  // namespace pindown::paste
