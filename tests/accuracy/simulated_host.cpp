// SPDX-License-Identifier: Apache-2.0
#include "accuracy/simulated_host.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace keplerd::accuracy {
namespace {

constexpr double kSlice = 0.05;
constexpr double kReadingNoise = 0.005;  // of a frequency

std::size_t index(int number) { return static_cast<std::size_t>(number); }

}  // namespace

SimulatedHost::SimulatedHost(Processors processors, Law law, std::vector<Workload> workloads,
                             std::uint64_t seed)
    : Host(processors, std::move(workloads)),
      law_(law),
      random_(seed),
      running_(index(processors.cpus()), -1),
      ghz_(index(processors.packages), law.turbo),
      counter_(index(processors.packages)) {
  std::ranges::stable_sort(workloads_, {}, &Workload::born);
  Random random(seed + 1);  // of its own: what is counted does not change what happens
  std::lognormal_distribution<double> error(0, law_.count_sigma);
  std::lognormal_distribution<double> rate(0, law_.rate_sigma);
  for (std::size_t i = 0; i < workloads_.size(); ++i) count_error_.push_back(error(random));
  for (std::size_t i = 0; i < workloads_.size(); ++i) rate_.push_back(rate(random));
}

const Window& SimulatedHost::run(double seconds) {
  window_ = {.start = now_, .seconds = seconds, .energy = {}, .busy = {}, .khz = {}, .usage = {}};
  window_.busy.assign(running_.size(), 0);
  joules_.assign(counter_.size(), 0);
  cpu_.assign(workloads_.size(), 0);
  truth_.assign(workloads_.size(), 0);
  cores_.assign(workloads_.size() * counter_.size(), 0);
  instructions_ = cores_;
  find_alive(seconds);
  const long slices = std::lround(seconds / kSlice);
  for (long i = 0; i < slices; ++i) slice();

  std::normal_distribution<double> normal;
  for (double& busy : window_.busy) busy = std::round(busy * 100) / 100 / seconds;
  for (int cpu = 0; cpu < processors_.cpus(); ++cpu)
    window_.khz.push_back(ghz_[index(processors_.package_of(cpu))] * 1e6 *
                          (1 + kReadingNoise * normal(random_)));
  for (std::size_t package = 0; package < counter_.size(); ++package) {
    const double before = std::floor(counter_[package] / law_.unit);
    counter_[package] += joules_[package] * (1 + law_.noise * normal(random_));
    window_.energy.push_back((std::floor(counter_[package] / law_.unit) - before) * law_.unit);
  }
  for (const std::size_t i : alive_) {
    Window::Usage& usage = window_.usage.emplace_back(Window::Usage{i, cpu_[i], truth_[i]});
    for (std::size_t package = 0; package < counter_.size(); ++package) {
      usage.cores.push_back(cores_[package * workloads_.size() + i]);
      usage.instructions.push_back(instructions_[package * workloads_.size() + i]);
    }
  }
  window_.idle = law_.idle * seconds;
  return window_;
}

void SimulatedHost::find_alive(double seconds) {
  std::erase_if(alive_, [this](std::size_t i) { return workloads_[i].ends <= now_; });
  while (born_ < workloads_.size() && workloads_[born_].born < now_ + seconds) alive_.push_back(born_++);
  for (const std::size_t i : alive_) {
    Workload& workload = workloads_[i];
    if (workload.change) workload.kappa = workload.change(now_, random_);
  }
}

void SimulatedHost::slice() {
  wanted_.clear();
  std::uniform_real_distribution<double> uniform;
  for (const std::size_t i : alive_) {
    const Workload& workload = workloads_[i];
    if (now_ < workload.born || now_ >= workload.ends) continue;
    const double demand = std::max(0.0, workload.demand(now_, random_));
    const double whole = std::floor(demand);
    const int threads = static_cast<int>(whole) + (uniform(random_) < demand - whole ? 1 : 0);
    wanted_.insert(wanted_.end(), index(threads), static_cast<int>(i));
  }
  std::ranges::shuffle(wanted_, random_);
  place();
  for (int package = 0; package < processors_.packages; ++package) draw(package);
  now_ += kSlice;
}

