import { describe, expect, it } from "vitest";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { Client } from "./client.ts";
import { endWhereUnserved, optionalVerbOf } from "./optional-verbs.ts";
import { Recorder } from "./recorder.ts";

describe("the verb of a request that a resource need not serve", () => {
  it.each([
    ["PATCH", "/api/v1/namespaces/n/configmaps/a?dryRun=All", "/api/v1", "configmaps", "patch"],
    ["PUT", "/apis/apps/v1/namespaces/n/deployments/a/status", "/apis/apps/v1", "deployments/status", "update"],
    ["PATCH", "/api/v1/namespaces/n", "/api/v1", "namespaces", "patch"],
    ["PATCH", "/api/v1/nodes/n", "/api/v1", "nodes", "patch"],
    ["DELETE", "/api/v1/namespaces/n/configmaps?limit=1", "/api/v1", "configmaps", "deletecollection"],
    ["GET", "/api/v1/configmaps?watch=true&limit=1", "/api/v1", "configmaps", "watch"],
  ])("is known: %s %s", (method, path, prefix, resource, verb) => {
    expect(optionalVerbOf({ method, path })).toEqual({ prefix, resource, verb });
  });

  it.each([
    ["PUT", "/api/v1/namespaces/n/configmaps"], // of a collection: no verb at all
    ["DELETE", "/api/v1/namespaces/n/configmaps/a"],
    ["POST", "/api/v1/namespaces/n/configmaps/a"],
    ["GET", "/api/v1/configmaps"],
    ["PATCH", "/apis/events.svc.io/v1/namespaces/n/events/a"], // the documents promise each operation on events
  ])("is none: %s %s", (method, path) => {
    expect(optionalVerbOf({ method, path })).toBeUndefined();
  });
});

describe("a refused verb", () => {
  const end = async (document: unknown): Promise<unknown> => {
    const clock = jumpingClock();
    const transport = scriptedTransport(({ method }) =>
      method === "GET" ? { status: 200, json: document } : { status: 405, json: {} },
    );
    const recorder = new Recorder(clock);
    const client = new Client(transport, clock, recorder, "test", undefined, endWhereUnserved);
    const ended = await client
      .attempt("PATCH", "/api/v1/namespaces/n/configmaps/a")
      .catch((error: unknown) => error as Error);
    // A report shows the refusal, and not what was asked about it.
    if (!(ended instanceof Error)) expect(recorder.last()).toBe(ended.exchange);
    return ended;
  };
  const naming = (...verbs: readonly string[]) => ({ resources: [{ name: "configmaps", verbs }] });

  it("ends the program where discovery does not name it", async () => {
    expect(await end(naming("get"))).toMatchObject({ name: "Unsupported", feature: "patch of configmaps" });
  });

  it("is an answer like others where discovery names it, or does not say", async () => {
    for (const document of [naming("get", "patch"), { resources: [] }, "no document"]) {
      expect(await end(document)).toMatchObject({ status: 405 });
    }
  });
});
