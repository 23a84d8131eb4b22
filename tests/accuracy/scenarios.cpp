// SPDX-License-Identifier: Apache-2.0
#include "accuracy/scenarios.h"

#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace keplerd::accuracy {
namespace {

using Demand = std::function<double(double now, Random&)>;

constexpr double kPause = 120;  // s at the start in which all workloads pause

double between(double low, double high, Random& random) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

Demand sine(double mean, Random& random) {
  const double period = between(20, 200, random), phase = between(0, 2 * std::numbers::pi, random);
  return [=](double now, Random&) {
    return mean * (1 + 0.9 * std::sin(2 * std::numbers::pi * now / period + phase));
  };
}

Demand steady(double mean) {
  return [=](double, Random&) { return mean; };
}

// On and off for random times between the bounds.
Demand on_off(double mean, double on_low, double on_high, double off_low, double off_high) {
  const double duty = (on_low + on_high) / (on_low + on_high + off_low + off_high);
  return [=, until = -1.0, on = false](double now, Random& random) mutable {
    if (until < 0) {
      on = between(0, 1, random) < duty;
      until = now + between(0, on ? on_high : off_high, random);
    }
    while (now >= until) {
      on = !on;
      until += on ? between(on_low, on_high, random) : between(off_low, off_high, random);
    }
    return on ? mean / duty : 0;
  };
}
Demand web(double mean) { return on_off(mean, 4, 30, 10, 90); }
Demand batch(double mean) { return on_off(mean, 40, 90, 40, 90); }
Demand idle_vm(Random& random) { return steady(4 * between(0.003, 0.01, random)); }

// A quiet `share` of each period, the same for all.
Demand quiet_minutes(Demand inner) {
  return [inner](double now, Random& random) { return std::fmod(now, 600) < 120 ? 0 : inner(now, random); };
}

class Builder {
 public:
  Builder(const Options& options, Processors processors, Law law)
      : processors_(processors), law_(law), random_(options.seed), pause_(options.starts_idle) {}
  explicit Builder(const Options& options, Processors processors = {})
      : Builder(options, processors, options.law) {}

  Random& random() { return random_; }
  std::vector<Workload>& all() { return workloads_; }

  Workload& add(std::string name, Demand demand) {
    Workload& workload = workloads_.emplace_back();
    workload.name = std::move(name);
    workload.kappa = std::exp(std::normal_distribution<double>(0, law_.kappa_sigma)(random_));
    workload.demand = std::move(demand);
    if (pause_) {
      workload.demand = [inner = std::move(workload.demand)](double now, Random& random) {
        const double wanted = inner(now, random);
        return now < kPause ? 0 : wanted;
      };
    }
    return workload;
  }
  // With what a host always runs.
  std::unique_ptr<Host> host() {
    pause_ = false;
    add("system", steady(0.02));
    return std::make_unique<SimulatedHost>(processors_, law_, std::move(workloads_), random_());
  }

  // 50 % of the CPUs by services, web, batch and idle VMs.
  void mixed(double threads) {
    for (int i = 0; i < 4; ++i) add(fmt::format("service{}", i), steady(threads * 0.4 / 4));
    for (int i = 0; i < 4; ++i) add(fmt::format("web{}", i), web(threads * 0.25 / 4));
    for (int i = 0; i < 3; ++i) add(fmt::format("batch{}", i), batch(threads * 0.35 / 3));
    for (int i = 0; i < 6; ++i) add(fmt::format("vm{}", i), idle_vm(random_));
    for (int i = 0; i < 3; ++i) add(fmt::format("daemon{}", i), steady(between(0.005, 0.05, random_)));
  }
  void sines(int count, double threads) {
    for (int i = 0; i < count; ++i) add(fmt::format("sine{}", i), sine(threads / count, random_));
  }
  // Every workload gets another kappa every 60 s.
  void change_kappa() {
    for (Workload& workload : workloads_) {
      workload.change = [sigma = law_.kappa_sigma, kappa = workload.kappa, next = between(0, 60, random_)](
                            double now, Random& random) mutable {
        if (now >= next) {
          kappa = std::exp(std::normal_distribution<double>(0, sigma)(random));
          next = now + 60;
        }
        return kappa;
      };
    }
  }

