import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const guide = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8");
const snippets = [...guide.matchAll(/^```ts\n(.*?)^```/gms)].map((match) => ({
  line: guide.slice(0, match.index).split("\n").length,
  text: match[1] as string,
}));

// In plain Node, as a person would try them: no test runner has a hand in it.
describe("the guide docs/testing.md", () => {
  it("has snippets", () => expect(snippets.length).toBeGreaterThanOrEqual(6));

  it.each(snippets)("runs as it is written, line $line", ({ line, text }) => {
    const folder = new URL("../../out/guide/", import.meta.url);
    const file = new URL(`line-${line}.ts`, folder);
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
    try {
      const root = new URL("../../", import.meta.url).pathname;
      const { status, stderr } = spawnSync(process.execPath, [file.pathname], { encoding: "utf8", cwd: root });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    } finally {
      rmSync(file);
    }
  });
});
