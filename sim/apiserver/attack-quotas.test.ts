/** What attacks on quotas and budgets cost, counted in events and in writes. */
import { expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { type Attack, attacks, post, times } from "./attack-requests.fixture.ts";
import { type Told, strike, Struck } from "./struck.fixture.ts";

it("a collection of quotas is deleted with a write for each, and the fewer in one event the more of them there are", () => {
  const { struck, told } = strike("quotas", 1 / 10); // 200, of which 67 go at first
  const { kernel } = struck.bed;
  const revision = (): number => struck.bed.store.revision;
  for (let before = revision(); told[0]?.status === 0; before = revision()) {
    kernel.step();
    expect(revision() - before).toBeLessThanOrEqual(100);
  }
  expect(told[0]?.status).toBe(200);
  const after = revision();
  struck.bed.advance(5);
  expect(revision() - after).toBeLessThanOrEqual(200); // nothing is counted again for each that went
});

it("a large quota is counted in events of its own, and anew when it changes meanwhile", () => {
  const path = "/api/v1/namespaces/default/resourcequotas";
  const quota = (count: number, amount: string): object => {
    const hard = Object.fromEntries(times(count, (at) => [`count/r${at}.example.com`, amount]));
    return { metadata: { name: "large" }, spec: { hard: { ...hard, "count/configmaps": "9" } } };
  };
  const struck = new Struck({}, 1);
  const { kernel } = struck.bed;
  const read = (): JsonObject => struck.send({ path: `${path}/large` }).payload?.object as JsonObject;
  const counted = (): number => {
    const before = kernel.nowMicros();
    let eventCount = 0;
    for (; kernel.nextEventMicros === before; eventCount++) kernel.step();
    return eventCount;
  };
  expect(struck.send(post(path, quota(6_000, "1"))).status).toBe(201);
  expect(counted()).toBeGreaterThanOrEqual(10);
  expect((read()["status"] as JsonObject)["used"]).toMatchObject({
    "count/configmaps": "0",
    "count/r1.example.com": "0",
  });
  const put = (object: object): Told => struck.send({ ...post(`${path}/large`, object), method: "PUT" });
  expect(put(quota(6_000, "2")).status).toBe(200);
  for (let at = 0; at < 4; at++) kernel.step();
  expect(put(quota(7_000, "3")).status).toBe(200);
  struck.send(post("/api/v1/namespaces/default/configmaps", { metadata: { name: "one-more" } }));
  struck.bed.advance(0.1);
  const { spec, status } = read() as { readonly spec: JsonObject; readonly status: JsonObject };
  expect(status["hard"]).toEqual(spec["hard"]);
  expect(Object.keys(status["used"] as object)).toHaveLength(7_001);
  expect(status["used"]).toMatchObject({ "count/configmaps": "1" });
  expect(struck.failures).toEqual([]);
});

it("an eviction reads large budgets some at a time, and spends what is there at last", () => {
  const namespace = "/api/v1/namespaces/default";
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const absent = times(4_000, (at) => ({ key: `k${at}`, operator: "DoesNotExist" }));
  const budget = (at: number): object => ({
    metadata: { name: `b${at + 10}` },
    spec: { maxUnavailable: 1, selector: { matchExpressions: [{ key: `z${at}`, operator: "Exists" }, ...absent] } },
  });
  const struck = new Struck({}, 1);
  const pod = { metadata: { name: "p", labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  struck.send(post(`${namespace}/pods`, pod));
  const headers = { "content-type": "application/merge-patch+json" };
  const body = JSON.stringify({ status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } });
  struck.send({ method: "PATCH", path: `${namespace}/pods/p/status`, headers, body });
  for (let at = 0; at < 50; at++) expect(struck.send(post(budgets, budget(at))).status).toBe(201);
  const covering = { metadata: { name: "c" }, spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } } };
  struck.send(post(budgets, covering));
  struck.bed.advance(2);
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
  const evict = (): Told => struck.send(post(`${namespace}/pods/p/eviction`, eviction));
  const refused = evict();
  expect(refused.status).toBe(429);
  expect(refused.eventCount).toBeGreaterThanOrEqual(5);
  struck.send({ method: "DELETE", path: `${budgets}/c` });
  expect(evict().status).toBe(201);
  expect(struck.failures).toEqual([]);
});

it("budgets that all cover a pod are looked at some at a time, once for what happened together, and not written again", () => {
  const attack = attacks["budgets"] as Attack;
  const struck = new Struck(attack, 1 / 20); // 15 pods, 100 budgets
  const { kernel, store } = struck.bed;
  struck.bed.advance(5);
  const before = store.revision;
  const told = [...(attack.strike?.() ?? [])].map((each) => struck.send(each));
  expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const until = kernel.nowMicros() + 1_000_000;
  let eventCount = 0;
  for (; kernel.nextEventMicros !== undefined && kernel.nextEventMicros <= until; eventCount++) kernel.step();
  expect(store.revision).toBe(before + 5);
  expect(eventCount).toBeGreaterThanOrEqual(10); // ten budgets each
  expect(eventCount).toBeLessThanOrEqual(20); // and not for each of the five pods anew
  expect(struck.failures).toEqual([]);
});