 private:
  Processors processors_;
  Law law_;
  Random random_;
  bool pause_;
  std::vector<Workload> workloads_;
};

Options always_busy(Options options) {
  options.starts_idle = false;
  return options;
}

std::unique_ptr<Host> base(const Options& options) {
  Builder b(options);
  b.sines(10, 16);
  return b.host();
}
std::unique_ptr<Host> mixed(const Options& options) {
  Builder b(options);
  b.mixed(16);
  return b.host();
}
std::unique_ptr<Host> steady_services(const Options& options) {
  Builder b(options);
  for (int i = 0; i < 10; ++i)
    b.add(fmt::format("service{}", i), steady(16 / 10.0 * between(0.5, 1.5, b.random())));
  return b.host();
}
std::unique_ptr<Host> batch_phases(const Options& options) {
  Builder b(options);
  for (int i = 0; i < 10; ++i) b.add(fmt::format("batch{}", i), batch(1.6));
  b.change_kappa();
  return b.host();
}
std::unique_ptr<Host> sine_phases(const Options& options) {
  Builder b(options);
  b.sines(10, 16);
  b.change_kappa();
  return b.host();
}
std::unique_ptr<Host> compile_storms(const Options& options) {
  Builder b(options);
  for (int i = 0; i < 6; ++i) b.add(fmt::format("service{}", i), steady(0.9));
  for (int i = 0; i < 3; ++i) b.add(fmt::format("web{}", i), web(0.8));
  b.add("storm.slice", steady(0));
  for (double at = 180; at < options.seconds; at += 360) {
    for (int lane = 0; lane < 12; ++lane) {
      for (double now = at; now < at + 180;) {
        const double lasts = between(2, 15, b.random());
        Workload& unit = b.add("unit", steady(1));
        unit.parent = "storm.slice";
        unit.born = now;
        unit.ends = now + lasts;
        now += lasts;
      }
    }
  }
  return b.host();
}
std::unique_ptr<Host> fully_busy(const Options& options) {
  Builder b(always_busy(options));
  for (int i = 0; i < 10; ++i) b.add(fmt::format("full{}", i), steady(32 * 1.15 / 10));
  return b.host();
}
std::unique_ptr<Host> idle_vms(const Options& options) {
  Builder b(options);
  for (int i = 0; i < 25; ++i) b.add(fmt::format("vm{}", i), idle_vm(b.random()));
  b.sines(3, 32 * 0.06 - 0.65);
  return b.host();
}
std::unique_ptr<Host> pinned_unequal(const Options& options) {
  Builder b(options);
  std::vector<int> alone, both;
  for (int core = 0; core < 12; ++core) alone.push_back(core);
  for (int core = 12; core < 16; ++core) {
    both.push_back(core);
    both.push_back(core + 16);
  }
  b.sines(10, 13);
  for (std::size_t i = 0; i < 10; ++i) b.all()[i].cpus = i % 2 == 0 ? alone : both;
  return b.host();
}
std::unique_ptr<Host> sockets_pinned(const Options& options) {
  Builder b(options, {.packages = 2});
  b.mixed(16);
  for (std::size_t i = 0; i < b.all().size(); ++i) {
    for (int cpu = 0; cpu < 32; ++cpu)
      if ((cpu % 16 < 8) == (i % 2 == 0)) b.all()[i].cpus.push_back(cpu);
  }
  return b.host();
}
std::unique_ptr<Host> sockets_free(const Options& options) {
  Builder b(options, {.packages = 2});
  b.mixed(16);
  return b.host();
}
std::unique_ptr<Host> laptop(const Options& options) {
  Law law = options.law;
  law.idle *= 0.14;  // 3 W of the usual 22
  law.awake *= 0.22;
  Builder b(options, {.cores = 4}, law);
  for (int i = 0; i < 4; ++i) b.add(fmt::format("app{}", i), web(0.5));
  for (int i = 0; i < 2; ++i) b.add(fmt::format("batch{}", i), batch(0.8));
  for (int i = 0; i < 3; ++i) b.add(fmt::format("daemon{}", i), steady(between(0.01, 0.1, b.random())));
  return b.host();
}
std::unique_ptr<Host> many_groups(const Options& options) {
  Builder b(options, {.cores = 24});
  for (int i = 0; i < 130; ++i) {
    const double mean = 24 / 130.0 * between(0.2, 1.8, b.random());
    b.add(fmt::format("group{}", i), i % 3 == 0 ? steady(mean) : i % 3 == 1 ? web(mean) : batch(mean));
  }
  return b.host();
}
std::unique_ptr<Host> quiet(const Options& options) {
  Builder b(options);
  b.mixed(16);
  for (Workload& workload : b.all()) workload.demand = quiet_minutes(std::move(workload.demand));
  return b.host();
}
std::unique_ptr<Host> drifts(const Options& options) {
  Builder b(options);
  b.mixed(16);
  for (Workload& workload : b.all()) {
    workload.change = [kappa = workload.kappa, period = between(1800, 7200, b.random())](double now,
                                                                                         Random&) {
      return kappa * (1 + 0.25 * std::sin(2 * std::numbers::pi * now / period));
    };
  }
  return b.host();
}
std::unique_ptr<Host> never_idle(const Options& options) {
  Builder b(always_busy(options));
  b.mixed(16);
  return b.host();
}
std::unique_ptr<Host> no_smt(const Options& options) {
  Builder b(options, {.threads_per_core = 1});
  b.mixed(8);
  return b.host();
}

constexpr double kCheap = 0.5, kCostly = 2;  // kappa
constexpr const char* kAlternating = "alternating VM";

// A VM that runs cheap and costly code in turn, `period` seconds each, among others.
template <int period>
std::unique_ptr<Host> alternates(const Options& options) {
  Builder b(options);
  b.mixed(12);
  b.add(kAlternating, steady(3)).change = [](double now, Random&) {
    return std::fmod(now, 2.0 * period) < period ? kCheap : kCostly;
  };
  return b.host();
}

// Its code is costly while its victim runs, and cheap while that does not: the victim is to be taken for what
// draws the power.
std::unique_ptr<Host> hides_behind_another(const Options& options) {
  Builder b(options);
  b.mixed(12);
  auto runs = std::make_shared<bool>(false);
  b.add("victim", [runs, demand = on_off(2, 20, 40, 20, 40)](double now, Random& random) mutable {
    const double wanted = demand(now, random);
    *runs = wanted > 0;
    return wanted;
  });
  b.add("thief", steady(3)).change = [runs](double, Random&) { return *runs ? kCostly : kCheap; };
  return b.host();
}

// Each workload behaves for `period` seconds, so that it is trusted; then all that were cheap are costly, and
// the other way round.
template <int period>
std::unique_ptr<Host> betrays(const Options& options) {
  Builder b(options);
  b.sines(10, 16);
  for (std::size_t i = 0; i < b.all().size(); ++i) {
    b.all()[i].change = [i](double now, Random&) {
      const bool swapped = std::fmod(now, 2.0 * period) >= period;
      return (i % 2 == 0) == swapped ? kCostly : kCheap;
    };
  }
  return b.host();
}

Law random_law(Random& random) {
  Law law{.idle = between(2, 80, random),
          .awake = between(0, 40, random),
          .per_core = between(0, 2, random),
          .dynamic = between(0.4, 2.5, random),
          .volts = between(0.1, 1.1, random),
          .volts_per_ghz = between(0, 0.28, random),
          .turbo = between(2, 5, random)};
  law.full = law.turbo * between(0.6, 1, random);
  law.siblings = between(0.52, 0.8, random);
  law.kappa_sigma = between(0.1, 0.5, random);
  law.noise = between(0.001, 0.01, random);
  return law;
}

Demand random_demand(double mean, Random& random) {
  switch (std::uniform_int_distribution<int>(0, 4)(random)) {
    case 0:
      return steady(mean);
    case 1:
      return web(mean);
    case 2:
      return batch(mean);
    case 3:
      return idle_vm(random);
    default:
      return sine(mean, random);
  }
}

constexpr Scenario kScenarios[] = {
    {"base: 10 sine loads", base},
    {"services, web, batch, idle VMs", mixed, true, "vm"},
    {"10 steady services", steady_services},
    {"batch, kappa changes every 60 s", batch_phases},
    {"10 sine, kappa changes every 60 s", sine_phases},
    {"compile storms (units of 2-15 s)", compile_storms},
    {"fully busy, never idle", fully_busy, false},
    {"6 % load, 25 idle VMs", idle_vms, true, "vm"},
    {"pinned, unequal hyperthreads", pinned_unequal},
    {"2 sockets, pinned", sockets_pinned, true, "vm"},
    {"2 sockets, free", sockets_free, true, "vm"},
    {"laptop, 4 cores", laptop},
    {"130 groups, 24 cores", many_groups},
    {"quiet minutes", quiet, true, "vm"},
    {"kappa drifts", drifts, true, "vm"},
    {"mixed, never idle", never_idle, false, "vm"},
    {"AMD-like, no SMT", no_smt, true, "vm"},
};

constexpr Scenario kAdversaries[] = {
    {"cheap and costly in turn, 5 s", alternates<5>, true, kAlternating},
    {"cheap and costly in turn, 30 s", alternates<30>, true, kAlternating},
    {"cheap and costly in turn, 120 s", alternates<120>, true, kAlternating},
    {"cheap and costly in turn, 600 s", alternates<600>, true, kAlternating},
    {"costly while another runs", hides_behind_another, true, "victim"},
    {"all change sides every 60 s", betrays<60>},
    {"all change sides every 300 s", betrays<300>},
    {"all change sides every 900 s", betrays<900>},
};

// The power of a core is in proportion to its frequency; siblings cost more; cores cost more to wake.
constexpr Law kLinear{.per_core = 2, .volts = 1.1, .volts_per_ghz = 0, .siblings = 0.7};
constexpr Law kCubic{.awake = 3, .volts = 0.1, .volts_per_ghz = 0.28};
constexpr Law kFixed{.turbo = 3, .full = 3, .kappa_sigma = 0.5};  // no turbo
constexpr Law kServer{.idle = 66, .awake = 36, .noise = 0.01};
// Workloads that hardly differ, and a constant that most of the power goes to.
constexpr Law kAlike{.awake = 22.5, .siblings = 0.54, .kappa_sigma = 0.15};
constexpr NamedLaw kLaws[] = {{"usual", {}},     {"linear", kLinear}, {"cubic", kCubic},
                              {"fixed", kFixed}, {"server", kServer}, {"alike", kAlike}};

}  // namespace

std::unique_ptr<Host> random_host(const Options& options) {
  Random random(options.seed);
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  Processors processors{.packages = number(1, 2), .threads_per_core = number(1, 2)};
  processors.cores = processors.packages * number(2, 16);
  Builder b(options, processors, random_law(random));
  const int workloads = number(3, 30);
  const double threads = processors.cpus() * between(0.1, 0.7, random) / workloads;
  for (int i = 0; i < workloads; ++i)
    b.add(fmt::format("workload{}", i), random_demand(threads * between(0.2, 1.8, random), random));
  return b.host();
}

std::span<const Scenario> scenarios() { return kScenarios; }
std::span<const Scenario> adversaries() { return kAdversaries; }
std::span<const NamedLaw> laws() { return kLaws; }

}  // namespace keplerd::accuracy
