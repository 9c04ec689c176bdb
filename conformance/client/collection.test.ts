import { describe, expect, it } from "vitest";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { Client } from "./client.ts";
import { Collection } from "./collection.ts";
import { Recorder } from "./recorder.ts";

const registry = { created: () => {}, gone: () => {} };

/** What deletecollection at `path` sends to a server whose lists show objects of these namespaces. */
async function sentTo(path: string, namespaces: readonly string[]): Promise<{ sent: string[]; end: unknown }> {
  const clock = jumpingClock();
  const items = namespaces.map((namespace) => ({ metadata: { name: "a", namespace } }));
  const transport = scriptedTransport(() => ({ status: 200, json: { metadata: { resourceVersion: "1" }, items } }));
  const collection = new Collection(new Client(transport, clock, new Recorder(clock), "test"), path, registry);
  const end = await collection.deleteCollection().catch((error: unknown) => error);
  return { sent: transport.requests.map(({ method }) => method), end };
}

it("keeps no more of all pages of a list than of one answer", async () => {
  const clock = jumpingClock();
  const metadata = { resourceVersion: "1", continue: "more" };
  const items = [{ metadata: { name: "a" }, data: { a: "a".repeat(10 * 1024 * 1024) } }];
  const transport = scriptedTransport(() => ({ status: 200, json: { metadata, items } }));
  const client = new Client(transport, clock, new Recorder(clock), "test");
  const pages = new Collection(client, "/api/v1/configmaps", registry).pages({ limit: 1 });
  await expect(pages).rejects.toThrow(
    "the pages of /api/v1/configmaps?limit=1&continue=more together: more than 64 MiB, or 3,000,000 values",
  );
  expect(transport.requests).toHaveLength(7);
});

it("remembers what a patch has had held, and not what one has changed", async () => {
  const clock = jumpingClock();
  const transport = scriptedTransport(() => ({ status: 200, json: { metadata: { name: "a" } } }));
  const created: [string, boolean][] = [];
  const remembering = { created: (path: string, held: boolean) => void created.push([path, held]), gone: () => {} };
  const client = new Client(transport, clock, new Recorder(clock), "test");
  const jobs = new Collection(client, "/apis/batch/v1/namespaces/own/jobs", remembering);
  await jobs.patch("a", "merge", { metadata: { labels: { a: "b" }, finalizers: [] } });
  await jobs.patch("a/status", "merge", { status: {} });
  await jobs.patch("a", "merge", { metadata: { finalizers: ["example.com/hold"] } });
  expect(created).toEqual([["/apis/batch/v1/namespaces/own/jobs/a", true]]);
});

describe("the deletion of a collection", () => {
  const path = "/api/v1/namespaces/own/configmaps";

  it("is asked for where the list shows what is in the namespace alone", async () => {
    expect((await sentTo(path, ["own", "own"])).sent).toEqual(["GET", "DELETE"]);
  });

  it("is not asked of a server that does not keep namespaces apart", async () => {
    const { sent, end } = await sentTo(path, ["own", "others"]);
    expect(sent).toEqual(["GET"]);
    expect(end).toMatchObject({ name: "Inconclusive", message: expect.stringContaining("others/a") });
  });

  it("is never asked for what is of no namespace, or of all", async () => {
    for (const wide of ["/api/v1/configmaps", "/api/v1/namespaces", "/apis/batch/v1/jobs"]) {
      expect((await sentTo(wide, [])).sent).toEqual([]);
    }
  });
});
