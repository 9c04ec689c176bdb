/**
 * `npm run recorded -- [TOPIC…] [--content]`: replays the recorded exchanges against the simulated server and
 * lists what does not match: status and reason, or with --content every word.
 */
import { parseArgs } from "node:util";
import { topics } from "../sim/apiserver/recorded/exchanges.ts";
import { judge } from "../sim/apiserver/recorded/judge.ts";
import { replay } from "../sim/apiserver/recorded/replay.ts";
import { recordedTarget } from "../sim/apiserver/recorded/target.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { content: { type: "boolean", default: false } },
});
const unknown = positionals.filter((name) => !topics.some(({ topic }) => topic === name));
if (unknown.length > 0) {
  console.error(`recorded: no topic ${unknown.join(", ")}; topics: ${topics.map(({ topic }) => topic).join(", ")}`);
  process.exitCode = 2;
} else {
  for (const topic of topics) if (positionals.length === 0 || positionals.includes(topic.topic)) print(topic);
}

function print(topic: (typeof topics)[number]): void {
  const judgements = replay(topic, recordedTarget(topic)).map(judge);
  const count = (same: "sameOutcome" | "sameContent"): string =>
    `${judgements.filter((judgement) => judgement[same]).length}/${judgements.length}`;
  console.log(`${topic.topic}: outcome ${count("sameOutcome")}, content ${count("sameContent")}`);
  for (const { id, send, expected, actual, difference, sameOutcome, sameContent } of judgements) {
    if (!sameOutcome) console.log(`  ${id}: ${expected}, but ${actual}\n    ${send}`);
    else if (values.content && !sameContent) console.log(`  ${id}: ${difference}\n    ${send}`);
  }
}
