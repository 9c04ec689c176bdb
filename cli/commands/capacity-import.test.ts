import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { capacityReportSchema } from "../../reports/schema/capacity-report.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { clusterObjects } from "../targets/cluster-reader.ts";

const scratch = mkdtempSync(join(tmpdir(), "touchstone-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const fileOf = (name: string, text: string): string => {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
};

const nodes = ["a", "b"].map((name) => ({
  metadata: { name, labels: {} },
  status: { allocatable: { cpu: "4", memory: "8Gi", pods: "110" } },
}));
const pods = [0, 1, 2].map((index) => ({
  metadata: {
    name: `web-5d9-${index}`,
    namespace: "shop",
    labels: { "pod-template-hash": "5d9" },
    ownerReferences: [{ kind: "ReplicaSet", name: "web-5d9", controller: true }],
  },
  spec: { nodeName: index === 0 ? "a" : "b", containers: [{ name: "a" }] },
}));
const listOf = (kind: string, items: readonly object[]): string =>
  JSON.stringify({ kind: `${kind}List`, apiVersion: "v1", metadata: {}, items }, undefined, 4);
const dump = fileOf("dump.json", `${listOf("Node", nodes)}\n${listOf("Pod", pods)}`);

const event = (verb: string, seconds: number, requestURI: string, more: object = {}): string =>
  JSON.stringify({
    stage: "ResponseComplete",
    verb,
    requestURI,
    requestReceivedTimestamp: `2026-01-02T03:04:0${seconds}.500000Z`,
    stageTimestamp: `2026-01-02T03:04:0${seconds}.600000Z`,
    user: { username: "alice" },
    ...more,
  });

const config = (resourceVersion: string, value: string) => ({
  requestObject: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "shop", ...(resourceVersion === "" ? {} : { resourceVersion, uid: "other" }) },
    data: { value },
  },
});
const maps = "/api/v1/namespaces/shop/configmaps";
const audit = fileOf(
  "audit.jsonl",
  [
    event("create", 1, maps, config("", "1")),
    event("update", 2, `${maps}/c`, config("12345", "2")),
    event("get", 3, `${maps}/c?resourceVersion=999999`),
    event("watch", 3, `${maps}?watch=true&resourceVersion=777`, { stageTimestamp: "2026-01-02T03:04:06.500000Z" }),
    event("delete", 5, `${maps}/c`, { requestObject: { preconditions: { uid: "other" } } }),
    event("get", 4, "/api/v1/nodes/a", { user: { username: "system:node:a" } }),
    event("create", 5, maps, { user: { username: "bob" } }),
    event("create", 1, maps, { stage: "RequestReceived" }),
    "",
  ].join("\n"),
);

// Whole clusters are played; a busy machine takes its time.
vi.setConfig({ testTimeout: 240_000 });
afterAll(() => vi.resetConfig());

