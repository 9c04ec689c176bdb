import { expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { Recorder } from "../client/recorder.ts";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import type { Exchange } from "../client/exchange.ts";
import { awaitFurnished, Furnishing, type Lodging, Vacancies } from "./lodging.ts";

it("waits for controllers that never come a few times, and then asks once", async () => {
  const clock = jumpingClock();
  const transport = scriptedTransport(() => ({ status: 404, json: {} }));
  const client = new Client(transport, clock, new Recorder(clock), "test");
  const furnishing = new Furnishing(["configmaps/a", "configmaps/b"]);
  const waited: number[] = [];
  for (let namespace = 0; namespace < 6; namespace++) {
    const begun = clock.nowMillis();
    await awaitFurnished(client, `n${namespace}`, furnishing);
    waited.push(clock.nowMillis() - begun);
  }
  expect(waited.map((millis) => millis > 0)).toEqual([true, true, true, false, false, false]);
});

const wrote = (path: string): Exchange => ({ request: { method: "POST", path, headers: {} } }) as unknown as Exchange;

it("leaves empty namespaces to other checks, but for those where something may act later", () => {
  const ofRun: Lodging[] = [];
  const one = new Vacancies(ofRun);
  const other = new Vacancies(ofRun);
  const plain = { prefix: "plain", suffixes: [""] };
  const limited = { prefix: "limited", suffixes: [""] };
  one.give(plain, [wrote("/api/v1/namespaces/plain/configmaps")]);
  one.give(limited, [wrote("/api/v1/namespaces/limited/resourcequotas?dryRun=All")]);
  expect(other.take()).toBe(plain);
  expect(other.take()).toBeUndefined();
  expect(one.take()).toBe(limited);
  one.give(limited, [wrote("/api/v1/namespaces/limited/configmaps")]); // who was there before still counts
  expect(one.own).toEqual([limited]);
  expect(ofRun).toEqual([]);
});
