import { describe, expect, test } from "vitest";
import { TestBed } from "../../apiserver/test-bed.fixture.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";

const event = (fields: object, group: string): object => ({
  apiVersion: `${group}/v1`,
  kind: "Event",
  metadata: { name: "e" },
  regarding: { kind: "Pod", namespace: "default", name: "p" },
  eventTime: "2030-01-01T00:00:00.000000Z",
  reportingController: "c",
  reportingInstance: "i",
  action: "a",
  reason: "r",
  type: "Normal",
  ...fields,
});

/** How many causes name the field when it holds this text. */
function refusals(profile: typeof svcProfile, field: string, text: string): number {
  const group = profile.dialect.name === "svc" ? "events.svc.io" : "events.k8s.io";
  const bed = new TestBed({ profile });
  const answer = bed.ask(`POST /apis/${group}/v1/namespaces/default/events`, {
    body: event({ [field]: text }, group) as never,
  });
  if (answer.status === 201) return 0;
  expect(answer.status).toBe(422);
  return (answer.at("details.causes") as { field: string }[]).length;
}

const [inBytes, inCharacters] = ["é".repeat(64), "é".repeat(128)];

describe.each(["action", "reason", "reportingInstance"])("%s", (field) => {
  test("is counted in characters by the documents, and in bytes by the observed server", () => {
    for (const profile of [svcProfile, kubernetesProfile]) expect(refusals(profile, field, inBytes)).toBe(0);
    expect(refusals(svcProfile, field, inCharacters)).toBe(0);
    expect(refusals(svcProfile, field, "👍".repeat(128))).toBe(0);
    expect(refusals(kubernetesProfile, field, inCharacters)).toBe(1);
    for (const profile of [svcProfile, kubernetesProfile]) expect(refusals(profile, field, `${inCharacters}x`)).toBe(1);
  });
});

test("a note is counted in bytes by both", () => {
  for (const profile of [svcProfile, kubernetesProfile]) {
    expect(refusals(profile, "note", "é".repeat(512))).toBe(0);
    expect(refusals(profile, "note", `${"é".repeat(512)}x`)).toBe(1);
  }
});
