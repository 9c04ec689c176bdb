import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from "../../../../wire/quantity.ts";
import { kubernetesDialect } from "../../../../wire/dialect.ts";
import { toldCharactersMax } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { type Amounts, noQuantity as zero, type ScopeTraits } from "../../../objects/quota-use.ts";
import { podQuota } from "./quota.ts";

const amountsOf = (pod: JsonObject): Amounts => podQuota.useOf?.(pod, kubernetesDialect).amounts as Amounts;

/** The plain way: one name at a time, as a quota limits it. */
function plainAmount(pod: JsonObject, key: string): Quantity {
  const spec = (pod["spec"] ?? {}) as JsonObject;
  const list = (field: string): readonly JsonObject[] => (spec[field] ?? []) as readonly JsonObject[];
  const amountOf = (container: JsonObject): Quantity => {
    const [, kind = "requests", name = key] = /^(requests|limits)\.(.+)$/.exec(key) ?? [];
    const text = ((container["resources"] ?? {}) as Record<string, Record<string, string>>)[kind]?.[name];
    return text === undefined ? zero : (parseQuantity(text) as Quantity);
  };
  let [staying, peak] = [zero, zero];
  for (const container of list("initContainers")) {
    const now = addQuantities(staying, amountOf(container));
    if (container["restartPolicy"] === "Always") staying = now;
    if (compareQuantities(now, peak) > 0) peak = now;
  }
  const running = list("containers").reduce((sum, container) => addQuantities(sum, amountOf(container)), staying);
  return compareQuantities(running, peak) > 0 ? running : peak;
}

const names = ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu", "storage"];
const keys = names.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);

describe("what a pod asks for", () => {
  it("is found in one walk as it is found name by name", () => {
    const amount = fc.constantFrom("1", "250m", "0", "1Gi", "512Mi", "3e2", "1500M", "0.5", "0.000000001");
    const table = fc.dictionary(fc.constantFrom(...names), amount, { maxKeys: 4 });
    const resources = fc.record({ requests: table, limits: table }, { requiredKeys: [] });
    const container = fc.record({ resources }, { requiredKeys: [] });
    const initial = fc.record({ resources, restartPolicy: fc.constantFrom("Always", "Never") });
    const pods = fc.record({
      containers: fc.array(container, { maxLength: 4 }),
      initContainers: fc.array(initial, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(pods, (spec) => {
        const pod = { spec } as JsonObject;
        const found = amountsOf(pod);
        for (const key of keys) {
          const wanted = podQuota.counts?.(key, kubernetesDialect) === true ? plainAmount(pod, key) : zero;
          expect([key, formatQuantity(found.get(key) ?? zero)]).toEqual([key, formatQuantity(wanted)]);
        }
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it("is read once from a stored pod, however often it is asked for", () => {
    let readCount = 0;
    const container = Object.freeze({
      get resources(): object {
        readCount++;
        return { requests: { cpu: "1" } };
      },
    });
    const pod = { spec: Object.freeze({ containers: [container] }) } as unknown as JsonObject;
    for (let at = 0; at < 100; at++) expect(formatQuantity(amountsOf(pod).get("cpu") ?? zero)).toBe("1");
    expect(readCount).toBe(2); // requests, limits
  });
});

describe("a scope of many priority classes", () => {
  it("is looked through once, and decides like a short one", () => {
    let readCount = 0;
    const names_ = Array.from({ length: 1_000 }, (_, at) => `class-${at}`);
    const values = new Proxy(Object.freeze(names_), {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) readCount++;
        return Reflect.get(target, key) as unknown;
      },
    });
    const isIn = (priorityClass: string, operator: string): boolean => {
      const traits: ScopeTraits = { ends: false, bestEffort: true, foreignAffinity: false, priorityClass };
      return podQuota.isInScope?.(traits, { scopeName: "PriorityClass", operator, values }) === true;
    };
    for (let at = 0; at < 50; at++) {
      const decided = ["In", "NotIn"].flatMap((operator) => [isIn("class-999", operator), isIn("other", operator)]);
      expect(decided).toEqual([true, false, false, true]);
    }
    expect(readCount).toBeLessThanOrEqual(1_000);
  });
});

it("what containers leave unstated is told in a text of bounded length", () => {
  const containers = Array.from({ length: 30_000 }, (_, at) => ({ name: `${"c".repeat(50)}${at}` }));
  const hard = new Map(["cpu", "memory", "limits.cpu", "limits.memory"].map((key) => [key, zero]));
  const text = podQuota.unstated?.({ spec: { containers } } as unknown as JsonObject)(hard) ?? "";
  expect(text.slice(0, 60)).toBe(`cpu for: ${"c".repeat(50)}0`);
  expect(text.length).toBeGreaterThan(toldCharactersMax / 2);
  expect(text.length).toBeLessThan(toldCharactersMax + 1_000);
});
