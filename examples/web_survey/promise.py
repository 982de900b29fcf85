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
    eps = math.ceil(1e4 * manifest.eps) / 1e4
    listed = [
        "One report changes the odds of any two answers to the hidden questions at most "
        f"{factor(manifest.eps)} times (ε\u00a0=\u00a0{eps:.4f}).",
        _where_proven(manifest),
    ]
    known = eps_given_others(manifest)
    if known is not None:
        listed.append(
            "For somebody who knows all other answers of a person it changes them at most "
            f"{factor(known)} times, whatever the true distribution is."
        )
    return [
        *listed,
        "Only the hidden answers are protected. A report is also about one of the other questions, "
        "drawn by chance, and may tell the answer.",
        "The promise is for one report about each person: an invitation is good for one.",
    ]


def _where_proven(manifest):
    """Say for which distributions of the answers the first statement is proven."""
    claims = manifest.claims
    sets = [around for part in claims.parts for around in part.sets]
    if not sets:
        return "This is proven, whatever the true distribution of the answers is."
    if claims.beta is None:
        return f"This is proven for {claims.main.around.describe()}."
    given = claims.values_from in ("declared", "frequent")
    unless = "" if given else ", unless the possible answers were learned from these records"
    about = "at most" if all(each.rule == "finite-sample" for each in sets) else "about"
    return (
        f"This is proven for all distributions of the answers in sets around those of "
        f"{sets[0].n_records:,} public records. The probability that any set misses the true "
        f"distribution is {about} {claims.beta:.3g}{unless}."
    )
