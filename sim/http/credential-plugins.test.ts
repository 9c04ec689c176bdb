import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { RegistryCredentials } from "../agent/runtime/pull-secrets.ts";
import { dialects } from "../../wire/dialect.ts";
import { imageMatches } from "../agent/runtime/image-names.ts";
import { credentialPlugins } from "./credential-plugins.ts";

const folder = mkdtempSync(join(tmpdir(), "plugins-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function plugin(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

const row = (name: string, image: string, more: object = {}): object => ({
  name,
  matchImages: [image],
  defaultCacheDuration: "1m",
  apiVersion: "credentialprovider.kubelet.k8s.io/v1",
  ...more,
});
const fileOf = (...providers: object[]): string =>
  JSON.stringify({ apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers });

function readerOf(config: string) {
  const warnings: string[] = [];
  let nowMillis = 0;
  const read = credentialPlugins({
    config,
    binDir: folder,
    dialect: dialects.kubernetes,
    turn: (work) => work(),
    nowMillis: () => nowMillis,
    warn: (line) => warnings.push(line),
  });
  const ask = (image: string): Promise<readonly RegistryCredentials[]> =>
    new Promise((resolve) => void read(image, resolve));
  return { ask, warnings, later: (millis: number) => (nowMillis += millis) };
}

const answering = (type: string, user: string): string =>
  `cat > ${folder}/asked-${user}; echo run >> ${folder}/runs-${user}; echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"${type}","auth":{"*.example.com":{"username":"wide","password":"w"},"a.example.com/team":{"username":"${user}","password":"'"$SECRET$1"'"}}}'`;
const runs = (user: string): number => readFileSync(`${folder}/runs-${user}`, "utf8").split("\n").length - 1;

describe("plugins for credentials", () => {
  it("are asked about their images, with arguments and environment, and the narrowest answer goes first", async () => {
    plugin("one", answering("Image", "u1"));
    const { ask } = readerOf(
      fileOf(row("one", "*.example.com", { args: ["arg"], env: [{ name: "SECRET", value: "s-" }] })),
    );
    expect(await ask("a.example.com/team/web:1")).toEqual([
      { username: "u1", password: "s-arg" },
      { username: "wide", password: "w" },
    ]);
    expect(JSON.parse(readFileSync(`${folder}/asked-u1`, "utf8"))).toEqual({
      kind: "CredentialProviderRequest",
      apiVersion: "credentialprovider.kubelet.k8s.io/v1",
      image: "a.example.com/team/web:1",
    });
    expect(await ask("other.org/web:1")).toEqual([]);
  });

  it.each([
    ["Image", "u2", [1, 2, 3]],
    ["Registry", "u3", [1, 1, 2]],
    ["Global", "u4", [1, 1, 2]],
  ])("are believed by %s, for as long as they say", async (type, user, expected) => {
    plugin(user, answering(type, user));
    const { ask, later } = readerOf(fileOf(row(user, "*.example.com")));
    const seen: number[] = [];
    for (const image of ["a.example.com/x", "a.example.com/y", "later"]) {
      if (image === "later") later(61_000);
      await ask(image === "later" ? "a.example.com/x" : image);
      await ask(image === "later" ? "a.example.com/x" : image);
      seen.push(runs(user));
    }
    expect(seen).toEqual(expected);
  });

  it("that fail or talk nonsense are warned of, and know nothing", async () => {
    plugin("fails", "exit 3");
    plugin("talks", "cat >/dev/null; echo hello");
    const { ask, warnings } = readerOf(fileOf(row("fails", "a.example.com"), row("talks", "a.example.com")));
    expect(await ask("a.example.com/x")).toEqual([]);
    expect(warnings.sort().map((line) => line.split(":")[0])).toEqual([
      "credential plugin fails",
      "credential plugin talks",
    ]);
  });

  it.each<[string, string, string]>([
    ["no program", fileOf(row("missing", "a")), "missing did not exist"],
    ["no providers", fileOf(), "at least 1 item"],
    ["no images", fileOf(row("one", "a", { matchImages: [] })), "providers.0.matchImages"],
    ["another version", fileOf(row("one", "a", { apiVersion: "v0" })), "providers.0.apiVersion"],
    ["no duration", fileOf(row("one", "a", { defaultCacheDuration: "long" })), "providers.0.defaultCacheDuration"],
    ["one twice", fileOf(row("one", "a"), row("one", "b")), "there twice"],
    ["another kind", "kind: Pod\napiVersion: v1\n", "kind"],
  ])("are refused with %s", (_what, config, problem) => {
    expect(() => readerOf(config)).toThrow(problem);
  });
});

it("patterns match hosts part by part, equal ports, and paths from their beginning", () => {
  const good = [
    ["*.example.com", "a.example.com/x"],
    ["a*.example.com/team", "ab.example.com/team/x"],
    ["example.com:5000", "example.com:5000/x"],
  ];
  const bad = [
    ["*.example.com", "example.com/x"],
    ["*.com", "a.example.com/x"],
    ["example.com", "example.com:5000/x"],
    ["example.com/team", "example.com/other"],
  ];
  for (const [pattern = "", image = ""] of good) expect(imageMatches(pattern, image)).toBe(true);
  for (const [pattern = "", image = ""] of bad) expect(imageMatches(pattern, image)).toBe(false);
});
