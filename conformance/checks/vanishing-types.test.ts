/** Others' definitions come and go while a check looks at what is served: none of that is a failure. */
import { describe, expect, it } from "vitest";
import { runSuite } from "../run-suite.ts";
import { jumpingClock, type Script, scriptedTransport } from "../testing/scripted-target.fixture.ts";

const walkers = [
  "every-list-comes-in-json",
  "types-are-found-at-their-paths",
  "collections-name-their-kind",
  "discovery-says-what-is-served",
];

const verbs = ["get", "list", "watch"];
const groupVersion = "widgets.example.com/v1";
const version = { groupVersion, version: "v1" };
const group = { name: "widgets.example.com", versions: [version], preferredVersion: version };
const named = (name: string, kind: string, namespaced: boolean) => ({ name, kind, namespaced, verbs });
const core = [named("namespaces", "Namespace", false), named("configmaps", "ConfigMap", true)];
const widgets = [named("widgets", "Widget", true), { ...named("widgets/scale", "Scale", true), verbs: ["get"] }];
const none = { status: 404, text: "404 page not found" };

/** Lawful but for a group that goes after so many requests; or, `broken`, is named for ever after. */
function judged(check: string, requestsUntilGone: number, broken: boolean) {
  let count = 0;
  const script: Script = ({ method, path: target, body }) => {
    const path = target.split("?")[0] as string;
    const isThere = count++ < requestsUntilGone;
    if (path === "/api") return { status: 200, json: { versions: ["v1"] } };
    if (path === "/apis") return { status: 200, json: { groups: isThere || broken ? [group] : [] } };
    if (path === "/api/v1") return { status: 200, json: { groupVersion: "v1", resources: core } };
    if (path === `/apis/${groupVersion}`) {
      return isThere || (broken && check !== "discovery-says-what-is-served")
        ? { status: 200, json: { groupVersion, resources: widgets } }
        : none;
    }
    const kind = { namespaces: "Namespace", configmaps: "ConfigMap", widgets: "Widget" }[path.split("/").pop() ?? ""];
    if (kind === "Widget" && !isThere) return none;
    if (kind !== undefined && method === "GET") {
      const apiVersion = kind === "Widget" ? groupVersion : "v1";
      const metadata = { resourceVersion: "1" };
      return { status: 200, json: { kind: `${kind}List`, apiVersion, metadata, items: [] } };
    }
    if (method === "POST" && kind === "Namespace") {
      const { metadata } = JSON.parse(String(body)) as { metadata: object };
      const stamped = { ...metadata, uid: "1", resourceVersion: "1", creationTimestamp: "2026-01-02T03:04:05Z" };
      return { status: 201, json: { apiVersion: "v1", kind, metadata: stamped } };
    }
    if (!isThere && path.includes("/widgets/")) return none;
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "NotFound" };
    return { status: 404, json: { ...status, code: 404, message: "not found", details: {} } };
  };
  const transport = scriptedTransport(script);
  return runSuite({ transport, clock: jumpingClock(), profile: "svc", targetKind: "embedded", only: [check] });
}

describe.each(walkers)("%s", (check) => {
  it("lets a group go after any of its requests", async () => {
    for (let count = 0; count < 40; count += 1) {
      const { checks } = await judged(check, count, false);
      expect(checks[0]?.failure?.actual, `after ${count} requests`).toBeUndefined();
    }
  });
});

describe("what goes on being named", () => {
  it.each(walkers.filter((check) => check !== "collections-name-their-kind"))("must be served: %s", async (check) => {
    const requirements = [];
    for (let count = 0; count < 40; count += 1) {
      const { checks } = await judged(check, count, true);
      requirements.push(checks[0]?.failure?.requirement);
    }
    expect(requirements.filter((requirement) => requirement !== undefined)).not.toEqual([]);
  });
});
