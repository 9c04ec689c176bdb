import { execFile } from "node:child_process";
import { randomUUID, scrypt } from "node:crypto";
import { lookup } from "node:dns";
import { readFile } from "node:fs";
import { readFile as readFilePromise } from "node:fs/promises";
import { connect } from "node:net";
import { promisify } from "node:util";
import { gunzipSync, gzip, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Cluster } from "./cluster.ts";
import { createCluster } from "./testing.ts";

const realSetTimeout = globalThis.setTimeout;
const realSleep = promisify(realSetTimeout);

let cluster: Cluster;
beforeEach(async () => {
  cluster = await createCluster();
});
afterEach(() => cluster.close());

const self = new URL(import.meta.url).pathname;

const here = "outside-work.test.ts";

const offences: Record<string, [work: () => Promise<unknown>, name: string, caller?: string]> = {
  "asynchronous compression": [() => promisify(gzip)("a"), "compression"],
  "a file read with a callback": [() => promisify(readFile)(self), "file access"],
  "a file read with a promise": [() => readFilePromise(self), "file access"],
  "a DNS look-up": [() => promisify(lookup)("localhost"), "a DNS look-up"],
  "a WebCrypto digest": [() => crypto.subtle.digest("SHA-256", new Uint8Array(2)), "a WebCrypto digest"],
  "key derivation": [() => promisify(scrypt)("a", "b", 8), "key derivation (scrypt)"],
  "a child process": [() => promisify(execFile)(process.execPath, ["--version"]), "a child process"],
  "a connection": [
    () =>
      new Promise((resolve) => {
        const socket = connect(9, "127.0.0.1");
        socket.on("error", resolve);
        socket.on("connect", () => socket.destroy());
      }),
    "a TCP connection",
    "an unknown place", // Node connects in a tick of its own
  ],
  "a timer taken before": [() => realSleep(1), "a real timer, taken before the cluster was created,"],
};

describe("outside work", () => {
  it.each(Object.entries(offences))(
    "%s fails the run with its name and its place",
    async (_, [work, name, caller = here]) => {
      const outcome = cluster.run(async () => {
        await cluster.advance("1s");
        await work();
      });
      await expect(outcome).rejects.toMatchObject({
        name: "OutsideWorkError",
        code: "outside-work",
        work: name,
        caller: expect.stringContaining(caller),
      });
      // The run is spoilt for good: nothing more can be concluded from it.
      await expect(cluster.advance("1s")).rejects.toThrow(name);
    },
  );

  it("in the background fails whatever the test awaits", async () => {
    setTimeout(() => void readFilePromise(self), 500);
    await expect(cluster.advance("1s")).rejects.toThrow(/file access .* began at .*outside-work\.test/);
  });

  it.each(Object.entries(offences))("%s is allowed when it is announced, and time waits for it", async (_, [work]) => {
    let timersRun = 0;
    await cluster.run(async () => {
      setTimeout(() => timersRun++, 1);
      await cluster.outside("announced", async () => {
        await work();
        expect(timersRun).toBe(0);
      });
      await cluster.advance("1s");
    });
    expect(timersRun).toBe(1);
  });

  it.each(Object.entries(offences))("%s is allowed while no time passes", async (_, [work]) => {
    await cluster.advance("1s");
    await work();
    await cluster.advance("1s");
  });

  it("is not what is synchronous, what the test runner does, or what stays in memory", async () => {
    await cluster.run(async () => {
      expect(gunzipSync(gzipSync("a")).toString()).toBe("a");
      console.info("the runner's console has timers of its own");
      await new Promise((resolve) => setImmediate(resolve));
      await new Response(new Blob(["a"]).stream()).text();
      randomUUID();
      await import("./duration.ts");
    });
  });
});