// Each thread gets a random core that is free, else a random CPU that is; the rest of them wait.
void SimulatedHost::place() {
  std::ranges::fill(running_, -1);
  std::vector<int> free_cores, free_cpus;
  for (const int workload : wanted_) {
    free_cores.clear();
    free_cpus.clear();
    const auto consider = [&](int cpu) {
      if (running(cpu) >= 0) return;
      free_cpus.push_back(cpu);
      const int sibling = (cpu + processors_.cores) % processors_.cpus();
      if (sibling == cpu || running(sibling) < 0) free_cores.push_back(cpu);
    };
    const std::vector<int>& allowed = workloads_[index(workload)].cpus;
    for (const int cpu : allowed) consider(cpu);
    for (int cpu = 0; allowed.empty() && cpu < processors_.cpus(); ++cpu) consider(cpu);
    const std::vector<int>& choice = free_cores.empty() ? free_cpus : free_cores;
    if (choice.empty()) continue;
    std::uniform_int_distribution<std::size_t> pick(0, choice.size() - 1);
    running_[index(choice[pick(random_)])] = workload;
  }
}

void SimulatedHost::give(int workload, double watts) {
  truth_[index(workload)] += watts * kSlice;
  drawn_ += watts;
}

void SimulatedHost::give_core(int workload, int package, double watts) {
  give(workload, watts);
  cores_[index(package) * workloads_.size() + index(workload)] +=
      watts * kSlice * count_error_[index(workload)];
}

void SimulatedHost::draw(int package) {
  const int cores = processors_.cores / processors_.packages;
  std::vector<int> present;
  int awake = 0;
  for (int core = package * cores; core < (package + 1) * cores; ++core) {
    bool any = false;
    for (int cpu = core; cpu < processors_.cpus(); cpu += processors_.cores) {
      if (running(cpu) < 0) continue;
      any = true;
      if (std::ranges::find(present, running(cpu)) == present.end()) present.push_back(running(cpu));
      window_.busy[index(cpu)] += kSlice;
      cpu_[index(running(cpu))] += kSlice;
    }
    awake += any ? 1 : 0;
  }
  const double ghz = law_.turbo - (law_.turbo - law_.full) * awake / cores;
  const double volts = law_.volts + law_.volts_per_ghz * ghz;
  ghz_[index(package)] = ghz;
  count(package, ghz * 1e9 * kSlice);
  drawn_ = law_.idle / processors_.packages;
  for (const int workload : present) give(workload, law_.awake / static_cast<double>(present.size()));
  for (int core = package * cores; core < (package + 1) * cores; ++core)
    draw_core(core, law_.dynamic * ghz * volts * volts);
  joules_[index(package)] += drawn_ * kSlice;
}

// `cycles`: of a busy CPU in this slice.
void SimulatedHost::count(int package, double cycles) {
  for (int cpu = 0; cpu < processors_.cpus(); ++cpu) {
    if (running(cpu) < 0 || processors_.package_of(cpu) != package) continue;
    const std::size_t workload = index(running(cpu));
    instructions_[index(package) * workloads_.size() + workload] += cycles * rate_[workload];
  }
}

// `watts`: of a busy core at kappa 1.
void SimulatedHost::draw_core(int core, double watts) {
  const auto power = [&](int workload) { return watts * workloads_[index(workload)].kappa; };
  const int package = processors_.package_of(core);
  const int a = running(core), b = running(core + processors_.cores);
  if (a < 0 && b < 0) return;
  if (a < 0 || b < 0) {
    const int alone = std::max(a, b);
    give_core(alone, package, law_.per_core + power(alone));
  } else if (a == b) {
    give_core(a, package, law_.per_core + 2 * law_.siblings * power(a));
  } else {
    const double both = law_.siblings * (power(a) + power(b));
    give_core(a, package, (law_.per_core + both + power(a) - power(b)) / 2);
    give_core(b, package, (law_.per_core + both + power(b) - power(a)) / 2);
  }
}

}  // namespace keplerd::accuracy
