import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { documentFile, readVerdicts, requirementsDocument } from "./requirements-document.ts";

const written = readFileSync(documentFile, "utf8");
const verdicts = readVerdicts();

describe("docs/requirements.md", () => {
  it("is what the requirements and the checks make it", () => {
    const stale = "docs/requirements.md is stale: run `npm run requirements -- --keep-verdicts`";
    expect(written === requirementsDocument(verdicts), stale).toBe(true);
  });

  it("shows a verdict that is another one", () => {
    expect(verdicts["svc"]?.["watch.reliable"]).toBe("passed");
    const failing = { ...verdicts, svc: { ...verdicts["svc"], "watch.reliable": "failed" as const } };
    expect(requirementsDocument(failing)).not.toBe(requirementsDocument(verdicts));
  });

  it("links to files that exist", () => {
    const targets = [...written.matchAll(/^\[[\w-]+\]: (.*)$/gm)].map((match) => match[1] as string);
    expect(targets.length).toBeGreaterThan(50);
    expect(targets.filter((target) => !existsSync(join(dirname(documentFile), target)))).toEqual([]);
  });

  it("knows verdicts of both profiles", () => {
    expect(Object.keys(verdicts)).toEqual(["svc", "kubernetes"]);
  });
});
