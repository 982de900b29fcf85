/** For changed_texts.py: reads a text a line, as JSON, and writes the digest of each; null if it is refused. */
import { readFileSync } from "node:fs";

import { load } from "../javascript/skrldp.js";

const found = [];
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const digest = await load(JSON.parse(line)).then(
    (client) => client.digest,
    (error) => (/mechanism|manifest|out of range/.test(error.message) ? null : `no refusal: ${error.message}`),
  );
  found.push(JSON.stringify(digest));
}
console.log(found.join("\n"));