describe("touchstone capacity import", () => {
  it("makes an experiment of a dump, which plays with the log of it", async () => {
    const file = join(scratch, "imported.yaml");
    expect((await runHere("capacity", "import", dump, "--audit-log", audit, "--output", file)).code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain('"on":{"pool-1":"0 1*2"}');
    const played = await runHere(
      "capacity",
      file,
      "--output",
      join(scratch, "out"),
      "--json",
      "--jobs",
      "1",
      "--set",
      "settle=30s",
      "--set",
      "until=20s",
    );
    const { runs } = capacityReportSchema.parse(JSON.parse(played.stdout));
    expect(runs[0]?.pods).toMatchObject({ created: 0, deleted: 0 });
    const asked = runs[0]?.requests
      .filter(({ who }) => who === "workload-replay")
      .map(({ verb, code, count }) => [verb, code, count]);
    // Of Alice all, with the versions of this cluster; of the node nothing, since it is played; of Bob nothing, without his object.
    expect(asked?.sort()).toEqual([
      ["create", 201, 1],
      ["delete", 200, 1],
      ["get", 200, 1],
      ["update", 200, 1],
      ["watch", 200, 1],
    ]);
  });

  it("refuses what it cannot make one of", async () => {
    const refusal = (...words: readonly string[]) => refusalHere("capacity", "import", ...words);
    expect(await refusal()).toContain("say where the cluster is to be read");
    expect(await refusal(dump, "--svcconfig", dump)).toContain("say where");
    expect(await refusal(dump, "--context", "x")).toContain("--svcconfig as well");
    expect(await refusal(join(scratch, "none.json"))).toContain("none.json: cannot be read");
    expect(await refusal(dump, "--anonymise", "--audit-log", audit)).toContain("full of names");
    expect(await refusal(fileOf("pods.json", listOf("Pod", pods)))).toContain("no nodes were found");
    expect(await refusal(fileOf("bad.json", listOf("Pod", [{ metadata: {} }])))).toContain(
      "bad.json:6: Pod: metadata.name: is missing: expected a text",
    );
    const wrong = async (kind: string, object: object): Promise<string> =>
      (await refusal(fileOf("wrong.json", listOf(kind, [object])))).replace(`${join(scratch, "wrong.json")}:`, "");
    const [pod] = pods as [(typeof pods)[number]];
    const asks = { containers: [{ resources: { requests: { cpu: "-1" } } }] };
    expect(await wrong("Pod", { ...pod, spec: asks })).toBe(
      "6: Pod web-5d9-0: spec.containers.0.resources.requests.cpu: expected a quantity of zero or more. Mend it there, or leave the object out.",
    );
    expect(await wrong("Pod", { ...pod, metadata: { ...pod.metadata, namespace: "../x y" } })).toBe(
      "6: Pod web-5d9-0: metadata.namespace: expected a name of lower-case letters, digits and hyphens. Mend it there, or leave the object out.",
    );
    const budget = { metadata: { name: "b" }, spec: { minAvailable: 1, maxUnavailable: "10%" } };
    expect(await wrong("PodDisruptionBudget", budget)).toBe(
      "6: PodDisruptionBudget b: spec: minAvailable and maxUnavailable do not go together: expected one of them. Mend it there, or leave the object out.",
    );
    expect(await wrong("PodDisruptionBudget", { ...budget, spec: { minAvailable: "many" } })).toContain(
      "spec.minAvailable: expected a whole number of zero or more, or a percentage such as 25%",
    );
    expect(await wrong("PodDisruptionBudget", { ...budget, spec: { minAvailable: "200%" } })).toContain(
      "spec.minAvailable: expected a whole number of zero or more, or a percentage such as 25%, of 100% at most",
    );
    // What is left out may be as it is.
    const ended = ["Succeeded", "Failed"].map((phase) => ({ ...pod, spec: asks, status: { phase } }));
    expect(await wrong("Pod", ended[0] as object)).toContain("no nodes were found");
    expect(await wrong("Pod", ended[1] as object)).toContain("no nodes were found");
    expect(await refusal(dump, "--audit-log", fileOf("bad.jsonl", "{}\n[1]\n"))).toContain(
      "bad.jsonl:2: no audit event",
    );
  });
});

describe("a live cluster", () => {
  it("without nodes is told as that, and not as a dump that lacks them", async () => {
    const server = createServer((_, response) => response.end(JSON.stringify({ items: [] })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const config = fileOf(
      "empty.yaml",
      `{ clusters: [{ name: c, cluster: { server: "${url}" } }], contexts: [{ name: c, context: { cluster: c } }], current-context: c }`,
    );
    const told = await refusalHere("capacity", "import", "--svcconfig", config).finally(() => server.close());
    expect(told).toBe(
      `--svcconfig ${config}: no nodes were found, and an experiment begins with them: name another cluster with --context, or another file.`,
    );
  });

  interface Answer {
    readonly status: number;
    readonly body: unknown;
  }
  const read = async (answer: (path: string) => Answer) => {
    const asked: string[] = [];
    const notes: string[] = [];
    const transport = {
      open(
        { path }: { readonly path: string },
        sink: { head(status: number, headers: object): void; chunk(bytes: Uint8Array): void; end(): void },
      ) {
        asked.push(path);
        const { status, body } = answer(path);
        queueMicrotask(() => {
          sink.head(status, {});
          sink.chunk(Buffer.from(JSON.stringify(body)));
          sink.end();
        });
        return () => {};
      },
    };
    const names: string[] = [];
    for await (const { kind, object } of clusterObjects(transport, "--svcconfig x", (note) => notes.push(note)))
      names.push(`${kind} ${String((object as { readonly name: string }).name)}`);
    return { asked, notes, names };
  };
  const page = (items: readonly object[], token = ""): Answer => ({
    status: 200,
    body: { metadata: { continue: token }, items },
  });

  it("is read page by page, from the beginning again when its version is gone, and without what is not given", async () => {
    let isGone = true;
    const { names, notes, asked } = await read((path) => {
      if (path.startsWith("/api/v1/nodes")) return page([{ name: "a" }]);
      if (path.includes("budgets")) return { status: 403, body: { message: "not for you" } };
      if (path.includes("priority")) return page([]);
      if (!path.includes("continue=")) return page([{ name: "p" }], "t/1");
      if (!isGone) return page([{ name: "q" }]);
      isGone = false;
      return { status: 410, body: {} };
    });
    expect(names).toEqual(["Node a", "Pod p", "Pod p", "Pod q"]);
    expect(asked).toContain("/api/v1/pods?limit=250&continue=t%2F1");
    expect(notes).toEqual([
      "/apis/policy/v1/poddisruptionbudgets: status 403: not for you; the experiment is made without",
    ]);
  });

  it("is refused when it has no nodes to give, or answers with something else", async () => {
    await expect(read(() => ({ status: 403, body: {} }))).rejects.toThrow("/api/v1/nodes: status 403");
    await expect(read(() => ({ status: 200, body: { items: 3 } }))).rejects.toThrow("the answer is no list");
    const many = { items: Array.from({ length: 3_000_000 }, () => ({})) };
    await expect(read(() => ({ status: 200, body: many }))).rejects.toThrow("an answer of more than 3,000,000 values");
    const long = { items: ["a".repeat(64 * 1024 * 1024)] };
    await expect(read(() => ({ status: 200, body: long }))).rejects.toThrow("an answer of more than 64 MiB");
  });
});
