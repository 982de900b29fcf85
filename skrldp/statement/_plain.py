"""The first part of a privacy report: sentences for who decides on a survey, without formulas."""

import math

from skrldp._params import at_most
from skrldp._sentences import columns_in_words
from skrldp.claims import odds
from skrldp.statement._parts import ReportFigures

__all__ = ["plain_sentences"]


_REVEALED = math.log(1e6)  # odds that rise by more than a million are as good as certainty


def plain_sentences(report: ReportFigures, n_warnings: int) -> tuple[str, ...]:
    """Say what is protected, how much a report may reveal, to whom, and what it rests on."""
    promise, proof, beyond = report.promise, report.proof, report.beyond
    secret, others = columns_in_words(promise.sensitive), columns_in_words(promise.nonsensitive)
    too = "Protected as well" if proof.eps_record <= promise.eps else "Not protected"
    rest = f"{too}: {others}." if others else "That is the whole record."
    said = [f"Protected: {secret}. {rest}"]
    if proof.eps_proven > _REVEALED:
        said.append(f"A report may reveal {secret}.")
    else:
        said.append(
            f"One report multiplies the odds of any two values of {secret} by at most "
            f"{odds(proof.eps_proven)}: what was as likely as not is at most "
            f"{_share(proof.eps_proven)} likely afterwards."
        )
    said += [
        _covered(report),
        _further(
            beyond.eps_of_reports[2],
            "Two reports about the same unchanged record",
            f"Two reports about one person may reveal {secret}.",
        ),
        _further(
            beyond.eps_all,
            "To an observer who knows anything else about the person, one report",
            f"An observer who knows more about the person may learn {secret} from one report.",
        ),
    ]
    if n_warnings:
        verb = "limits" if n_warnings == 1 else "limit"
        said.append(f"{n_warnings} warning{'s' * (n_warnings > 1)} below {verb} this.")
    return tuple(said)


def _share(eps: float) -> str:
    """Write the probability that even odds may become, rounded upwards."""
    return f"{at_most(100.0 / (1.0 + math.exp(-eps)), '.3g')} %"


def _further(eps: float, who: str, otherwise: str) -> str:
    if eps > _REVEALED:
        return otherwise
    verb = "multiply" if who.startswith("Two") else "multiplies"
    return f"{who} {verb} these odds by at most {odds(eps)}."


def _covered(report: ReportFigures) -> str:
    """Say for which populations the bound holds."""
    covered, table = report.covered, f"the public table ({report.table.n:,} records)"
    if covered.coverage == "all distributions":
        return "This is proven for every population."
    if covered.coverage == "public distribution":
        return f"This holds only if the population is exactly as {table} says."
    near = f"This is proven for every population near {table}."
    # Where several statements have sets of their own, one of them misses more often.
    beta = report.beyond.beta
    if beta is None:
        return f"{near} How often the true one is not among them is unknown."
    exact = covered.coverage == "finite-sample" and covered.alphabet != "learned"
    how = "at most" if exact and not covered.few_records else "about"
    more = "; more often, as rare values were learned from it" * (covered.alphabet == "learned")
    return (
        f"{near} The true population is not among them for {how} "
        f"{at_most(100.0 * beta, '.3g')} % of such tables{more}. It rests on how the table's "
        "records were drawn: see 'assumes'."
    )
