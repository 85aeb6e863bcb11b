"""`make fuzz`: run every target, and print what was tried."""

import argparse
import secrets
import time

from tests.fuzz import TARGETS


def main() -> None:
    """Run all targets, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seed", type=int, default=None, help="repeat a run")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual number of cases")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"there is no target named {sorted(unknown)[0]}")
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    for name in options.targets or TARGETS:
        fuzz, usual = TARGETS[name]
        cases = max(1, round(usual * options.share))
        print(f"\n{name}: {cases:,} cases ...", flush=True)
        start = time.monotonic()
        figures = fuzz(cases, seed)
        print(f"  no fault in {time.monotonic() - start:.0f} s")
        for what, count in sorted(figures.items()):
            print(f"  {what:<24}{count:>12,}")


if __name__ == "__main__":
    main()
