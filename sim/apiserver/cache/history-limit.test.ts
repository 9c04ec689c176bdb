import { expect, it } from "vitest";
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
