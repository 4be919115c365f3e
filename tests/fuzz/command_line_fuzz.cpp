// Fuzzes the command lines of mtprof: each line of the input is an argument. Words that stand for files are the files of the corpus;
// nothing that an argument names is written outside of a temporary folder.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "mindtorch/base/file.h"
#include "mtprof/program.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace mindtorch;

constexpr std::string_view kTrace =
    R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":5,"args":{"Input Dims":[[2,3]]}},)"
    R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":9}]})";

// A folder to run in, with the file t.json, and nothing on standard output and standard error.
void enter_folder() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("mindtorch-fuzz-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  AtomicFile file("t.json");
  file.write(kTrace);
  file.commit();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  enter_folder();
  // libFuzzer reports on standard error, so only standard output goes away.
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words{"mtprof"};
  std::string_view rest = fuzz::as_text(data, size);
  while (!rest.empty() && words.size() < 16) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string word(rest.substr(0, end));
    std::erase(word, '\0');
    // Output stays in this folder.
    std::erase(word, '/');
    words.push_back(std::move(word));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const int status = mtprof::run_program(static_cast<int>(arguments.size()), arguments.data());
  if (status < 0 || status > 2) std::abort();
  return 0;
}
