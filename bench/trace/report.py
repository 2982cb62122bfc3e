#!/usr/bin/env python3
"""Reads what trace.c wrote and says how well small keys tell messages apart.

    python3 report.py [--bits 8,16,32] [--all-bits] TRACE.0 TRACE.1 ...

For every rank the messages sent to it are gathered: a weight for each tag, for each source, and for each
pair, in each communicator. A window keeps the lowest bits of a number. Of a message, the share of
messages in its window that differ from it can be false positives:

    false positives = sum over values v of  w(v)/W * (1 - w(v)/W(window of v))

with w the weight of a value and W(...) that of all values in a window. Three tags used equally often
that all share a window give 66.67 %. It is what may happen and not what did: messages that share a
window need not wait at the same time (section V of the paper counts the same).

Beside windows of tags and of ranks, the keys that the matching engines use are looked at: `packed32`
(24 bits of the source, 8 of the tag) and `xor16`, `xor8` (source xor tag).
"""

import argparse
import collections
import json
import sys


class Trace:
    """All ranks' files."""

    def __init__(self):
        self.ranks = None
        self.files = {}
        # receiver in the world -> communicator's name and size -> (source, tag) -> messages
        self.received = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
        self.wild = collections.Counter()
        self.depths = collections.Counter()

    def read(self, path):
        comms, world, sends, rank = {}, {}, [], None
        with open(path, encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                words = line.split()
                try:
                    kind = words[0]
                    if kind == "ranks":
                        rank, ranks = int(words[1]), int(words[2])
                    elif kind == "comm":
                        comms[int(words[1])] = (int(words[2]), " ".join(words[3:]) or "unnamed")
                    elif kind == "world":
                        world[int(words[1]), int(words[2])] = int(words[3])
                    elif kind == "send":
                        sends.append(tuple(int(w) for w in words[1:5]))
                    elif kind == "wild":
                        self.wild[words[1]] += int(words[2])
                    elif kind == "depth":
                        self.depths[int(words[1])] += int(words[2])
                    else:
                        raise ValueError(f"'{kind}' is no kind of line")
                except (IndexError, ValueError) as error:
                    sys.exit(f"{path}:{number}: {error}")
        if rank is None:
            sys.exit(f"{path}: no line 'ranks'")
        if self.ranks not in (None, ranks):
            sys.exit(f"{path}: of {ranks} ranks, other files are of {self.ranks}")
        if rank in self.files:
            sys.exit(f"{path}: rank {rank} has written {self.files[rank]} already")
        self.ranks = ranks
        self.files[rank] = path
        for comm, dest, tag, count in sends:
            receiver = world.get((comm, dest))
            if receiver is not None:
                # Numbers of communicators differ from rank to rank, so they are told apart by name and
                # size; nameless ones of one size count as one, which can only raise the shares.
                key = comms[comm][1], comms[comm][0]
                self.received[receiver][key][rank, tag] += count


def false_positives(weights, window):
    """Share of false positives among values with weights, seen through a window."""
    total = sum(weights.values())
    seen = collections.Counter()
    for value, weight in weights.items():
        seen[window(value)] += weight
    return sum(w / total * (1 - w / seen[window(v)]) for v, w in weights.items()) if total else 0.0


def low(bits):
    mask = (1 << bits) - 1
    return lambda value: value & mask


KEYS = {
    "packed32": lambda pair: (pair[0] & 0xFFFFFF) | (pair[1] & 0xFF) << 24,
    "xor16": lambda pair: (pair[0] ^ pair[1]) & 0xFFFF,
    "xor8": lambda pair: (pair[0] ^ pair[1]) & 0xFF,
}


def weights_of(comms, which):
    """A rank's weights by (communicator, value); which: None for pairs, 0 sources, 1 tags."""
    out = []
    for pairs in comms.values():
        weights = collections.Counter()
        for pair, count in pairs.items():
            weights[pair if which is None else pair[which]] += count
        out.append(weights)
    return out


def over_comms(weights, window):
    """Communicators have queues of their own: their shares, weighted by messages."""
    total = sum(sum(w.values()) for w in weights)
    return sum(sum(w.values()) / total * false_positives(w, window) for w in weights) if total else 0.0


def worst_and_mean(trace, which, window):
    shares = [over_comms(weights_of(comms, which), window) for comms in trace.received.values()]
    return (max(shares), sum(shares) / len(shares)) if shares else (0.0, 0.0)


def perfect(trace, which):
    """The fewest bits with which no rank has a false positive."""
    return next(bits for bits in range(0, 33) if worst_and_mean(trace, which, low(bits))[0] == 0 or bits == 32)


def analyse(trace, bits):
    tags = [len({p[1] for pairs in comms.values() for p in pairs}) for comms in trace.received.values()]
    peers = [len({p[0] for pairs in comms.values() for p in pairs}) for comms in trace.received.values()]
    posted = sum(trace.depths.values())
    result = {
        "ranks": trace.ranks,
        "messages": sum(n for comms in trace.received.values() for pairs in comms.values() for n in pairs.values()),
        "tags of a rank": [max(tags, default=0), sum(tags) / max(len(tags), 1)],
        "peers of a rank": [max(peers, default=0), sum(peers) / max(len(peers), 1)],
        "bits for all tags": perfect(trace, 1),
        "bits for all ranks": perfect(trace, 0),
        "receives": dict(trace.wild),
        "pending receives when one is posted": [
            max(trace.depths, default=0),
            sum(d * n for d, n in trace.depths.items()) / max(posted, 1),
        ],
        "false positives": {},
    }
    share = result["false positives"]
    for b in bits:
        share[f"tag, {b} bits"] = worst_and_mean(trace, 1, low(b))
        share[f"rank, {b} bits"] = worst_and_mean(trace, 0, low(b))
    for name, key in KEYS.items():
        share[name] = worst_and_mean(trace, None, key)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bits", default="8,16,32", help="windows, separated by commas")
    parser.add_argument("--all-bits", action="store_true", help="windows of 0 to 32 bits")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    trace = Trace()
    for path in args.files:
        trace.read(path)
    if len(trace.files) != trace.ranks:
        sys.exit(f"{len(trace.files)} files of {trace.ranks} ranks: the messages of the others would be missing")
    result = analyse(trace, range(33) if args.all_bits else [int(b) for b in args.bits.split(",")])
    if args.json:
        json.dump(result, sys.stdout, indent=1)
        print()
        return
    shares = result.pop("false positives")
    for name, value in result.items():
        if isinstance(value, list):
            value = f"{value[0]} at most, {value[1]:.1f} in the mean"
        elif isinstance(value, dict):
            value = ", ".join(f"{n} {kind}" for kind, n in sorted(value.items())) or "none"
        print(f"{name}: {value}")
    print(f"\n{'false positives':<20}{'worst rank':>12}{'mean':>10}")
    for name, (worst, mean) in shares.items():
        print(f"{name:<20}{worst:>11.2%}{mean:>10.2%}")


if __name__ == "__main__":
    main()
