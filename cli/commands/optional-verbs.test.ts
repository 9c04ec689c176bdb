/**
 * Verbs that a resource need not have, taken from the embedded server: from its answers, and from its discovery. What
 * needs such a verb is then unsupported, and all else is judged as before.
 */
import { asksForWatch } from "../../wire/asks-for-watch.ts";
import { describe, expect, it } from "vitest";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { runSuite } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";
import type { StreamSink, Transport, WireRequest } from "../../wire/ports.ts";

/** What says which verbs there are: lists of single versions, and of everything at once. */
const groupPath = /^\/(api|api\/v1|apis|apis\/[^/?]+\/[^/?]+)$/;
const collectionPath = /^\/(api|apis\/[^/?]+)\/v1\/namespaces\/[^/?]+\/[a-z]+(\?|$)/;

const refused: Record<string, (request: WireRequest) => boolean> = {
  deletecollection: ({ method, path }) => method === "DELETE" && collectionPath.test(path),
  patch: ({ method }) => method === "PATCH",
  update: ({ method, path }) => method === "PUT" && !collectionPath.test(path),
  watch: ({ path }) => asksForWatch(path),
};

/** Requests of the verb are answered 405, and discovery does not name it, unless it `isNamed` all the same. */
function without(verb: string, isNamed: boolean, transport: Transport): Transport {
  return {
    close: () => transport.close(),
    open(request, sink) {
      if (refused[verb]?.(request) === true) return refuse(sink);
      return transport.open(request, !isNamed && groupPath.test(request.path) ? unnamed(verb, sink) : sink);
    },
  };
}

function refuse(sink: StreamSink): () => void {
  const typed = { kind: "Status", apiVersion: "v1", metadata: {} };
  const message = "the server does not allow this method on the requested resource";
  const status = { ...typed, status: "Failure", message, reason: "MethodNotAllowed", code: 405 };
  let isCut = false;
  queueMicrotask(() => {
    if (isCut) return;
    sink.head(405, { "content-type": "application/json" });
    sink.chunk(new TextEncoder().encode(JSON.stringify(status)));
    sink.end();
  });
  return () => {
    isCut = true;
  };
}

function unnamed(verb: string, sink: StreamSink): StreamSink {
  const chunks: Uint8Array[] = [];
  return {
    ...sink,
    head: (status, { "content-length": _length, ...headers }) => sink.head(status, headers),
    chunk: (bytes) => void chunks.push(bytes),
    end() {
      const text = Buffer.concat(chunks).toString().replaceAll(`"${verb}",`, "").replaceAll(`,"${verb}"`, "");
      sink.chunk(new TextEncoder().encode(text));
      sink.end();
    },
    failed: (cause) => sink.failed(cause),
  };
}

function judged(verb: string, isNamed: boolean, only: readonly string[]): Promise<SuiteReport> {
  const server = { seed: "1", profile: profiles.svc, authorizationModes: ["RBAC"] as const };
  return withEmbeddedServer(server, ({ transport, ...ports }) =>
    runSuite({
      ...ports,
      transport: without(verb, isNamed, transport),
      targetKind: "embedded",
      profile: "svc",
      runs: 2,
      only,
    }),
  );
}

/** Areas in which every verb is asked for. Of events the documents promise each operation, so those are not among them. */
const areas = ["objects", "writes", "deletion", "selectors", "dry-run", "patch", "errors", "watch", "custom-resources"];

describe("what discovery does not name, and the server refuses", { timeout: 120_000 }, () => {
  it.each([
    ["deletecollection", "deletion.collection", "selectors.labels"],
    ["patch", "writes.merge-patch", "errors.method"],
    ["update", "writes.stale-put", "deletion.collection"],
    ["watch", "watch.stream", "writes.merge-patch"],
  ])("is unsupported and fails nothing: %s", async (verb, needing, needless) => {
    const report = await judged(verb, false, areas);
    const bad = report.checks.filter(({ verdict }) => !["passed", "unsupported"].includes(verdict.status));
    expect(bad.map(({ id, verdict }) => ({ id, ...verdict }))).toEqual([]);
    const outcomeOf = (id: string) => report.requirements.find((row) => row.id === id)?.outcome.status;
    expect([outcomeOf(needing), outcomeOf(needless)]).toEqual(["unsupported", "passed"]);
  });

  it("is a failure where discovery names it", async () => {
    const report = await judged("deletecollection", true, ["deletion.collection"]);
    expect(report.conclusion).toBe("nonconformant");
  });
});
