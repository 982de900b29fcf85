/** Whether all claims of a mechanism were shown, and which, or where the check failed first. */
export interface Verdict {
  readonly holds: boolean;
  /** "holds", or "not shown: " and the first report and pair that fail, or what is malformed. */
  readonly message: string;
  /** A sentence for each statement that was shown. */
  readonly shown: readonly string[];
  /** The fields of claims that cannot be shown from these texts. */
  readonly stated: readonly string[];
}

/**
 * Check that a mechanism is as private as it claims, with integers only. `docs/guide/certificates.md` explains what "holds"
 * means, and what it does not mean. Nothing is thrown: texts that cannot be read are "not shown".
 *
 * @param mechanism The text from `mechanism_.to_json()`; bytes are UTF-8.
 * @param counts The text from `certificate.counts_to_json(joint_)`, the public counts.
 * @param witness The text from `certificate_.witness()`.
 * @param options `eps`: the bound to check, in nats (the claimed bound by default; a string is used exactly as it is
 *   written). `reports`: the number of reports about one record that are seen together; more than one require `eps`.
 */
export function verify(
  mechanism: string | Uint8Array,
  counts: string | Uint8Array,
  witness: string | Uint8Array,
  options?: { eps?: number | string | null; reports?: number },
): Promise<Verdict>;
