import { expect, it } from "vitest";
import { startedAgentBugs } from "./started-agent-bugs.ts";
import { serverBugRows } from "./server-bugs.ts";
import { unplantedBugs } from "./unplanted.ts";

const planted = Object.entries(serverBugRows);
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** `npx vitest run sim/planted -u` writes the document anew. */
it("docs/faults.md tells of every published bug: planted, or why not", async () => {
  const always = planted.filter(([, { byLuck }]) => byLuck === undefined);
  const byLuck = planted.filter(([, row]) => row.byLuck === true);
  const rowsOf = (bugs: typeof planted) =>
    bugs.map(([name, { symptom, source, gate, profile }]) => {
      const gated = gate === undefined ? symptom : `${symptom} With the feature gate \`${gate}\` on.`;
      const seen = profile === undefined ? gated : `${gated} It breaks the law of \`${profile}\` alone.`;
      return [`\`${name}\``, seen, source] as const;
    });
  const started = Object.entries(startedAgentBugs);
  const head = ["bug", "what a client sees", "modelled on"];
  const document = [
    "# Planted bugs",
    "Each is a published bug of a server of this kind, or where it says so a common mistake, and can be switched on in the embedded server (`--fault NAME`, in `conform` and `serve`). `touchstone conform --faults all` tells which check finds which, after how many programs and in what time, with the feature gates on that they need; CI fails when one is not found. With `--rarity N` a bug shows in one request of N: drawn from the seed when the request comes, and held to its answer.",
    `## Seen at a URL whenever it is asked for: ${always.length}`,
    table(head, rowsOf(always)),
    `## Seen at a URL by luck: ${byLuck.length}`,
    "They take a cache that lags, writers that race or a version that is old. The embedded server then has that, too.",
    table(head, rowsOf(byLuck)),
    `## Of an agent that is started: ${started.length}`,
    "`touchstone agent --fault NAME` has them. A requirement behind one is what `conform --agent` then says is broken; of the others a server has to ask or to sign, and a test of the agent finds them.",
    table(
      ["bug", "what is wrong", "found by"],
      started.map(([name, { symptom, foundBy }]) => [`\`${name}\``, symptom, `\`${foundBy}\``]),
    ),
    `## Not planted: ${unplantedBugs.length}`,
    table(
      ["what a client sees", "reported in", "why not"],
      unplantedBugs.map(({ symptom, source, why }) => [symptom, source, why]),
    ),
  ].join("\n\n");
  await expect(`${document}\n`).toMatchFileSnapshot("../../docs/faults.md");
});

it("none is planted and unplanted, and none is there twice", () => {
  const reports = unplantedBugs.map(({ source }) => source);
  expect(planted.filter(([, { source }]) => reports.includes(source))).toEqual([]);
  expect(new Set(reports).size).toBe(reports.length);
});
