import { expect, it } from "vitest";
import { jumpingClock, type Script, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { Client } from "./client.ts";
import { servedTypes } from "./discovery.ts";
import { Recorder } from "./recorder.ts";

const documents: Readonly<Record<string, object>> = {
  "/apis": { groups: [{ name: "batch", versions: [{ groupVersion: "batch/v1" }, { groupVersion: "batch/v2" }] }] },
  "/api/v1": { resources: [{ name: "nodes", kind: "Node", namespaced: false, verbs: ["get", "list"] }] },
  "/apis/batch/v1": { resources: [{ name: "jobs/status", kind: "Job", namespaced: true, verbs: ["get"] }] },
};
const script: Script = ({ path }) => {
  const json = documents[path];
  return json === undefined ? { status: 503, json: {} } : { status: 200, json };
};

it("reads the types of all groups, and passes over what does not answer", async () => {
  const clock = jumpingClock();
  const types = await servedTypes(new Client(scriptedTransport(script), clock, new Recorder(clock), "test"));
  expect(types).toEqual([
    {
      prefix: "/api/v1",
      groupVersion: "v1",
      name: "nodes",
      kind: "Node",
      namespaced: false,
      verbs: new Set(["get", "list"]),
    },
    {
      prefix: "/apis/batch/v1",
      groupVersion: "batch/v1",
      name: "jobs/status",
      kind: "Job",
      namespaced: true,
      verbs: new Set(["get"]),
    },
  ]);
});
