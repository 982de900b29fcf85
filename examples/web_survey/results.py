"""Estimates from stored reports, and what was promised to those who sent them, in plain words."""

import math

from skrldp import FrequencyEstimator

NEEDED = 100  # reports, for the first estimates
CONFIDENCE = 0.95


def factor(eps):
    """Write exp(eps) with two decimal places, never less than it is."""
    return f"{math.ceil(100 * math.exp(eps) * (1 + 1e-12)) / 100:.2f}"


def promise(guarantee):
    """Say what one report tells: the sentences and the factors that the questionnaire shows."""
    hidden = (
        "It changes the odds of one hidden answer against another at most "
        f"{factor(guarantee.eps)} times"
    )
    if guarantee.eps_given_u is None:
        hidden += ". Whoever knows your other answers may learn more."
    else:
        hidden += (
            f", and at most {factor(guarantee.eps_given_u)} times for somebody who knows your "
            "other answers. So whatever number comes up, it could have come up with any "
            "hidden answer."
        )
    others = "Answers that are not marked as hidden are not protected: the number may tell them."
    known = guarantee.eps_given_u
    return {
        "hidden": hidden,
        "others": others,
        "times": factor(guarantee.eps),
        "times_known": None if known is None else factor(known),
    }


def statements(guarantee):
    """List what was promised, for the page of results."""
    eps = math.ceil(1e4 * guarantee.eps) / 1e4
    listed = [
        "One report changes the odds of any two answers to the hidden questions at most "
        f"{factor(guarantee.eps)} times (ε\u00a0=\u00a0{eps:.4f})."
    ]
    around = guarantee.distributions
    if guarantee.for_all_distributions:
        listed.append("This is proven, whatever the true distribution of the answers is.")
    elif around.beta is None:
        listed.append(f"This is proven for {guarantee.describe_distributions()}.")
    else:
        given = guarantee.alphabet in ("declared", "split", "frequent")
        unless = "" if given else ", unless the possible answers were learned from these records"
        about = "at most" if around.rule == "finite-sample" else "about"
        listed.append(
            f"This is proven for all distributions of the answers in a set around that of "
            f"{guarantee.n_records:,} public records. The probability that the set misses the true "
            f"distribution is {about} {around.beta:g}{unless}."
        )
    if guarantee.eps_given_u is not None:
        listed.append(
            "For somebody who knows all other answers of a person it changes them at most "
            f"{factor(guarantee.eps_given_u)} times, whatever the true distribution is."
        )
    listed.append(
        "Only the hidden answers are protected. A report may tell the other answers of a person."
    )
    listed.append(
        "The promise is for one report about each person: a browser sends one, and never another."
    )
    return listed


def results(survey, mechanism, counts):
    """Estimate the share of every answer.

    Parameters
    ----------
    survey : dict
        Title and questions.
    mechanism : Mechanism
        What made the reports.
    counts : list of int
        How many reports there are of each symbol.

    Returns
    -------
    dict
        For JSON. With fewer than `NEEDED` reports, or where the reports cannot tell, there are no
        estimates.
    """
    found = {
        "title": survey["title"],
        "reports": sum(counts),
        "needed": NEEDED,
        "confidence": CONFIDENCE,
        "questions": [],
        "privacy": statements(mechanism.guarantee),
        "digest": mechanism.digest,
    }
    if found["reports"] < NEEDED:
        return found
    estimator = FrequencyEstimator(mechanism, method="ml", encode="symbol")
    estimator.fit(range(len(counts)), sample_weight=counts)
    for asked in survey["questions"]:
        estimate = estimator.marginal(asked["column"])
        ends = estimate.confidence_interval(CONFIDENCE)
        shares = [
            {
                "answer": answer,
                "estimate": float(estimate.frequencies[place]),
                "lower": float(ends[place, 0]),
                "upper": float(ends[place, 1]),
            }
            for place, answer in enumerate(estimate.categories)
        ]
        listed = asked.get("options") or [group["name"] for group in asked["groups"]]
        shares.sort(key=lambda share: listed.index(share["answer"]))
        question = {name: asked[name] for name in ("column", "text", "sensitive")}
        found["questions"].append({**question, "shares": shares})
    return found
