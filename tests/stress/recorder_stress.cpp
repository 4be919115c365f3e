// The recorder under stress, without Python: sessions of every policy and budget over threads that start and die, with exports, spills and
// forks at the same time. Run by ./dev stress, also under AddressSanitizer and ThreadSanitizer.
//
//   recorder_stress SEED ROUNDS FOLDER [ROUND]      all rounds, or one of them alone
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mindtorch/export/export_trace.h"
#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/profiler/profiler.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/trace/invariants.h"
#include "tests/stress/turns.h"
#include "tests/support/sanitizers.h"

namespace mindtorch::stress {
namespace {

using Policy = record::Budget::Policy;

class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t round) : engine_(seed * 1'000'003 + round) {}
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[engine_() % values.size()];
  }
  bool toss() { return engine_() % 2 == 0; }

 private:
  std::mt19937_64 engine_;
};

void require(bool condition, const std::string& message) {
  if (!condition) throw std::runtime_error(message);
}

// What a round does, all of it drawn before it begins.
struct Plan {
  profiler::ProfileOptions options;
  int waves, threads, steps, forks;
  std::int64_t turns;
  bool churn;  // threads that record before, during and after the session, so that nothing can be added up
  std::vector<std::string> exports;
};

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;

Plan draw_plan(Dice& dice, const std::string& folder) {
  Plan plan;
  plan.options.record_shapes = dice.toss();
  plan.options.profile_memory = dice.toss();
  plan.options.with_stack = dice.toss();
  plan.options.with_flops = dice.toss();
  plan.options.with_modules = dice.toss();
  record::Budget& budget = plan.options.experimental_config.budget;
  budget.policy = dice.one_of({Policy::kGrow, Policy::kKeepLast, Policy::kSpill});
  budget.bytes = dice.one_of<std::int64_t>({1, 1, 2, 3, 16, 1024}) * kMegabyte + dice.one_of<std::int64_t>({0, 0, 1, 65536});
  if (budget.policy == Policy::kKeepLast) budget.keep_steps = dice.one_of({0, 1, 3});
  if (budget.policy == Policy::kSpill) budget.spill_path = folder + "/spill.mtrec";
  plan.waves = dice.one_of({1, 2, 4});
  plan.threads = dice.one_of({1, 2, 6});
  plan.steps = dice.one_of({1, 3, 8});
  plan.forks = dice.one_of({0, 0, 2});
  // ThreadSanitizer's own locks may be held by another thread at a fork, and the child waits for them forever.
  if (tests::kThreadSanitizer) plan.forks = 0;
  plan.turns = dice.one_of<std::int64_t>({1, 100, 1000, 4000});
  plan.churn = dice.one_of({true, false, false});
  for (const std::string_view suffix : {".json.gz", ".pftrace", ".mtrec", ".svg", ".averages.csv", ".events.json", ".speedscope.json"})
    if (dice.toss()) plan.exports.push_back(fmt::format("{}/out{}", folder, suffix));
  return plan;
}

// A child forked while others record: it records for itself, or just leaves.
void fork_child(bool records) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(300);
    if (records) make_turns(20);
    ::_exit(0);
  }
  int status = 0;
  require(child > 0 && ::waitpid(child, &status, 0) == child, "fork failed");
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, fmt::format("a forked child ended with status {}", status));
}

// Threads that start, make some turns and die. Returns the number of turns made.
std::uint64_t run_waves(const Plan& plan) {
  for (int wave = 0; wave < plan.waves; ++wave) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < plan.threads; ++t) threads.emplace_back([&] { make_turns(plan.turns); });
    if (wave < plan.forks) fork_child(wave % 2 == 0);
  }
  return static_cast<std::uint64_t>(plan.waves * plan.threads * plan.turns);
}

// Threads that take no notice of sessions: they record, start others, hand scopes to each other and run ops of the embedded runtime.
class Churn {
 public:
  explicit Churn(bool on) {
    for (int t = 0; on && t < 2; ++t) threads_.emplace_back([this] { run(); });
  }
  ~Churn() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
    delete exchange_.load();
  }

 private:
  void run() {
    const Tensor ones_of_its_own = ones({4, 4});
    while (!done_) {
      std::thread child([] { make_turns(20); });
      delete exchange_.exchange(new profiler::RecordFunction("travelling"));  // closes what another thread opened
      static_cast<void>(ones_of_its_own.mm(ones_of_its_own));
      make_turns(10);
      child.join();
    }
  }

  std::atomic<bool> done_{false};
  std::atomic<profiler::RecordFunction*> exchange_{nullptr};
  std::vector<std::thread> threads_;
};

