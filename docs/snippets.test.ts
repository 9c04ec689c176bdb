import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "@optique/core/parser";
import { formatMessage } from "@optique/core/message";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { kindOfFile } from "../sim/configuration/kinds.ts";
import { kubernetesRules, svcRules } from "../sim/configuration/rules.ts";
import { bareSetting } from "../sim/configuration/setting.ts";
import { commandLine } from "../cli/command-line.ts";
import { parseImages } from "../cli/flags/images-file.ts";
import { parseBaseline } from "../reports/gate/baseline.ts";
import { nodeFileSchema } from "../scenarios/node-file.ts";
import { parseChaos, parseScenario } from "../scenarios/load.ts";
import { playScenario } from "../sim/experiments/play.ts";
import { readTreeFile, root, treeFiles } from "./sources.ts";

const guides = treeFiles().filter((path) => /^(docs\/.*|[A-Z]+)\.md$/.test(path));

interface Snippet {
  readonly where: string;
  readonly text: string;
}

/** Fenced blocks in one language, each with the line that it begins at. */
function blocks(path: string, language: string): readonly Snippet[] {
  const text = readTreeFile(path);
  return [...text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\``, "gms"))].map((match) => ({
    where: `${path}:${text.slice(0, match.index).split("\n").length}`,
    text: (match[2] as string).replaceAll(new RegExp(`^${match[1]}`, "gm"), ""),
  }));
}

/** Command lines of all shell blocks, split at `&&`, comments off. */
const commands = guides
  .flatMap((path) => blocks(path, "sh"))
  .flatMap(({ where, text }) =>
    text
      .split(/\n|&&/)
      .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
      .filter((line) => line !== "")
      .map((line) => [where, line] as const),
  );

const scripts = (JSON.parse(readTreeFile("package.json")) as { scripts: Record<string, string> }).scripts;

/** Files that a snippet names by way of example. */
const examples = [
  "out/embedded",
  "a.json",
  "b.json",
  "known.yaml",
  "imported.yaml",
  "images.yaml",
  "token",
  "tokens.csv",
  "authentication.yaml",
  "scenarios/short-partition.yaml",
  "run.txt",
  "run.json",
  "out/part-1/report.json",
  "out/part-2/report.json",
  "out/hunts/informers/capsules/cluster.converges-seed-6-b3fe26.json",
  "out/hunts/informers/capsules/cluster.converges-seed-6-b3fe26.shrunk.json",
  "ca.pem",
  "~/.kube/config",
  "out/embedded/failures/watch-replays-to-list.json",
];

describe("every command in the guides", () => {
  it.each(commands.filter(([, line]) => /^(npx )?touchstone /.test(line)))("%s: %s is understood", (_, line) => {
    const args = line.replace(/^(npx )?touchstone /, "").match(/'[^']*'|\S+/g) ?? [];
    const result = parse(
      commandLine,
      args
        .map((arg) => arg.replaceAll("'", ""))
        .map((arg, at) => (examples.includes(arg) && args[at - 1] !== "--report" ? "package.json" : arg)),
    );
    expect(result.success ? "understood" : formatMessage(result.error)).toBe("understood");
  });

  it("lets somebody in, where it starts a server: by a profile that takes anybody, or by credentials", () => {
    const shown = readTreeFile("cli/command-line.ts").matchAll(/"(touchstone serve [^"]*)"/g);
    const lines = [...commands, ...[...shown].map(([, line]) => ["cli/command-line.ts", line as string] as const)];
    const servers = lines.filter(([, line]) => /touchstone serve /.test(line));
    expect(servers.length).toBeGreaterThan(10);
    const enters = /--profile kubernetes|--token-auth-file|--authentication-config|--client-ca-file|--anonymous-auth/;
    expect(servers.filter(([, line]) => !enters.test(line))).toEqual([]);
  });

  it.each(commands.filter(([, line]) => line.startsWith("npm ")))("%s: %s is a script", (_, line) => {
    const script = /^npm (?:run )?(\w+)/.exec(line)?.[1] ?? "";
    expect(Object.keys(scripts)).toContain(script);
  });

  it("is one that this test knows", () => {
    const known = /^((npx )?touchstone|npm|git clone|cd|\.ci\/run|kubectl)( |$)/;
    expect(commands.map(([, line]) => line).filter((line) => !known.test(line))).toEqual([]);
    expect(commands.length).toBeGreaterThan(10);
  });
});

