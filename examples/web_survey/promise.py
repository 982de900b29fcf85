"""The promise to those who answer, in the words of the claims."""

import math

from skrldp.claims_in_words import five_sentences, odds


def statements(manifest):
    """List the promises, for the page of results."""
    others = [name for name, hidden in manifest.columns if not hidden]
    n_records = manifest.claims.main.around.n_records or 0  # unknown if it does not matter
    return [
        *five_sentences(manifest.claims, others, False, n_records),
        "A report also depends on the answer to one other question, which is drawn at random, and "
        "may reveal that answer.",
        "The promise covers one report about each person, and an invitation is valid for one.",
    ]


def promise(manifest):
    """Return the sentences and factors about one report that the questionnaire shows."""
    claims = manifest.claims
    _, bound, observers, *_ = statements(manifest)
    return {
        "hidden": f"{bound} {observers}",
        "others": "Answers that are not marked as hidden are not protected: the number may reveal "
        "the one that was drawn.",
        "times": odds(claims.eps),
        "times_known": None if math.isinf(claims.eps_worst_case) else odds(claims.eps_worst_case),
    }