// Exports an earlier recording while the next one is made.
class Exporting {
 public:
  Exporting(std::shared_ptr<const trace::Recording> recording, std::vector<std::string> paths) {
    if (recording == nullptr) return;
    thread_ = std::thread([this, recording, paths = std::move(paths)] {
      try {
        for (const std::string& path : paths) exporter::export_trace(*recording, path);
      } catch (const std::exception& error) {
        failure_ = error.what();
      }
    });
  }
  ~Exporting() {
    if (thread_.joinable()) thread_.join();
  }
  void finish() {
    if (thread_.joinable()) thread_.join();
    require(failure_.empty(), failure_);
  }

 private:
  std::string failure_;
  std::thread thread_;
};

void check_sums(const Plan& plan, const trace::Recording& recording, std::uint64_t turns) {
  const Found found = examine(recording);
  const record::Budget& budget = plan.options.experimental_config.budget;
  require(found.wrong.empty(), found.wrong);
  if (plan.churn) return;
  const std::uint64_t issued = turns * kEventsPerTurn;
  require(found.events() + found.missing_events == issued,
          fmt::format("{} events and {} lost are not {} issued", found.events(), found.missing_events, issued));
  if (budget.policy == Policy::kSpill) require(found.missing_events == 0, fmt::format("{} events lost by a spill", found.missing_events));
  const std::uint64_t side = side_data_issued(found, recording.options, turns);
  require(found.side_data + found.missing_side_data == side,
          fmt::format("{} entries of side data and {} lost are not {} issued", found.side_data, found.missing_side_data, side));
}

// The file must hold what the profile says it holds.
void check_spill_file(const std::string& path, const trace::Recording& recording) {
  const trace::LoadResult loaded = ingest::load_recording(path, {.max_memory = ingest::kUnlimitedMemory});
  require(!loaded.damage, loaded.damage.value_or(""));
  require(check_invariants(loaded.recording).empty(), check_invariants(loaded.recording));
  require(loaded.recording.events == recording.events, "the spill file has other events than the profile");
}

std::shared_ptr<const trace::Recording> run_round(const Plan& plan, const std::shared_ptr<const trace::Recording>& earlier) {
  const Churn churn(plan.churn);
  Exporting exporting(earlier, plan.exports);
  profiler::Profile profile(plan.options);
  std::uint64_t turns = 0;
  profile.start();
  for (int step = 0; step < plan.steps; ++step) {
    turns += run_waves(plan);
    profile.step();
  }
  profile.stop();
  exporting.finish();
  const std::shared_ptr<const trace::Recording> recording = profile.recording();
  require(check_invariants(*recording).empty(), check_invariants(*recording));
  check_sums(plan, *recording, turns);
  const record::Budget& budget = plan.options.experimental_config.budget;
  if (budget.policy == Policy::kSpill) check_spill_file(budget.spill_path, *recording);
  return recording;
}

// No file but those that were asked for: nothing temporary is left.
void check_folder(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    require(name == "spill.mtrec" || name.starts_with("out."), "a file is left: " + name);
  }
}

int run(std::uint64_t seed, std::uint64_t first, std::uint64_t last, const std::string& folder) {
  install_stacks();
  // The first round initialises what exists once per process. A child that is forked during the initialisation would wait for it forever.
  make_turns(1);
  std::shared_ptr<const trace::Recording> earlier;
  for (std::uint64_t round = first; round < last; ++round) {
    Dice dice(seed, round);
    const Plan plan = draw_plan(dice, folder);
    const record::Budget& budget = plan.options.experimental_config.budget;
    try {
      earlier = run_round(plan, earlier);
      check_folder(folder);
    } catch (const std::exception& error) {
      fmt::print(stderr, "round {} of seed {}: {}\n", round, seed, error.what());
      fmt::print(stderr, "policy {}, {} bytes, {} steps kept, {} steps of {} waves of {} threads, {} turns{}\n",
                 static_cast<int>(budget.policy), budget.bytes, budget.keep_steps, plan.steps, plan.waves, plan.threads, plan.turns,
                 plan.churn ? ", churn" : "");
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace mindtorch::stress

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    fmt::print(stderr, "usage: recorder_stress SEED ROUNDS FOLDER [ROUND]\n");
    return 2;
  }
  const std::uint64_t seed = std::strtoull(argv[1], nullptr, 10), rounds = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t first = argc == 5 ? std::strtoull(argv[4], nullptr, 10) : 0;
  return mindtorch::stress::run(seed, first, argc == 5 ? first + 1 : rounds, argv[3]);
}
