/** Whether all that a mechanism claims was shown, and what, or where it failed first. */
export interface Verdict {
  readonly holds: boolean;
  /** "holds", or "not shown: " and the first report and pair that fail, or what is malformed. */
  readonly message: string;
  /** A sentence for each statement that was shown. */
  readonly shown: readonly string[];
  /** The fields of claims that nobody can show from these texts. */
  readonly stated: readonly string[];
}

/**
 * Check that a mechanism is as private as it claims, with integers alone. What "holds" means and what it does not is
 * in `docs/guide/certificates.md`. Nothing is thrown: what cannot be read is not shown.
 *
 * @param mechanism What `mechanism_.to_json()` wrote; bytes are UTF-8.
 * @param counts What `certificate.counts_to_json(joint_)` wrote: the public counts.
 * @param witness What `certificate_.witness()` wrote.
 * @param options `eps`: what reports should keep, in nats (what is claimed if not given; a text is taken as it is
 *   written). `reports`: how many reports about one record are seen together; more than one need `eps`.
 */
export function verify(
  mechanism: string | Uint8Array,
  counts: string | Uint8Array,
  witness: string | Uint8Array,
  options?: { eps?: number | string | null; reports?: number },
): Promise<Verdict>;
