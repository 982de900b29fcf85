/** For changed_proofs.py: reads a proof a line, as JSON, and writes what the checker in JavaScript says of each. */
import { readFileSync } from "node:fs";

import { verify } from "../javascript/verify.js";

const found = [];
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [mechanism, counts, witness, eps, reports] = JSON.parse(line);
  const { message, shown } = await verify(mechanism, counts, witness, { eps, reports });
  found.push(JSON.stringify([message.replace(/malformed \(\w+\)/, "malformed"), shown]));
}
console.log(found.join("\n"));
