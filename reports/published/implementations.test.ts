import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const counts = z.partialRecord(z.enum(["passed", "failed", "inconclusive", "deviation", "unsupported"]), z.int());

/** One judged implementation, as a file in this folder tells it. */
const published = z.strictObject({
  implementation: z.string(),
  version: z.string(),
  "ran-with": z.string(),
  profile: z.enum(["svc", "kubernetes"]),
  seed: z.int(),
  judged: z.string(),
  checks: z.int(),
  programs: z.int(),
  exchanges: z.int(),
  totals: counts,
  /** `since`: what was made of the finding. */
  failed: z.array(
    z.strictObject({ requirement: z.string(), check: z.string(), expected: z.string(), since: z.string() }),
  ),
  inconclusive: z.array(z.string()),
  deviations: z.array(z.string()),
  stale: z.array(z.string()),
  areas: z.record(z.string(), counts),
});

const folder = new URL(".", import.meta.url);
const results = readdirSync(folder)
  .filter((name) => name.endsWith(".yaml"))
  .sort()
  .map((name) => published.parse(parse(readFileSync(new URL(name, folder), "utf8"))));

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** `npx vitest run reports/published -u` writes the document anew. */
it("docs/implementations.md shows the published results side by side", async () => {
  const places = results.map((_, index) => String(index + 1));
  const areas = [...new Set(results.flatMap((one) => Object.keys(one.areas)))];
  const shown = (row: z.infer<typeof counts> | undefined): string => {
    const { passed = 0, failed = 0, inconclusive = 0, deviation = 0 } = row ?? {};
    const judged = passed + failed + inconclusive + deviation;
    if (judged === 0) return "·";
    const rest = [
      failed > 0 ? `${failed} failed` : "",
      inconclusive > 0 ? `${inconclusive} open` : "",
      deviation > 0 ? `${deviation} declared` : "",
    ]; // prettier-ignore
    return [`${passed} of ${judged}`, ...rest.filter((text) => text !== "")].join(", ");
  };
  const document = [
    "# Implementations",
    "What the suite said of servers that are not ours. Each run was of the full level, by URL, with the target told to forget by a hook; `·` is an area of which the target claims nothing. A run says what was found on its day: requirements have been added since, and what was found wrong with the suite itself has been mended, as the last table tells.",
    table(
      [
        "",
        "implementation",
        "version",
        "with",
        "profile",
        "judged",
        "passed",
        "failed",
        "inconclusive",
        "declared",
        "unsupported",
      ],
      results.map(({ totals, ...one }, index) => [
        String(index + 1),
        one.implementation,
        one.version,
        one["ran-with"],
        `\`${one.profile}\``,
        one.judged,
        ...(["passed", "failed", "inconclusive", "deviation", "unsupported"] as const).map((name) =>
          String(totals[name] ?? 0),
        ),
      ]), // prettier-ignore
    ),
    "## By area",
    table(
      ["area", ...places],
      areas.map((area) => [area, ...results.map((one) => shown(one.areas[area]))]),
    ),
    "## What failed, and what came of it",
    table(
      ["run", "requirement", "expected", "since"],
      results.flatMap(({ failed }, index) =>
        failed.map(({ requirement, expected, since }) => [
          String(index + 1),
          `\`${requirement}\``,
          expected.replaceAll("|", "\\|"),
          since,
        ]),
      ), // prettier-ignore
    ),
    "## Yours",
    "The first command judges a server of yours and leaves its report; the second shows the `report.json` of two runs side by side, as a page; the third plays the same programs to it and to the simulated 1.33 (start that with `npx touchstone serve --profile kubernetes-1.33`), and tells where their answers part, each with its request.",
    "```sh\nnpx touchstone conform --svcconfig ~/.kube/config --profile kubernetes --report out/mine\nnpx touchstone view a.json b.json --output compared.html\nnpx touchstone diff svcconfig:$HOME/.kube/config http://127.0.0.1:8001 --runs 30 --report out/diff\n```",
    "A result for this page is one file in `reports/published/`, written after the pattern of those that are there; `npx vitest run reports/published -u` then writes the page anew.",
  ].join("\n\n");
  await expect(`${document}\n`).toMatchFileSnapshot("../../docs/implementations.md");
});

it("counts what it names", () => {
  for (const { totals, failed, stale, inconclusive, areas } of results) {
    // A declaration that is stale fails its requirement.
    expect([failed.length + stale.length, inconclusive.length]).toEqual([totals.failed ?? 0, totals.inconclusive ?? 0]);
    for (const name of ["passed", "failed", "inconclusive", "deviation", "unsupported"] as const) {
      const sum = Object.values(areas).reduce((total, row) => total + (row[name] ?? 0), 0);
      expect(sum).toBe(totals[name] ?? 0);
    }
  }
});