it("links only to files that exist", () => {
  const links = guides.flatMap((path) =>
    [...readTreeFile(path).matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => [path, match[1] as string] as const),
  );
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter(([from, to]) => !existsSync(join(root, dirname(from), to)))).toEqual([]);
});

it("names only paths that exist", () => {
  const folders = "wire|sim|conformance|scenarios|reports|cli|bench|docs";
  const paths = guides.flatMap((path) =>
    [...readTreeFile(path).matchAll(new RegExp(`\`((?:${folders})/[\\w./-]*)\``, "g"))].map(
      (match) => [path, match[1] as string] as const,
    ),
  );
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter(([, to]) => !existsSync(join(root, to)))).toEqual([]);
});

it("shows only documents that load: scenarios, which hold what they expect, baselines, images, configuration files, steps of a CI job", () => {
  const documents = guides.flatMap((path) => blocks(path, "yaml"));
  const loaded = documents.map(({ where, text }) => loadedAs(where, text));
  expect(new Set(loaded)).toEqual(
    new Set(["scenario", "chaos", "baseline", "step", "nodes", "configuration", "images"]),
  );
});

/** Throws when it is none of them. */
function loadedAs(
  where: string,
  text: string,
): "scenario" | "chaos" | "baseline" | "step" | "nodes" | "configuration" | "images" {
  if (/^kind: \w+Configuration$/m.test(text)) {
    const kind = kindOfFile(text);
    const rules = text.includes("k8s.io/") ? kubernetesRules : svcRules;
    expect([where, "kind" in kind && kind.explain(text, bareSetting(rules))]).toEqual([
      where,
      expect.objectContaining({ ok: true }),
    ]);
    return "configuration";
  }
  if (text.includes("apiVersion: baselines/")) {
    parseBaseline(text, where);
    return "baseline";
  }
  if (text.includes("apiVersion: chaos/")) {
    parseChaos(text, where);
    return "chaos";
  }
  if (text.startsWith("pools:")) {
    nodeFileSchema.parse(parseYaml(text));
    return "nodes";
  }
  if (text.startsWith("images:")) {
    expect(parseImages(text, where).length).toBeGreaterThan(0);
    return "images";
  }
  if (text.startsWith("- uses:")) {
    const { inputs } = parseYaml(readTreeFile("action.yml")) as { inputs: object };
    const [step] = parseYaml(text) as [{ with: object }];
    expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(step.with)));
    return "step";
  }
  const { report } = playScenario(parseScenario(text, where));
  expect(report.expectations.filter(({ verdict }) => verdict.status !== "passed")).toEqual([]);
  return "scenario";
}

it("shows only TypeScript that compiles", () => {
  const snippets = guides.flatMap((path) => blocks(path, "ts"));
  const folder = join(root, "out", "snippets"); // not in docs/: other tests read the tree at the same time
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    snippets.forEach(({ text }, index) => writeFileSync(join(folder, `snippet-${index}.ts`), inPlace(text)));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: "../../tsconfig.json", include: ["*.ts"] }));
    const { stdout } = spawnSync(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), "--project", folder],
      { encoding: "utf8" },
    );
    const ours = stdout.split("\n").filter((line) => line.includes("out/snippets/"));
    expect(ours.map((line) => `${snippets[Number(/snippet-(\d+)/.exec(line)?.[1])]?.where}: ${line}`)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);

/** A snippet says in its first line where it would stand; its imports are relative to that. */
function inPlace(text: string): string {
  const place = /^\/\/ ([\w./-]+)\n/.exec(text)?.[1];
  if (place === undefined) return `${text}\nexport {};\n`;
  const up = place.split("/").slice(0, -1).join("/");
  return text.replace(/from "(\.[^"]*)"/g, (_, specifier: string) => `from "../../${up}/${specifier}"`);
}
