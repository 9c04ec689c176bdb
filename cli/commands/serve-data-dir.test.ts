/** Kills a server with a data directory while it is written to, and looks for every write that was acknowledged. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { main } from "../spawned-command.fixture.ts";

const home = mkdtempSync(join(tmpdir(), "kill-"));
/** More by hand: KILL_ROUNDS=50. */
const rounds = Number(process.env["KILL_ROUNDS"] ?? 3);
const running = new Set<ChildProcess>();

afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

async function serve(): Promise<{ readonly url: string; readonly kill: () => Promise<void> }> {
  const child = spawn(process.execPath, [
    main,
    "serve",
    "--port",
    "0",
    "--anonymous-auth=true",
    "--data-dir",
    home,
    "--json",
  ]);
  running.add(child);
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  let told = "";
  child.stderr.on("data", (chunk: Buffer) => (told += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("\n")) resolve((JSON.parse(text) as { serving: string }).serving);
    });
    void ended.then(() => reject(new Error(told)));
  });
  return {
    url,
    async kill() {
      child.kill("SIGKILL");
      await ended;
      running.delete(child);
    },
  };
}

it(
  `loses no acknowledged write in ${rounds} kills`,
  async () => {
    /** What each name is known to hold: the last number that was acknowledged, and the last one that was sent. */
    const acknowledged = new Map<string, number>();
    const sent = new Map<string, number>();
    const uids = new Set<string>();
    let count = 0;
    let answered = 0;
    const put = async (url: string, name: string): Promise<void> => {
      const path = `${url}/api/v1/namespaces/default/configmaps`;
      const isNew = !acknowledged.has(name);
      const number = ++count;
      sent.set(name, number);
      const body = JSON.stringify({ metadata: { name }, data: { number: String(number) } });
      const headers = { "content-type": isNew ? "application/json" : "application/merge-patch+json" };
      const answer = await fetch(isNew ? path : `${path}/${name}`, { method: isNew ? "POST" : "PATCH", headers, body });
      answered++;
      const { metadata } = (await answer.json()) as { metadata: { uid: string } };
      if (answer.status === 201) {
        expect(uids.has(metadata.uid)).toBe(false);
        uids.add(metadata.uid);
      }
      if (answer.ok || answer.status === 409) acknowledged.set(name, answer.ok ? number : 0);
    };
    const writer = async (url: string, at: number, isOver: () => boolean): Promise<void> => {
      for (let turn = 0; !isOver(); turn++) {
        try {
          await put(url, `w${at}-${turn % 25}`);
        } catch {
          return; // the server is gone
        }
      }
    };
    for (let round = 0; round < rounds; round++) {
      const { url, kill } = await serve();
      const list = (await (await fetch(`${url}/api/v1/namespaces/default/configmaps`)).json()) as {
        items: { metadata: { name: string }; data: { number: string } }[];
      };
      const held = new Map(list.items.map(({ metadata, data }) => [metadata.name, Number(data.number)]));
      for (const [name, number] of acknowledged) {
        const found = held.get(name);
        expect(found, `${name} in round ${round}`).toBeDefined();
        // Writes whose answers were lost may be there or not; what was acknowledged is, or one of these after it.
        expect(found, name).toBeGreaterThanOrEqual(number);
        expect(found, name).toBeLessThanOrEqual(sent.get(name) ?? 0);
      }
      let isOver = false;
      const writers = [0, 1, 2, 3].map((at) => writer(url, at, () => isOver));
      const enough = answered + 15;
      for (let waited = 0; answered < enough && waited < 10_000; waited += 5) await wait(5);
      await wait((round * 97) % 200);
      await kill();
      isOver = true;
      await Promise.all(writers);
    }
    expect(answered).toBeGreaterThanOrEqual(15 * rounds);
  },
  60_000 + rounds * 20_000,
);
