import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kubernetesDialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { agentBugsOn } from "../../planted/agent-bugs.ts";
import { staticPodLawWith } from "../planted/source-bugs.ts";
import { type FilesRead, startFileSource } from "./file-source.ts";
import { md5Hex } from "./md5.ts";
import { readManifest } from "./static-pod.ts";
import { type Fetched, startUrlSource } from "./url-source.ts";

const law = staticPodLawWith(agentBugsOn());
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const manifest = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: i}]}\n`;
const origin = { source: "file", place: "/m/a.yaml" } as const;

describe("manifests", () => {
  it("become pods of the node", () => {
    const read = readManifest(bytes(manifest("a")), origin, "n1", kubernetesDialect);
    const [pod] = "error" in read ? [] : read.pods;
    const { uid, name, namespace, annotations } = metadataOf(pod as JsonObject);
    expect({ name, namespace }).toEqual({ name: "a-n1", namespace: "default" });
    expect(uid).toMatch(/^[0-9a-f]{32}$/);
    expect(annotations).toEqual({ "kubernetes.io/config.hash": uid, "kubernetes.io/config.source": "file" });
    expect(pod?.["spec"]).toMatchObject({
      nodeName: "n1",
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      tolerations: [{ operator: "Exists", effect: "NoExecute" }],
    });
  });

  it.each([
    ["apiVersion: v1\nkind: Pod\nmetadata: {}\nspec: {containers: [{name: c, image: i}]}", /name is needed/],
    ["apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}", /spec\.containers/],
    ["apiVersion: v1\nkind: Service\nmetadata: {name: a}", /Service/],
    ["[1]", /no object/],
    ["{", /./],
    ["\n".repeat(9_000_000), /more than 200000 lines, commas and brackets/],
  ])("are refused for what is wrong: %s", (text, why) => {
    const read = readManifest(bytes(text), origin, "n1", kubernetesDialect);
    expect("error" in read ? read.error : "taken").toMatch(why);
  });

  it("have a uid of their node, but with static-uid-collision-or-drift", () => {
    const uidOn = (node: string, own = law) => {
      const read = readManifest(bytes(manifest("a")), origin, node, kubernetesDialect, own());
      return "error" in read ? "" : metadataOf(read.pods[0] ?? {}).uid;
    };
    expect(uidOn("n1")).toBe(uidOn("n1"));
    expect(uidOn("n1")).not.toBe(uidOn("n2"));
    const wrong = staticPodLawWith(agentBugsOn(["static-uid-collision-or-drift"]));
    expect(uidOn("n1", wrong)).toBe(uidOn("n2", wrong));
  });

  it("may have whole numbers that no double holds", () => {
    const longest = manifest("a").replace("spec: {", "spec: {terminationGracePeriodSeconds: 9223372036854775807, ");
    const read = readManifest(bytes(longest), origin, "n1", kubernetesDialect);
    expect(read).toMatchObject({ pods: [{ spec: { terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER } }] });
  });

  it("of a URL may be a list, and of no other kind of value", () => {
    const lists = ["{a: 1}", "7", "[null, 7, [], {metadata: null, spec: null}]"];
    for (const items of lists) {
      const read = readManifest(
        bytes(`kind: PodList\napiVersion: v1\nitems: ${items}`),
        { source: "http", place: "http://m" },
        "n1",
        kubernetesDialect,
      );
      expect(read).toHaveProperty("error");
    }
  });

  it("of a URL may be a list", () => {
    const list = JSON.stringify({
      kind: "PodList",
      apiVersion: "v1",
      items: ["a", "b"].map((name) => ({ metadata: { name }, spec: { containers: [{ name: "c", image: "i" }] } })),
    });
    const read = readManifest(bytes(list), { source: "http", place: "http://m" }, "n1", kubernetesDialect);
    expect("error" in read ? read.error : read.pods.map((pod) => metadataOf(pod).name)).toEqual(["a-n1", "b-n1"]);
  });
});

describe("MD5", () => {
  it("is what everybody computes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (input) => {
        expect(md5Hex(input)).toBe(createHash("md5").update(input).digest("hex"));
      }),
    );
  });
});

function sets() {
  const kernel = new Kernel({ seed: "sources" });
  const process = kernel.process("agent");
  const seen: string[][] = [];
  const warnings: string[] = [];
  const common = {
    process,
    dialect: kubernetesDialect,
    nodeName: "n1",
    law,
    everyMicros: 20_000_000,
    replace: (pods: readonly JsonObject[]) => void seen.push(pods.map((pod) => metadataOf(pod).name ?? "")),
    dropped: () => {},
    warn: (line: string) => void warnings.push(line),
  };
  return { kernel, process, seen, warnings, common };
}

describe("a directory", () => {
  it("skips dot-files, drops bad files and looks every 20 s", () => {
    const { kernel, process, seen, warnings, common } = sets();
    let found: FilesRead = {
      is: "directory",
      files: [
        { name: ".hidden", content: bytes(manifest("h")) },
        { name: "a", content: bytes(manifest("a")) },
        { name: "b", content: bytes(manifest("b")) },
      ],
    };
    kernel.enter(process, () =>
      startFileSource({ ...common, path: "/m", read: (_path, done) => process.clock.after(0, () => done(found)) }),
    );
    kernel.run(19_000_000);
    expect(seen).toEqual([["a-n1", "b-n1"]]);
    found = {
      is: "directory",
      files: [
        { name: "a", content: bytes("nonsense") },
        { name: "b", content: bytes(manifest("b")) },
      ],
    };
    kernel.run(21_000_000);
    expect(seen[1]).toEqual(["b-n1"]);
    expect(warnings).toHaveLength(1);
    found = { is: "missing" };
    kernel.run(41_000_000);
    expect(seen[2]).toEqual([]);
    found = { is: "file", content: bytes("nonsense") };
    kernel.run(61_000_000);
    expect(seen).toHaveLength(3);
  });
});

describe("a large directory", () => {
  it("is taken in several turns, and what has not changed is not read again", () => {
    const { kernel, process, seen, common } = sets();
    const files = Array.from({ length: 100 }, (_, at) => ({ name: `${at}`, content: bytes(manifest(`p${at}`)) }));
    let askedCount = 0;
    const counting = (): ReturnType<typeof law> => {
      const own = law();
      return new Proxy(own, {
        get: (of, name) => (name === "uidOf" && askedCount++, Reflect.get(of, name) as unknown),
      });
    };
    const only = counting();
    kernel.enter(process, () =>
      startFileSource({
        ...common,
        law: () => only,
        path: "/m",
        read: (_path, done) => process.clock.after(0, () => done({ is: "directory", files })),
      }),
    );
    let perTurnMax = 0;
    for (let before = 0; (kernel.nextEventMicros ?? Infinity) < 20_000_000; before = askedCount) {
      kernel.step();
      perTurnMax = Math.max(perTurnMax, askedCount - before);
    }
    expect(seen.map((pods) => pods.length)).toEqual([100]);
    expect([askedCount, perTurnMax]).toEqual([100, 16]);
    files[50] = { name: "50", content: bytes(manifest("other")) };
    kernel.run(21_000_000);
    expect(seen[1]?.[50]).toBe("other-n1");
    expect(askedCount).toBe(101);
  });
});

describe("a directory that tells of changes", () => {
  it("is read then, once for several, and keeps the pods of bad files until the next look", () => {
    const { kernel, process, seen, common } = sets();
    const files = new Map([
      ["a", manifest("a")],
      ["b", manifest("b")],
    ]);
    const changes = new Set<() => void>();
    let watchedCount = 0;
    kernel.enter(process, () =>
      startFileSource({
        ...common,
        path: "/m",
        read: (_path, done) => {
          const listed = [...files].map(([name, text]) => ({ name, content: bytes(text) }));
          process.clock.after(0, () => done({ is: "directory", files: listed }));
        },
        watch: (_path, changed) => {
          watchedCount++;
          changes.add(changed);
          return () => changes.delete(changed);
        },
      }),
    );
    const tell = (): void => {
      for (const changed of changes) kernel.enter(process, changed);
    };
    kernel.run(1_000_000);
    files.set("a", "half a manif");
    files.set("b", manifest("other"));
    tell();
    tell();
    kernel.run(2_000_000);
    expect(seen).toEqual([
      ["a-n1", "b-n1"],
      ["a-n1", "other-n1"],
    ]);
    files.delete("b");
    tell();
    kernel.run(3_000_000);
    expect(seen.at(-1)).toEqual(["a-n1"]);
    kernel.run(21_000_000);
    expect(seen.at(-1)).toEqual([]);
    expect([watchedCount, changes.size]).toEqual([2, 1]);
    process.crash();
    expect(changes.size).toBe(0);
  });
});

describe("a URL", () => {
  it("keeps what was there through failures, and is empty when the answer is", () => {
    const { kernel, process, seen, warnings, common } = sets();
    const answers: Fetched[] = [
      { status: 200, body: bytes(manifest("a")) },
      { status: 200, body: bytes(manifest("a")) },
      { status: 500, body: bytes("no") },
      { error: "connection refused" },
      { status: 200, body: bytes("") },
      { status: 200, body: bytes(manifest("b")) },
    ];
    const asked: unknown[] = [];
    kernel.enter(process, () =>
      startUrlSource({
        ...common,
        url: "http://m",
        headers: [["X-A", "1"]],
        fetch: (url, headers, done) => {
          asked.push([url, headers]);
          const answer = answers.shift();
          return answer === undefined ? () => {} : process.clock.after(0, () => done(answer));
        },
      }),
    );
    kernel.run(119_000_000);
    expect(asked[0]).toEqual(["http://m", [["X-A", "1"]]]);
    expect(seen).toEqual([["a-n1"], [], ["b-n1"]]);
    expect(warnings).toHaveLength(3);
    kernel.run(140_000_000); // nobody answers: it goes on after ten seconds
    expect(warnings.at(-1)).toMatch(/no answer/);
  });
});
