/** Clients bear notes that are longer than any new one may be, and types that nobody knows. Source: document 2, Limits, Versioning 3. */
import { expect, test } from "vitest";
import { parseScenario } from "../../scenarios/load.ts";
import { playScenario } from "./play.ts";

const note = "n".repeat(64 * 1024);
// The older form has no limits of its own where it has no eventTime: so such events come to be.
const old = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "old", namespace: "default" },
  involvedObject: { kind: "Pod", namespace: "default", name: "p" },
  reason: "Long",
  message: note,
  type: "Odd",
};

test.each([
  ["svc", "events.svc.io"],
  ["kubernetes", "events.k8s.io"],
] as const)("%s", (profile, group) => {
  const scenario = {
    apiVersion: "scenarios/v1",
    name: "test",
    until: "20s",
    profile,
    cluster: { objects: [old] },
    clients: [
      { name: "informer-1", kind: "informer", resource: "events" },
      { name: "lister-1", kind: "lister", resource: "events", every: "1s" },
      { name: "writer-1", kind: "writer", resource: "events", every: "500ms" },
    ],
    expect: [
      { by: "15s", requirement: "informer.converges" },
      {
        by: "15s",
        request: `GET /apis/${group}/v1/namespaces/default/events/old`,
        holds: { note, type: "Odd" },
      },
    ],
  };
  const { report } = playScenario(parseScenario(JSON.stringify(scenario), "test.yaml"));
  expect(report.failure).toBeUndefined();
  expect(report.clients["lister-1"]).toMatchObject({ failures: 0 });
});
