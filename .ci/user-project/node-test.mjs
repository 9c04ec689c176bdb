import assert from "node:assert/strict";
import { it } from "node:test";
import { createCluster } from "touchstone/testing";

void it("works under node:test", async () => {
  await using cluster = await createCluster();
  const beats = [];
  setInterval(() => beats.push(Date.now()), 60_000);
  await cluster.advance("1h");
  assert.equal(beats.length, 60);
});
