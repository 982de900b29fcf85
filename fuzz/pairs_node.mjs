/** For pairs_node.py: reads a proof or a mechanism a line, as JSON, and writes what JavaScript says of each. */
import { readFileSync } from "node:fs";

import { load } from "../javascript/skrldp.js";
import { verify } from "../javascript/verify.js";

const ask = {
  async proof(mechanism, counts, witness, eps, reports) {
    const { message, shown } = await verify(mechanism, counts, witness, { eps, reports });
    return [message, shown];
  },
  async client(text, records, key) {
    const client = await load(text, { permanentKey: Uint8Array.from(key) });
    const drawn = [];
    for (const [record, id] of records) {
      const report = await client.report(record, { id }).catch((error) => (error.name === "Error" ? null : `${error}`));
      drawn.push(typeof report === "object" && report !== null ? [report.block, report.report] : report);
    }
    const parts = client.mechanisms ?? [client];
    const { digest, eps, observe } = client;
    return { digest, eps, observe, claims: parts.map((one) => one.claims), reports: drawn };
  },
};
const found = [];
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [kind, ...given] = JSON.parse(line);
  found.push(JSON.stringify(await ask[kind](...given), (_, it) => (it === null ? null : typeof it === "bigint" ? Number(it) : it)));
}
console.log(found.join("\n"));
