// Two paths name one file if they lead to one inode, or to one name in one folder where there is no file yet.
#include "mtprof/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "mindtorch/base/file_target.h"

namespace mindtorch::mtprof {
namespace {

// A file, or the place of a file that does not exist yet.
struct Place {
  dev_t device = 0;
  ino_t inode = 0;   // of the file, or of the folder
  std::string name;  // in the folder; empty for a file that exists
  bool operator==(const Place&) const = default;
};

// Nothing for what is no regular file: a device holds nothing that could be lost.
std::optional<Place> place_of_input(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return Place{about.st_dev, about.st_ino, ""};
}

std::optional<Place> place_of_output(const std::string& path) {
  const FileTarget target = find_target(path);
  if (target.device >= 0) {
    ::close(target.device);
    return std::nullopt;
  }
  struct stat folder {};
  ::fstat(target.folder, &folder);
  ::close(target.folder);
  if (target.existing) return Place{target.existing->st_dev, target.existing->st_ino, ""};
  return Place{folder.st_dev, folder.st_ino, target.name};
}

void require_folder(const std::string& option, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code code;
  if (folder.empty() || std::filesystem::status(folder, code).type() != std::filesystem::file_type::not_found) return;
  throw_error<WrongUsage>("mtprof.files", "{} {}: there is no folder '{}'; make it first (mkdir -p)", option, path, folder.string());
}

}  // namespace

void check_files(const Files& files) {
  std::vector<std::pair<Place, std::string>> taken;
  for (const std::string& input : files.inputs) {
    if (auto place = place_of_input(input)) taken.emplace_back(std::move(*place), fmt::format("'{}', which is read", input));
  }
  for (const auto& [option, path] : files.outputs) {
    if (path.empty()) continue;
    require_folder(option, path);
    auto place = place_of_output(path);
    if (!place || files.force) continue;
    for (const auto& [other, what] : taken) {
      if (other == *place)
        throw_error<WrongUsage>("mtprof.files", "{} {} would replace {}; choose another name, or allow it with --force", option, path,
                                what);
    }
    taken.emplace_back(std::move(*place), fmt::format("'{}', which {} writes", path, option));
  }
}

void add_force(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Let an output replace a file that is read, or another output");
}

}  // namespace mindtorch::mtprof
