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

/** The distributions for which a claim holds; figures are in nats, and null is what is not stated. */
export type Around =
  | "all"
  | (({ readonly set: "renyi"; readonly alpha: number; readonly radius: number }
      | { readonly set: "likelihood-ratio"; readonly single: number; readonly pair: number; readonly drift: number }) & {
      readonly rule: string;
      readonly beta: number | null;
      readonly n_records: number | bigint | null;
      readonly n_values: number | null;
      readonly values_from: "declared" | "frequent" | "learned" | null;
    });

/**
 * What the mechanism's maker claims to have proven of one report, in nats, to an observer who knows some columns, or
 * "all" but the secret. Columns are given by their places.
 */
export interface Claim {
  readonly secret: readonly number[];
  readonly known: "all" | readonly number[];
  readonly asked: number | null;
  readonly eps: number;
  readonly attained: number;
  readonly around: Around;
}

/** Values by column name, of which others are ignored, or in the order of `columns`. A Date is a moment in UTC. */
export type Value = Category | Date;
/** How numbers or dates become categories: cut at edges, null for an open end, or rounded at random to knots. */
export type Numbers =
  | { readonly edges: readonly (Category | null)[]; readonly outside?: "clip" }
  | { readonly knots: readonly number[]; readonly outside?: "clip" };
export type Record = { readonly [column: string]: unknown } | readonly Value[];

export interface Client {
  /** Name of each column, in order, and whether it is sensitive. */
  readonly columns: readonly (readonly [Category, boolean])[];
  readonly secrets: readonly Category[];
  readonly values: readonly Category[];
  /** The bins or knots of each column, in the order of `columns`; null where records have categories. */
  readonly numbers: readonly (Numbers | null)[];
  /** Names of the reports: report y is `symbols[y]`. */
  readonly symbols: readonly Category[];
  /** Whether all columns are needed, or only those that are not sensitive. */
  readonly observe: "all" | "nonsensitive";
  readonly encode: "symbol";
  /** The first is about an observer who knows nothing else. */
  readonly claims: readonly Claim[] | null;
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

/** What may leave the device in place of a record of a manifest: both, always together. */
export interface BlockReport {
  /** The number of the block: its columns are `client.blocks[block]`. */
  readonly block: number;
  /** The number of a symbol of the block's mechanism: `client.mechanisms[block].symbols[report]`. */
  readonly report: number;
}

/** A client of a manifest: each person reports one block of columns. */
export interface BlockClient {
  /** Name of each column, those of the secret first, and whether it is sensitive. All are needed, whatever the block. */
  readonly columns: readonly (readonly [Category, boolean])[];
  readonly secrets: readonly Category[];
  /** The categories of each column that is not sensitive, in the order of `columns`. */
  readonly categories: readonly (readonly Category[])[];
  /** The bins or knots of each column, in the order of `columns`; null where records have categories. */
  readonly numbers: readonly (Numbers | null)[];
  /** Names of the columns in each block, without those of the secret. */
  readonly blocks: readonly (readonly Category[])[];
  /** How probable each block is, whatever the record. */
  readonly shares: readonly number[];
  /** What is stated of the mechanism of each block. */
  readonly mechanisms: readonly Omit<Client, "encode" | "digest" | "isPermanent" | "report">[];
  readonly observe: "all" | "nonsensitive";
  readonly encode: "symbol";
  /** The bound on the leakage of one report that is claimed, in nats: that of the worst block. */
  readonly eps: number | null;
  /** SHA-256 of the canonical JSON, in hexadecimal: the server's `manifest_.digest`. */
  readonly digest: string;
  readonly isPermanent: boolean;
  /** Report one record by column name (an array only if the names are places), as `Client.report`. A person's permanent reports are of one block, whatever the record. */
  report(record: Record, options?: { id?: string | Uint8Array | bigint | number }): Promise<BlockReport>;
}

/**
 * Load a mechanism, or a manifest of several, that reports records.
 *
 * @param text What `mechanism_.to_json()` or `manifest_.to_json()` wrote; bytes are UTF-8. Only the client of a manifest
 *   has `blocks`: `"blocks" in client` tells which it is.
 * @param options `permanentKey`: a secret key of at least 16 bytes, which makes reports permanent. `digest`: the digest that
 *   the mechanism or manifest must have, in hexadecimal.
 * @throws If the text does not follow the format exactly, has another digest, or there is no WebCrypto.
 */
export function load(
  text: string | Uint8Array,
  options?: { permanentKey?: Uint8Array; digest?: string },
): Promise<Client | BlockClient>;
