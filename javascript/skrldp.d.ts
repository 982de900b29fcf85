/** A category, as in `client.values`. Dates and times are objects with one key, as in the JSON. */
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

/** The distributions for which a claim holds. Numbers are in nats, and null means not stated. */
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
 * What the mechanism's maker claims to have proved about one report, in nats, for an observer who knows some columns, or
 * "all" except the secret. Columns are identified by their positions.
 */
export interface Claim {
  readonly secret: readonly number[];
  readonly known: "all" | readonly number[];
  readonly asked: number | null;
  readonly eps: number;
  readonly attained: number;
  readonly around: Around;
}

/** Values by column name (other names are ignored), or in the order of `columns`. A Date is a moment in UTC. */
export type Value = Category | Date;
/** How numbers or dates become categories: grouped at edges (null for an open end), or rounded at random to knots. */
export type Numbers =
  | { readonly edges: readonly (Category | null)[]; readonly outside?: "clip" }
  | { readonly knots: readonly number[]; readonly outside?: "clip" };
export type Record = { readonly [column: string]: unknown } | readonly Value[];

export interface Client {
  /** Name of each column, in order, and whether it is sensitive. */
  readonly columns: readonly (readonly [Category, boolean])[];
  readonly secrets: readonly Category[];
  readonly values: readonly Category[];
  /** The bins or knots of each column, in the order of `columns`; null if records contain categories. */
  readonly numbers: readonly (Numbers | null)[];
  /** Names of the reports: report y is `symbols[y]`. */
  readonly symbols: readonly Category[];
  /** Whether all columns are needed, or only those that are not sensitive. */
  readonly observe: "all" | "nonsensitive";
  readonly encode: "symbol";
  /** The first claim is for an observer who knows nothing else. */
  readonly claims: readonly Claim[] | null;
  /** The claimed bound on the leakage of one report, in nats. */
  readonly eps: number | null;
  /** SHA-256 of the canonical JSON, in hexadecimal: the server's `mechanism_.digest`. */
  readonly digest: string;
  readonly isPermanent: boolean;
  /**
   * Report one record. A record that cannot be reported raises an error.
   *
   * @param options `id` identifies the person whom the record is about. It is required for permanent reports, and not allowed otherwise.
   * @returns The report y, the number of a symbol, which may leave the device.
   */
  report(record: Record, options?: { id?: string | Uint8Array | bigint | number }): Promise<number>;
}

/** The two numbers that may leave the device instead of a record; they belong together. */
export interface BlockReport {
  /** The number of the block: its columns are `client.blocks[block]`. */
  readonly block: number;
  /** The number of a symbol of the block's mechanism: `client.mechanisms[block].symbols[report]`. */
  readonly report: number;
}

/** A client of a manifest: each person reports one block of columns. */
export interface BlockClient {
  /** Name of each column, and whether it is sensitive. The columns of the secret are first. Every block needs all columns. */
  readonly columns: readonly (readonly [Category, boolean])[];
  readonly secrets: readonly Category[];
  /** The categories of each column that is not sensitive, in the order of `columns`. */
  readonly categories: readonly (readonly Category[])[];
  /** The bins or knots of each column, in the order of `columns`; null if records contain categories. */
  readonly numbers: readonly (Numbers | null)[];
  /** Names of the columns in each block, without those of the secret. */
  readonly blocks: readonly (readonly Category[])[];
  /** The probability of each block, which does not depend on the record. */
  readonly shares: readonly number[];
  /** The properties of the mechanism of each block. */
  readonly mechanisms: readonly Omit<Client, "encode" | "digest" | "isPermanent" | "report">[];
  readonly observe: "all" | "nonsensitive";
  readonly encode: "symbol";
  /** The claimed bound on the leakage of one report, in nats, for the worst block. */
  readonly eps: number | null;
  /** SHA-256 of the canonical JSON, in hexadecimal: the server's `manifest_.digest`. */
  readonly digest: string;
  readonly isPermanent: boolean;
  /** Report one record by column name (an array only if the names are positions), like `Client.report`. All permanent reports of a person are about the same block. */
  report(record: Record, options?: { id?: string | Uint8Array | bigint | number }): Promise<BlockReport>;
}

/**
 * Load a mechanism, or a manifest of several, that reports records.
 *
 * @param text The text that `mechanism_.to_json()` or `manifest_.to_json()` returned; bytes are UTF-8. Only the client of a
 *   manifest has `blocks`, so `"blocks" in client` distinguishes the two.
 * @param options `permanentKey`: a secret key of at least 16 bytes, which makes reports permanent. `digest`: the digest that
 *   the mechanism or manifest must have, in hexadecimal.
 * @throws If the text does not follow the format exactly, has a different digest, or if there is no WebCrypto.
 */
export function load(
  text: string | Uint8Array,
  options?: { permanentKey?: Uint8Array; digest?: string },
): Promise<Client | BlockClient>;
