"""The first part of a privacy report: sentences for who decides on a survey, without formulas."""

from skrldp._params import at_most
from skrldp._sentences import columns_in_words
from skrldp.statement._parts import ReportFigures

__all__ = ["plain_sentences"]


def plain_sentences(report: ReportFigures, n_warnings: int) -> tuple[str, ...]:
    """Say what is protected, how much a report may reveal, to whom, and what it rests on."""
    promise, proof = report.promise, report.proof
    secret, others = columns_in_words(promise.sensitive), columns_in_words(promise.nonsensitive)
    too = "Protected as well" if proof.eps_record <= promise.eps else "Not protected"
    rest = f"{too}: {others}." if others else "That is the whole record."
    said = [f"Protected: {secret}. {rest}"]
    one, two, more = report.beyond.claims.plain()
    said += [one, _covered(report), two, more]
    if n_warnings:
        verb = "limits" if n_warnings == 1 else "limit"
        said.append(f"{n_warnings} warning{'s' * (n_warnings > 1)} below {verb} this.")
    return tuple(said)


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
