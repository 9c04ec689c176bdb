import { expect, it } from "vitest";
import { kubernetes, kubernetesOf } from "./kubernetes.ts";

it("is of the version that is nearest to the target's", () => {
  const newest = kubernetesOf("v1.36.2");
  const mended = kubernetes.deviations.filter((row) => !newest.deviations.includes(row)).map(({ name }) => name);
  expect(mended).toEqual(["exact-future-is-500", "bookmark-has-empty-fields"]);
  for (const version of ["v1.33.3+touchstone", "1.33.0", "v1.34.9", "v1.20.1", undefined, "none"])
    expect(kubernetesOf(version)).toBe(kubernetes);
  for (const version of ["v1.35.0-alpha.1", "v1.36.2", "v1.99.0"]) expect(kubernetesOf(version)).toBe(newest);
});
