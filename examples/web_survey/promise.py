"""What was promised to those who answer, in plain words."""

import math


def factor(eps):
    """Write exp(eps) with two decimal places, never less than it is."""
    return f"{math.ceil(100 * math.exp(eps) * (1 + 1e-12)) / 100:.2f}"


def eps_given_others(manifest):
    """The greatest leakage to somebody who knows the other answers; None if it is not bounded."""
    bound = manifest.claims.eps_given_u
    return None if math.isinf(bound) else bound


def promise(manifest):
    """Say what one report tells: the sentences and the factors that the questionnaire shows."""
    known = eps_given_others(manifest)
    hidden = (
        "It changes the odds of one hidden answer against another at most "
        f"{factor(manifest.eps)} times"
    )
    if known is None:
        hidden += ". Whoever knows your other answers may learn more."
    else:
        hidden += (
            f", and at most {factor(known)} times for somebody who knows your "
            "other answers. So whatever number comes up, it could have come up with any "
            "hidden answer."
        )
    return {
        "hidden": hidden,
        "others": "Answers that are not marked as hidden are not protected: the number may tell "
        "the one that was drawn.",
        "times": factor(manifest.eps),
        "times_known": None if known is None else factor(known),
    }


def statements(manifest):
    """List what was promised, for the page of results."""
    others = [name for name, hidden in manifest.columns if not hidden]
    n_records = manifest.claims.main.around.n_records or 0  # not told where it plays no part
    return [
        *manifest.claims.plain(others, False, n_records),
        "A report is also about one of the other questions, drawn by chance, and may tell the "
        "answer.",
        "The promise is for one report about each person: an invitation is good for one.",
    ]
