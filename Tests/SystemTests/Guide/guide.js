"use strict";
// Lives as an app does that follows the guide of mobile clients, with one client, and says of each scenario how it went.
//
//     node guide.js URL OUTBOX axios|fetch|curl orders|errors|lateness [DOCUMENT]

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { client } = require("./clients");
const scenarios = require("./scenarios");

const [url, outbox, kind, part, document] = process.argv.slice(2);

/** The code of the newest delivery to a recipient, once there have been so many. */
async function delivered(email, count) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 10))) {
    const lines = fs.existsSync(outbox) ? fs.readFileSync(outbox, "utf8").split("\n").slice(0, -1) : [];
    const codes = lines.map((line) => JSON.parse(line)).filter((delivery) => delivery.to === email && delivery.code);
    if (codes.length >= count) return codes[codes.length - 1].code;
  }
  throw new Error(`${count} codes never came`);
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "guide-"));
  let failures = 0;
  try {
    const calls = client(kind, url, document, folder);
    let number = 0;
    for (const [name, scenario] of Object.entries(scenarios[part])) {
      number++;
      const email = `${part}.${kind}.${number}@latchkey-test.example`;
      // Nobody uses up another one's limits.
      calls.from(`198.18.${["axios", "fetch", "curl"].indexOf(kind)}.${Object.keys(scenarios).indexOf(part) * 32 + number}`);
      try {
        await scenario({ ...calls, email, code: (count = 1) => delivered(email, count) });
        console.log(`ok: ${name}`);
      } catch (error) {
        failures++;
        console.log(`not ok: ${name}: ${error.stack}`);
      }
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
  process.exitCode = failures ? 1 : 0;
}

main();
