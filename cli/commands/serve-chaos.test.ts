/** `serve --chaos` over real sockets: what clients meet, what is written down, and that it is the same again. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";
import { afterAll, describe, expect, it } from "vitest";
import { cleanUp, get, run, scratch, scratchFile, start } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const plan = (rows: string): string =>
  scratchFile(`plan-${rows.length}.yaml`, `apiVersion: chaos/v1\nname: test\nfaults:\n${rows}`);

interface Served {
  readonly url: string;
  readonly deeds: () => readonly string[];
  readonly end: () => Promise<void>;
}

let served = 0;
async function serve(rows: string, ...flags: string[]): Promise<Served> {
  const log = join(scratch, `chaos-${++served}.ndjson`);
  const { child, firstLine, ended } = start(
    ...["serve", "--profile", "kubernetes", "--port", "0", "--chaos", plan(rows), "--chaos-log", log, ...flags],
  );
  const url = (await firstLine).replace("serving on ", "");
  const deeds = (): readonly string[] =>
    readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => JSON.parse(line) as { row: number; did: string; verb: string; request: number })
      .map(({ row, did, verb, request }) => `${row} ${verb} ${request}: ${did}`);
  const end = async (): Promise<void> => {
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  };
  return { url, deeds, end };
}

const configMaps = "/api/v1/namespaces/default/configmaps";
const create = (url: string, name: string): Promise<string> =>
  fetch(url + configMaps, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } }),
  }).then(
    async (response) =>
      response.text().then(
        () => String(response.status),
        () => "broken answer",
      ),
    () => "broken",
  );

describe("serve --chaos", () => {
  it("breaks, delays and refuses by the seed, and does the same again", async () => {
    const rows =
      "  - { throttle: 1s, rate: 1/5 }\n  - { cut: answer, rate: 1/6 }\n  - { cut: half, rate: 1/6 }\n  - { late: 1ms..20ms, rate: 1/3 }\n";
    const play = async (seed: string): Promise<{ answers: readonly string[]; deeds: readonly string[] }> => {
      const { url, deeds, end } = await serve(rows, "--seed", seed);
      const answers: string[] = [];
      for (let n = 0; n < 40; n++) answers.push(await create(url, `c-${n}`));
      await end();
      return { answers, deeds: deeds() };
    };
    const [first, again, other] = [await play("7"), await play("7"), await play("8")];
    expect(again).toEqual(first);
    expect(other.deeds).not.toEqual(first.deeds);
    expect([...new Set(first.answers)].sort()).toEqual(["201", "429", "broken", "broken answer"]);
  });

  it("is survived by a real informer, which knows all in the end", async () => {
    const rows =
      "  - { endWatch: 100ms..200ms, rate: 1/2 }\n  - { cutWatch: 50ms..150ms, rate: 1/2 }\n  - { expire: true, every: 700ms..900ms, for: 50ms, to: 3s }\n" +
      "  - { stale: 200ms, rate: 1/3, where: { verbs: [list, watch] } }\n";
    const { url, deeds, end } = await serve(rows);
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: "c", server: url, skipTLSVerify: true }, { name: "u" });
    const api = config.makeApiClient(CoreV1Api);
    const informer = makeInformer(config, configMaps, () => api.listNamespacedConfigMap({ namespace: "default" }));
    informer.on("error", () => void setTimeout(() => void informer.start().catch(() => undefined), 50));
    await informer.start();
    for (let n = 0; n < 25; n++) {
      expect(await create(url, `c-${n}`)).toBe("201");
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await expect.poll(() => informer.list().filter(({ metadata }) => metadata?.name?.startsWith("c-")).length).toBe(25);
    await informer.stop();
    await end();
    const text = deeds().join("\n");
    for (const did of [/410/, /watch (cut|ended) after/, /lags/]) expect(text).toMatch(did);
  });

  it("goes on when nobody reads what it did", async () => {
    const row = plan("  - { late: 1ms..2ms, rate: 1/1, where: { verbs: [get] } }\n");
    const flags = ["--profile", "kubernetes", "--port", "0", "--chaos", row, "--access-log"];
    const { child, firstLine, ended } = start("serve", ...flags);
    const url = (await firstLine).replace("serving on ", "");
    child.stderr?.pause();
    // More than a pipe holds.
    const headers = { "user-agent": "a".repeat(8_000) };
    for (let n = 0; n < 150; n++) expect((await get(`${url}/api/v1/namespaces/default`, headers)).status).toBe(200);
    child.stderr?.resume();
    child.kill("SIGTERM");
    const { code, stderr } = await ended;
    expect([code, stderr.split("\n").filter((line) => line.includes("late by")).length]).toEqual([0, 150]);
  });

  it.each([
    [["--chaos", "no-such.yaml"], /`--chaos`: Path no-such.yaml does not exist/],
    [["--chaos-log", "x"], /--chaos-log: nothing goes wrong without --chaos/],
    [["--chaos", "plan"], /--chaos .*bad\.yaml:4:7: faults\[0\]: there is no field "lat" here; did you mean late/],
    [["--chaos", "good", "--chaos-log", "/no/such/folder/log"], /--chaos-log .*cannot be written/],
    [["--chaos", "good", "--chaos-log", "/dev/full"], /--chaos-log .*cannot be written: its file system is full/],
  ])("refuses %j", async (flags, message) => {
    const bad = scratchFile("bad.yaml", "apiVersion: chaos/v1\nname: x\nfaults:\n  - { lat: 5s }\n");
    const args = flags.map((flag) => (flag === "plan" ? bad : flag === "good" ? plan("  - { late: 5s }\n") : flag));
    const { code, stderr } = await run("serve", "--port", "0", ...args);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});
