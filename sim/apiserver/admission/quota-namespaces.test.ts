import { expect, it } from "vitest";
import { RevisionStore } from "../../store/revision-store.ts";
import { quotaNamespacesOf } from "./quota-namespaces.ts";

const prefix = "/registry/resourcequotas/";
const value = (): object => Object.freeze({});

it("knows the namespaces of the quotas that are there, and of those that come and go", () => {
  const store = new RevisionStore();
  store.put(`${prefix}old/a`, 0, value);
  const namespaces = quotaNamespacesOf(store, prefix);
  const first = store.put(`${prefix}new/a`, 0, value) as number;
  const second = store.put(`${prefix}new/b`, 0, value) as number;
  store.put("/registry/pods/other/a", 0, value);
  const has = (...names: readonly string[]): readonly boolean[] => names.map((name) => namespaces.has(name));
  expect(has("old", "new", "other")).toEqual([true, true, false]);

  const updated = store.put(`${prefix}new/a`, first, value) as number;
  store.delete(`${prefix}new/b`, second);
  expect(has("new")).toEqual([true]);
  store.delete(`${prefix}new/a`, updated);
  expect(has("old", "new")).toEqual([true, false]);
});

it("is one for all servers on a store", () => {
  const store = new RevisionStore();
  expect(quotaNamespacesOf(store, prefix)).toBe(quotaNamespacesOf(store, prefix));
});
