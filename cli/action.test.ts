/** The action for CI jobs: its form, and its shell lines run here as a runner would run them. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { cleanUp, root, type Running, scratch, scratchFile, start } from "./spawned-command.fixture.ts";

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
  readonly run?: string;
}

const action = parse(readFileSync(join(root, "action.yml"), "utf8")) as {
  inputs: Record<string, { description: string; required?: boolean; default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
};
const { steps } = action.runs;

let server: Running;
let url: string;

beforeAll(async () => {
  const tokens = scratchFile("tokens.csv", 'secret,admin,1,"system:masters"\n');
  server = start("serve", "--port", "0", "--token-auth-file", tokens, "--anonymous-auth=false");
  url = (await server.firstLine).replace("serving on ", "");
});
afterAll(cleanUp);

/** What a runner puts into a step's environment; the expressions that the action uses are these and no others. */
function filledIn(text: string, inputs: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{ (\w+)\.([\w-]+) \}\}/g, (whole, scope: string, name: string) => {
    if (scope === "inputs" && name in action.inputs) return inputs[name] ?? action.inputs[name]?.default ?? "";
    if (whole === "${{ github.action_path }}") return root;
    if (whole === "${{ runner.temp }}") return scratch;
    throw new Error(`the action uses ${whole}`);
  });
}

interface Job {
  readonly code: number | null;
  readonly output: string;
  readonly summary: string;
  readonly text: string;
}

/** Runs the shell steps in their order; after a failure only those that always run. */
function runJob(name: string, inputs: Readonly<Record<string, string>>): Job {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const files = { GITHUB_ENV: "env", GITHUB_OUTPUT: "output", GITHUB_STEP_SUMMARY: "summary" };
  const runner = Object.fromEntries(
    Object.entries(files).map(([key, file]) => [key, scratchFile(`${name}.${file}`, "")]),
  );
  const read = (key: keyof typeof files): string => readFileSync(runner[key] as string, "utf8");
  let code: number | null = 0;
  let text = "";
  for (const step of steps) {
    if (step.run === undefined || (code !== 0 && step.if !== "always()")) continue;
    const own = Object.entries(step.env ?? {}).map(([key, value]) => [key, filledIn(value, inputs)]);
    const passed = read("GITHUB_ENV")
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split("=", 2));
    const env = { ...process.env, ...runner, ...Object.fromEntries(passed), ...Object.fromEntries(own) };
    const ended = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], { cwd: folder, env });
    text += `${ended.stdout.toString()}${ended.stderr.toString()}`;
    if (code === 0) code = ended.status;
  }
  return { code, output: read("GITHUB_OUTPUT"), summary: read("GITHUB_STEP_SUMMARY"), text };
}

describe("the action", () => {
  it("is composite; every input is described and used, and reaches a shell by its environment alone", () => {
    expect(action.runs.using).toBe("composite");
    const used = JSON.stringify(steps);
    for (const [name, { description }] of Object.entries(action.inputs)) {
      expect(description).not.toBe("");
      expect(used).toContain(`inputs.${name}`);
    }
    for (const { run, shell } of steps.filter((step) => step.run !== undefined)) {
      expect(run).not.toContain("${{");
      expect(shell).toBe("bash");
    }
    const required = Object.entries(action.inputs).filter(([, input]) => input.required === true);
    expect(required.map(([name]) => name)).toEqual(["url"]);
  });

  it("keeps the report whatever the verdict", () => {
    const last = steps.slice(-2);
    expect(last.map((step) => step.uses ?? step.name)).toEqual(["Summarize", "actions/upload-artifact@v4"]);
    for (const step of last) expect(step.if).toMatch(/^always\(\)/);
    expect(last[1]?.with?.["path"]).toBe("${{ inputs.report }}");
  });

  it("passes a good server, with a summary, and leaves no token behind", () => {
    const job = runJob("good", { url, token: "secret", arguments: "--only errors --level quick --runs 20 --jobs 2" });
    expect(job.text).toContain("CONFORMANT");
    expect(job.output).toBe("exit-code=0\nconclusion=conformant\n");
    expect(job.summary).toMatch(/^## ✅ Touchstone: conformant\n/);
    expect(existsSync(join(scratch, "good/touchstone-report/report.html"))).toBe(true);
    expect(existsSync(join(scratch, "touchstone-token"))).toBe(false);
    expect(job.code).toBe(0);
  });

  it("fails with the run's own code, with the summary there", () => {
    const job = runJob("closed", { url, arguments: "--only lists --runs 1", report: "out" });
    expect(job.output).toBe("exit-code=3\nconclusion=inconclusive\n");
    expect(job.summary).toContain("❓ Touchstone: inconclusive");
    expect(job.code).toBe(3);
  });

  it("says what was wrong with its inputs, and claims no conclusion", () => {
    const job = runJob("wrong", { url, baseline: "nowhere.yaml" });
    expect(job.text).toContain("nowhere.yaml");
    expect(job.output).toBe("exit-code=2\n");
    expect([job.summary, job.code]).toEqual(["", 2]);
  });
});
