/** A category as `client.values` and the like have it. Moments are objects of one key, as in the JSON. */
export type Category =
  | string
  | number
  | bigint
  | boolean
  | null
  | { readonly date: string }
  | { readonly time: string }
  | { readonly datetime: string }
  | { readonly microseconds: number | bigint }
  | readonly Category[];

/** The set of distributions that a bound is proven for; figures are in nats. */
export type Distributions =
  | "all"
  | { readonly set: "renyi"; readonly alpha: number; readonly radius: number; readonly rule: string; readonly beta: number | null; readonly n_values?: number }
  | { readonly set: "likelihood-ratio"; readonly single: number; readonly pair: number; readonly drift: number; readonly rule: string; readonly beta: number | null; readonly n_values?: number };

interface Bound {
  readonly eps_requested: number;
  readonly eps: number;
  readonly eps_attained: number;
  readonly alphabet: "declared" | "split" | "frequent" | "learned" | null;
  readonly distributions: Distributions;
}

/** What the mechanism's maker claims to have proven, in nats; null is what is not stated. */
export interface Guarantee extends Bound {
  readonly eps_all: number | null;
  readonly eps_given_u: number | null;
  readonly eps_pairs: readonly (readonly (number | null)[])[] | null;
  readonly n_records: number | bigint | null;
  readonly further: readonly (Bound & { readonly secret: readonly number[]; readonly known: readonly number[] })[] | null;
}

/** Values by column name, of which others are ignored, or in the order of `columns`. A Date is a moment in UTC. */
export type Value = Category | Date;
export type Record = { readonly [column: string]: unknown } | readonly Value[];

export interface Client {
  /** Name of each column, in order, and whether it is sensitive. */
  readonly columns: readonly (readonly [Category, boolean])[];
  readonly secrets: readonly Category[];
  readonly values: readonly Category[];
  /** Names of the reports: report y is `symbols[y]`. */
  readonly symbols: readonly Category[];
  /** Whether all columns are needed, or only those that are not sensitive. */
  readonly observe: "all" | "nonsensitive";
  readonly encode: "symbol";
  readonly guarantee: Guarantee | null;
  /** The bound on the leakage of one report that is claimed, in nats. */
  readonly eps: number | null;
  /** SHA-256 of the canonical JSON, in hexadecimal: the server's `mechanism_.digest`. */
  readonly digest: string;
  readonly isPermanent: boolean;
  /**
   * Report one record; what cannot be reported is refused with an error.
   *
   * @param options `id` says whom the record is about: required for permanent reports, and not allowed otherwise.
   * @returns The report y, the number of a symbol: what may leave the device.
   */
  report(record: Record, options?: { id?: string | Uint8Array | bigint | number }): Promise<number>;
}

/**
 * Load a mechanism that reports records.
 *
 * @param text What `mechanism_.to_json()` wrote; bytes are UTF-8.
 * @param options `memoize`: a secret key of at least 16 bytes, which makes reports permanent. `digest`: the digest that
 *   the mechanism must have, in hexadecimal.
 * @throws If the text does not follow the format exactly, has another digest, or there is no WebCrypto.
 */
export function load(
  text: string | Uint8Array,
  options?: { memoize?: Uint8Array; digest?: string },
): Promise<Client>;
