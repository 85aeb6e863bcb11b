"""Pages about audits: exact ones, and ones by draws."""

import math
from dataclasses import replace

from malaprop.measure.audit_by_draws import SampledAudit
from malaprop.measure.finding import Audit
from malaprop.report.measured.common import PUBLIC, Setting, not_said
from malaprop.report.page import Facts, Grid, Page, Plot, Section
from malaprop.report.phrases import named

_VERDICTS = {True: "holds", False: "FAILS", None: "not decided"}


def audit_page(result: Audit | SampledAudit, setting: Setting) -> Page:
    """Return the page of `malaprop audit`, with or without draws."""
    return _exact(result, setting) if isinstance(result, Audit) else _sampled(result, setting)


def _exact(result: Audit, setting: Setting) -> Page:
    delta = bool(result.guarantee.delta)
    rows = [("method", result.method)]
    if result.pair is not None:
        rows += [
            ("worst pair", " and ".join(map(named, result.pair))),
            ("at the output", named(result.output) if result.output else ""),
            ("its δ" if delta else "its loss", f"{result.loss:.6g}"),
            ("allowed", f"{result.allowed:.6g}"),
            ("at most", f"{result.at_most:.6g}" if math.isfinite(result.at_most) else "not proved"),
        ]
    ratio = f"{result.worst_ratio:.4g}" if math.isfinite(result.worst_ratio) else "unknown"
    return Page(
        title="Audit of a guarantee",
        audience=PUBLIC,
        figures=(
            (_VERDICTS[result.holds], "is the verdict"),
            (ratio, "is the worst loss over what is allowed: at most 1 if the guarantee is true"),
        ),
        warnings=("THE GUARANTEE IS FALSE: do not use this mechanism",) if result.fails else (),
        sections=(
            Section("The worst case", (Facts(tuple(rows)),)),
            setting.promise(),
            not_said(
                "The audit is about the law that the code states and the numbers it computes. "
                "malaprop audit --sampled compares the draws themselves.",
                "A guarantee that holds may still protect little: see malaprop stats.",
            ),
            setting.method(),
        ),
    )


def _sampled(result: SampledAudit, setting: Setting) -> Page:
    from malaprop.report import plots

    setting = replace(setting, guarantee=result.guarantee)
    head = ("pair", "why", "allowed", "loss at least", "δ at least", "draws")
    rows = tuple(
        (
            " and ".join(map(named, one.pair)),
            one.why,
            f"{one.allowed:.4g}",
            f"{one.loss:.4g}",
            f"{one.delta:.3g}",
            f"{one.draws:,}",
        )
        for one in result.pairs
    )
    verdict = "FAILS" if result.violated else "not contradicted"
    return Page(
        title="Audit by draws",
        audience=PUBLIC,
        figures=(
            (verdict, "is the verdict"),
            (f"{result.worst.loss:.3g}", f"nats are shown, of {result.worst.allowed:.3g} allowed"),
            (f"{result.draws:,}", f"draws at most of each word of {len(result.pairs)} pairs"),
            (f"{result.confidence:g}", "is the confidence of a violation"),
        ),
        warnings=("THE GUARANTEE IS FALSE: do not use this mechanism",) if result.violated else (),
        sections=(
            Section(
                "Pairs that are hard to hide",
                (
                    Grid(head, rows, frozenset({2, 3, 4, 5})),
                    Plot(
                        lambda: plots.losses_of_pairs(result.pairs),
                        "What draws show about each pair: points above the dotted line would "
                        "contradict the guarantee.",
                    ),
                ),
            ),
            setting.promise(),
            not_said(
                "A lower bound that stays below the guarantee does not prove it: more draws, or "
                "other pairs, may show more. malaprop audit computes exact losses.",
                "Faults that change probabilities by less than the draws can show go unnoticed.",
            ),
            setting.method(
                ("how", "single words privatized as a black box; Clopper-Pearson bounds"),
                ("draws", result.how_often),
                ("limits", result.limit),
            ),
        ),
    )
