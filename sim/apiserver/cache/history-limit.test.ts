import { expect, it } from "vitest";
import { Kernel } from "../../kernel/kernel.ts";
import { RevisionStore } from "../../store/revision-store.ts";
import { limitHistory } from "./history-limit.ts";
import { configMaps, TestBed } from "../test-bed.fixture.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";

it.each([svcProfile, kubernetesProfile])(
  "old versions go before their time under $name, and what is stored stays",
  (profile) => {
    const bed = new TestBed({ profile, historyBytesMax: 100_000, customResources: false });
    const put = (count: number): string => {
      let version = "";
      for (let at = 0; at < count; at++) {
        const data = { k: `${at}${"v".repeat(10_000)}` };
        const made = bed.ask(at === 0 ? `POST ${configMaps}` : `PUT ${configMaps}/a`, {
          as: "admin",
          body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data },
        });
        version ||= made.at("metadata.resourceVersion") as string;
        bed.advance(0.001);
      }
      return version;
    };
    const first = put(30);
    const old = bed.ask(`GET ${configMaps}?resourceVersion=${first}&resourceVersionMatch=Exact`, { as: "admin" });
    expect(old.status).toBe(410);
    const watch = bed.ask(`GET ${configMaps}?watch=1&resourceVersion=${first}`, { as: "admin" });
    expect(watch.text).toContain("410");
    const now = bed.ask(`GET ${configMaps}`, { as: "admin" });
    const recent = now.at("metadata.resourceVersion") as string;
    expect((now.at("items") as unknown[]).length).toBe(1);
    const exact = bed.ask(`GET ${configMaps}?resourceVersion=${recent}&resourceVersionMatch=Exact`, { as: "admin" });
    expect(exact.status).toBe(200);
  },
);

it("counts what may still be asked for, not what the clock has compacted, and can forget all of it", () => {
  const kernel = new Kernel({ seed: "history" });
  const store = new RevisionStore();
  const process = kernel.process("apiserver");
  const forgotten: number[] = [];
  const limit = limitHistory({ process, store, bytesMax: 1_000_000, forget: (at) => forgotten.push(at) });
  const write = (count: number): void => {
    for (let at = 0; at < count; at++) {
      const held = store.get("a");
      const expected = typeof held === "object" ? held.modRevision : 0;
      store.put("a", expected, () => ({ k: "v".repeat(91) }));
    }
  };
  write(1001);
  expect(limit.bytes()).toBe(1000 * 104);
  store.compact(store.revision - 100);
  expect(limit.bytes()).toBe(100 * 104);
  for (let round = 0; round < 30; round++) {
    write(1000);
    store.compact(store.revision);
  }
  kernel.run(1_000_000);
  expect(forgotten).toEqual([]); // three millions of bytes came, and none was more than the clock left
  write(10);
  limit.forget();
  expect([limit.bytes(), store.compactedRevision, forgotten]).toEqual([0, store.revision, [store.revision]]);
});
