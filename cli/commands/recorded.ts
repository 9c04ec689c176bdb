/**
 * `npm run recorded -- [TOPIC…] [--content]`: replays the recorded exchanges against the simulated server and
 * lists what does not match: status and reason, or with --content every word. Last comes the share of all.
 */
import { parseArgs } from "node:util";
import { topics } from "../../sim/recorded/exchanges.ts";
import { judge, type Judgement } from "../../sim/recorded/judge.ts";
import { replay } from "../../sim/recorded/replay.ts";
import { recordedTarget } from "../../sim/recorded/target.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { content: { type: "boolean", default: false } },
});
const unknown = positionals.filter((name) => !topics.some(({ topic }) => topic === name));
if (unknown.length > 0) {
  console.error(`recorded: no topic ${unknown.join(", ")}; topics: ${topics.map(({ topic }) => topic).join(", ")}`);
  process.exitCode = 2;
} else {
  const asked = topics.filter(({ topic }) => positionals.length === 0 || positionals.includes(topic));
  printSum(asked.flatMap(print));
}

function print(topic: (typeof topics)[number]): readonly Judgement[] {
  const judgements = replay(topic, recordedTarget(topic)).map(judge);
  const count = (same: "sameOutcome" | "sameContent"): string =>
    `${judgements.filter((judgement) => judgement[same]).length}/${judgements.length}`;
  console.log(`${topic.topic}: outcome ${count("sameOutcome")}, content ${count("sameContent")}`);
  for (const { id, send, expected, actual, difference, sameOutcome, sameContent } of judgements) {
    if (!sameOutcome) console.log(`  ${id}: ${expected}, but ${actual}\n    ${send}`);
    else if (values.content && !sameContent) console.log(`  ${id}: ${difference}\n    ${send}`);
  }
  return judgements;
}

function printSum(judgements: readonly Judgement[]): void {
  const share = (same: "sameOutcome" | "sameContent"): string => {
    const count = judgements.filter((judgement) => judgement[same]).length;
    return `${count}/${judgements.length} (${((100 * count) / judgements.length).toFixed(1)} %)`;
  };
  console.log(`overall: outcome ${share("sameOutcome")}, content ${share("sameContent")}`);
}
