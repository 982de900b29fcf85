"""``skrldp certify``: whether a mechanism is as private as it should be, from its public table."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

from typer import Option

from skrldp.cli import _options as o
from skrldp.cli._errors import FAILED, CommandError
from skrldp.cli._outputs import new_file
from skrldp.cli._progress import done, tell

__all__ = ["certify"]


def certify(
    mechanism: o.MechanismFile,
    public: o.PublicTable,
    *,
    eps: Annotated[
        float | None,
        o.eps("What the mechanism should keep. What its design asked for, if not given."),
    ] = None,
    eps_all: o.EpsAll = None,
    uncertainty: o.Set = None,
    beta: o.Beta = None,
    reports: Annotated[
        int,
        Option(
            "--reports",
            "-k",
            metavar="K",
            min=1,
            help="How many reports about the same record are seen together.",
        ),
    ] = 1,
    counts: o.Counts = None,
    weights: o.Weights = None,
    strata: o.Strata = None,
    clusters: o.Clusters = None,
    nest: o.Nest = False,
    singleton: o.Singleton = None,
    replicate_weights: o.ReplicateWeights = None,
    scale: o.Scale = None,
    max_weight: o.MaxWeight = None,
    stratum_sizes: o.StratumSizes = None,
    witness: o.Witness = None,
    public_counts: o.PublicCounts = None,
    in_format: o.InFormat = None,
    delimiter: o.Delimiter = None,
    json: o.Json = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> int:
    """Prove how private a mechanism is, from the public table.

    The bound is for the set of distributions that the mechanism states, fitted to this table,
    unless --uncertainty or --beta say otherwise. If the table is a survey, give the options with
    which the mechanism was designed, and --beta if it was not 0.05: its set is made anew. The exit
    code is 1 if the bound is above --eps; no proof is written then.
    """
    from skrldp._pages import as_json, text_page
    from skrldp.cli._formats import Asked, check_delimiter, kind_of
    from skrldp.cli._mechanism import read_mechanism
    from skrldp.cli._proofs import figures_of, lines_of, proof_texts, proofs_of
    from skrldp.cli._public import public_counts as counted
    from skrldp.cli._sets import asked_set
    from skrldp.cli._surveys import survey_joint, survey_of

    own = read_mechanism(
        mechanism,
        "in Python, certify the mechanism of each block, those of Manifest.from_json(text)"
        ".mechanisms, with its columns of the public table.",
    )
    claim = own.guarantee
    names = [name for name in (witness, public_counts) if name is not None]
    if len(set(names)) < len(names):
        raise CommandError("the witness and the counts need different names.")
    survey = survey_of(
        counts,
        max_weight,
        weights=weights,
        strata=strata,
        clusters=clusters,
        nest=nest or None,
        singleton=singleton,
        replicate_weights=replicate_weights,
        scale=scale,
        stratum_sizes=stratum_sizes,
    )
    if names and (uncertainty is not None or beta is not None or survey is not None):
        raise CommandError(
            "--witness and --public-counts are for what the mechanism states: leave out "
            "--uncertainty, --beta and the options of surveys."
        )
    around = asked_set(uncertainty, beta, survey, claim)
    if around is None:
        raise CommandError(
            f"{mechanism} states no set of distributions; say which, with --uncertainty."
        )
    if eps is None:
        if claim is None:
            raise CommandError(f"{mechanism} states no eps; say what it should keep, with --eps.")
        eps = claim.eps_requested if reports == 1 else claim.bound_of(reports)
    kind = kind_of(public, asked := Asked(in_format, delimiter))
    check_delimiter(asked, kind)
    if survey is None:
        joint = counted(own, public, kind, counts)
    else:
        joint = survey_joint(own, public, kind, survey)
    tell("proving")
    proofs = proofs_of(own, claim, joint, around, eps, reports)
    found = proofs[0][1]
    kept = all(proof.eps <= wanted for _, proof, wanted in proofs)
    if eps_all is not None:
        kept = kept and found.eps_all <= eps_all
    texts = proof_texts(own, joint, found, witness, public_counts) if kept else {}
    with ExitStack() as stack:
        inputs = [mechanism, public]
        files = {
            name: stack.enter_context(new_file(name, force=force, inputs=inputs)) for name in texts
        }
        for name, file in files.items():
            file.write(texts[name].encode())
    done()
    if json:
        print(as_json(figures_of(own, joint, proofs, eps_all, reports, kept)))
    else:
        lines = lines_of(joint, proofs, eps_all, claim, kept)
        print(text_page(f"Certificate of {mechanism}", lines))
    return 0 if kept else FAILED
