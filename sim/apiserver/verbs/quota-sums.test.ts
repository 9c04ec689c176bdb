import { describe, expect, it } from "vitest";
import { formatQuantity, type Quantity } from "../../../wire/quantity.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { oneQuantity } from "../../objects/quota-use.ts";
import { RevisionStore } from "../../store/revision-store.ts";
import { CustomResources } from "../catalogue/custom-resources.ts";
import { ServedResources } from "../catalogue/served-resources.ts";
import { countedPerTurn, QuotaSums } from "./quota-sums.ts";

const process = new Kernel({ seed: "sums" }).process("apiserver");

function sums(objects: readonly JsonObject[], store = new RevisionStore()): QuotaSums {
  const count = (): number => objects.length;
  return new QuotaSums({ store, process, hasQuotas: () => true, objects: () => objects, count });
}

const { dialect } = kubernetesProfile;
const resourceOf = (): never => {
  throw new Error("no custom resources here");
};
const custom = new CustomResources({ store: new RevisionStore(), process, dialect, resourceOf });
const pods = new ServedResources(kubernetesProfile, custom).named("", "v1", "pods");

const quotaOf = (keys: readonly string[], spec: JsonObject = {}): readonly [JsonObject, Map<string, Quantity>] => [
  { spec } as JsonObject,
  new Map(keys.map((key) => [key, oneQuantity])),
];

describe("the first count of a namespace", () => {
  it("reads each object once, however many amounts and quotas there are", () => {
    let readCount = 0;
    const objects = Array.from({ length: 10 }, () => ({
      get spec(): object {
        readCount++;
        return { containers: [{ resources: { requests: { "example.com/r1": "2" } } }] };
      },
    })) as unknown as JsonObject[];
    const counted = sums(objects);
    const keys = Array.from({ length: 500 }, (_, at) => `requests.example.com/r${at}`);
    for (let at = 0; at < 50; at++) {
      const scopes = at % 2 === 0 ? ["NotTerminating"] : ["Terminating"];
      const used = counted.of(
        pods,
        "default",
        ...quotaOf([...keys, `requests.example.com/s${at}`, "pods"], { scopes }),
      );
      const shown = [...used].map(([key, amount]) => [key, formatQuantity(amount)]);
      const none = at % 2 !== 0;
      expect(shown).toEqual(
        none
          ? [["pods", "0"]]
          : [
              ["requests.example.com/r1", "20"],
              ["pods", "10"],
            ],
      );
    }
    expect(readCount).toBeLessThanOrEqual(40);
  });

  it("of many objects is broken off, and what is written meanwhile counts once", () => {
    const pod = (spec: JsonObject = {}): JsonObject => ({ metadata: {}, spec });
    const objects = Array.from({ length: 2 * countedPerTurn + 1 }, () => pod());
    const store = new RevisionStore();
    const counted = sums(objects, store);
    expect(counted.goOn(pods, "default")).toBe(false);
    const written = store.put("/registry/pods/default/new", 0, () => pod()) as number;
    store.put("/registry/pods/default/newer", 0, () => pod());
    expect(counted.goOn(pods, "default")).toBe(false);
    store.delete("/registry/pods/default/new", written);
    expect(counted.goOn(pods, "default")).toBe(true);
    const used = counted.of(pods, "default", ...quotaOf(["pods"]));
    expect(formatQuantity(used.get("pods") as Quantity)).toBe(String(objects.length + 1));
  });
});
