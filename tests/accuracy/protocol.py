# SPDX-License-Identifier: Apache-2.0
"""A protocol to find out, on one's own host, how far the division of energy is from the truth: loads run alone and in pairs.

The truth of a pair follows from its power and from that of its loads alone (Cadorel and Saingre, "A protocol to assess the
accuracy of process-level power models", IEEE Cluster 2024): by the Shapley value, load `a` draws
(P(a) - idle + P(a, b) - P(b)) / 2. Numbers in, numbers out: on_this_host.py measures.
"""
import collections
import dataclasses
import itertools
import random
import statistics


@dataclasses.dataclass(frozen=True)
class Segment:
    """So many seconds in which these loads run, at most two."""
    loads: tuple
    seconds: float


@dataclasses.dataclass(frozen=True)
class Measured:
    """Powers of a segment, in watts: of the host by its meter; and of each rule, its idle power and that of each load."""
    loads: tuple
    watts: float
    idle: dict  # by rule
    active: dict  # by rule and load


@dataclasses.dataclass(frozen=True)
class Errors:
    """In percent: the error of pairs and of loads alone, sum of |estimate - truth| over the truth; of the idle power, signed."""
    pairs: float
    alone: float
    idle: float


def plan(loads, seconds, idle_seconds, shortest, longest, seed):
    """Idle first; each load alone; then all pairs in random order, as often as there is time, with each load alone in between."""
    pairs = list(itertools.combinations(loads, 2))
    left = seconds - idle_seconds
    rounds = max(1, int(left / longest / (len(loads) + len(pairs))))
    length = min(longest, max(shortest, left / rounds / (len(loads) + len(pairs))))
    segments = [Segment((), idle_seconds)]
    order = random.Random(seed)
    for number in range(rounds):
        alone, together = [(load,) for load in loads], list(pairs)
        if number == 0:
            order.shuffle(together)
            of_round = alone + together
        else:
            of_round = alone + together
            order.shuffle(of_round)
        segments += [Segment(tuple(of), length) for of in of_round]
    return segments


def mean_powers(measured):
    """The mean power of each set of loads."""
    powers = collections.defaultdict(list)
    for one in measured:
        powers[frozenset(one.loads)].append(one.watts)
    return {loads: statistics.fmean(watts) for loads, watts in powers.items()}


def truth_of(one, powers):
    """What each load of a segment truly draws above idle, in watts; None if a load never ran alone."""
    idle = powers[frozenset()]
    if len(one.loads) < 2:
        return {load: max(0.0, one.watts - idle) for load in one.loads}
    alone = [powers.get(frozenset((load,))) for load in one.loads]
    if None in alone:
        return None
    (a, b), active = one.loads, one.watts - idle
    # More than all of it, or less than nothing, is noise.
    of_a = min(max(0.0, (active + alone[0] - alone[1]) / 2), max(0.0, active))
    return {a: of_a, b: max(0.0, active) - of_a}


def errors_of(rule, measured):
    powers = mean_powers(measured)
    wrong, true = collections.Counter(), collections.Counter()
    for one in measured:
        truth = truth_of(one, powers)
        if not one.loads or truth is None:
            continue
        kind = "pairs" if len(one.loads) == 2 else "alone"
        wrong[kind] += sum(abs(one.active[rule].get(load, 0.0) - truth[load]) for load in one.loads)
        true[kind] += sum(truth.values())
    percent = {kind: 100 * wrong[kind] / true[kind] if true[kind] > 0 else float("nan") for kind in ("pairs", "alone")}
    busy = [one.idle[rule] for one in measured if one.loads]
    idle = powers[frozenset()]
    return Errors(percent["pairs"], percent["alone"], 100 * (statistics.fmean(busy) - idle) / idle if idle > 0 and busy else float("nan"))


def is_complete(measured):
    """Whether there is a truth: the host was idle, and the loads of at least one pair ran alone."""
    sets = {frozenset(one.loads) for one in measured}
    return frozenset() in sets and any(len(loads) == 2 and all(frozenset((load,)) in sets for load in loads) for loads in sets)


def table(measured, rules):
    """Two tables as text: the powers of each pair, and the errors of each rule."""
    powers = mean_powers(measured)
    lines = [f"Idle: {powers[frozenset()]:.1f} W. Powers above idle, in watts, mean of the segments of each pair:", ""]
    lines += [f"| {'pair':<34} | {'true':>13} | " + " | ".join(f"{rule:>13}" for rule in rules) + " |",
              f"|{'-' * 36}|{'-' * 14}:|" + "|".join(f"{'-' * 14}:" for _ in rules) + "|"]
    by_pair = collections.defaultdict(list)
    for one in measured:
        if len(one.loads) == 2 and truth_of(one, powers):
            by_pair[one.loads].append(one)
    for pair, segments in sorted(by_pair.items()):
        def cell(values):
            return " + ".join(f"{statistics.fmean(value[load] for value in values):.1f}" for load in pair)
        true = cell([truth_of(one, powers) for one in segments])
        cells = [cell([collections.defaultdict(float, one.active[rule]) for one in segments]) for rule in rules]
        lines.append(f"| {' + '.join(pair):<34} | {true:>13} | " + " | ".join(f"{text:>13}" for text in cells) + " |")
    lines += ["", f"| {'error (%)':<34} | {'of pairs':>8} | {'alone':>8} | {'idle':>8} |",
              f"|{'-' * 36}|{'-' * 9}:|{'-' * 9}:|{'-' * 9}:|"]
    for rule in rules:
        errors = errors_of(rule, measured)
        lines.append(f"| {rule:<34} | {errors.pairs:>8.1f} | {errors.alone:>8.1f} | {errors.idle:>+8.1f} |")
    return "\n".join(lines)
