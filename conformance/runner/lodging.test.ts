import { expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { Recorder } from "../client/recorder.ts";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.ts";
import { awaitFurnished, Furnishing } from "./lodging.ts";

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
