import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, createCluster } from "./testing.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis));

describe("a program that dies", () => {
  let cluster: Cluster;
  beforeEach(async () => {
    cluster = await createCluster({ latencyMicros: 1000 });
  });
  afterEach(() => cluster.close());

  it("does nothing any more: no timer fires, no request is answered, no finally runs, and the server sees it gone", async () => {
    const log: string[] = [];
    const program = cluster.launch(async ({ fetch, url }) => {
      setInterval(() => log.push("beat"), 1000);
      try {
        const watch = await fetch(`${url}${configMaps}?watch=1`);
        log.push(`watch ${watch.status}`);
        for await (const _ of watch.body as ReadableStream<Uint8Array>) log.push("event");
      } finally {
        log.push("finally");
      }
    });
    await cluster.advance("2500ms");
    expect(log).toEqual(["watch 200", "beat", "beat"]);
    expect(cluster.openRequestCount()).toBe(1);
    program.crash();
    expect([program.isAlive, cluster.openRequestCount()]).toEqual([false, 0]);
    await cluster.create("{ apiVersion: v1, kind: ConfigMap, metadata: { name: a } }");
    await cluster.advance("1m");
    expect(log).toEqual(["watch 200", "beat", "beat"]);
    program.start();
    await cluster.advance("1500ms");
    expect(log).toEqual(["watch 200", "beat", "beat", "watch 200", "event", "beat"]);
    expect(program.lives).toBe(2);
  });

  it("is told apart from others by whichever way in it takes", async () => {
    const [log, urls] = [[] as string[], `${cluster.url}${configMaps}`];
    const body = (name: string) => JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
    const headers = { "content-type": "application/json" };
    const programs = ["one", "two"].map((name) =>
      cluster.launch(async () => {
        for (let beat = 0; ; beat++) {
          await cluster.fetch(urls, { method: "POST", body: body(`${name}-${beat}`), headers });
          await fetch(urls, { dispatcher: cluster.dispatcher } as object);
          log.push(`${name}-${beat}`);
          await pause(1000);
        }
      }),
    );
    await cluster.advance("500ms");
    programs[0]?.crash();
    await cluster.advance("1s");
    expect(log).toEqual(["one-0", "two-0", "two-1"]);
    await cluster.run(async () => void (await cluster.fetch(urls)));
  });

  it("ends by an exception that nobody catches, in a promise or in a timer", async () => {
    const inPromise = cluster.launch(async () => {
      await pause(10);
      throw new Error("mine");
    });
    const inTimer = cluster.launch(() => void setTimeout(() => expect.fail("a timer's"), 20));
    await cluster.advance("1s");
    expect([inPromise, inTimer].map(({ isAlive }) => isAlive)).toEqual([false, false]);
    expect(inPromise.thrown?.error).toEqual(new Error("mine"));
    expect(inTimer.thrown?.error).toBeInstanceOf(Error);
  });

  it("does not begin twice, nor where time is real", async () => {
    const program = cluster.launch(() => undefined);
    expect(() => program.start()).toThrow("the program is running");
    await cluster.close();
    await using real = await createCluster({ virtualGlobals: false });
    expect(() => real.launch(() => undefined)).toThrow("timers are virtual");
  });
});
