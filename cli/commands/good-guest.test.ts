/**
 * What the suite asks of a server that others use too: whatever it asks to change or to delete is its own by the path
 * alone, so that a server which minds no parameter still loses nothing; and what it makes outside its namespaces, be it
 * dry, has a name of its own. `GUEST_RUNS=20` draws more programs of each check.
 */
import { describe, expect, it } from "vitest";
import { planSuite, runPart } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";
import type { Transport, WireRequest } from "../../wire/ports.ts";

const runId = "guest";
const runs = Number(process.env["GUEST_RUNS"] ?? 4);
/** In a namespace of this run, or of a name that it has made. */
const isOwn = (path: string): boolean => /touchstone-guest-\d/.test(path);

/** A review changes nothing; nor does an event for no namespace, which no server takes. */
const isQuestion = (path: string): boolean => /reviews$|^\/apis\/events\.svc\.io\/v1\/events$/.test(path);

function nameIn({ body = "" }: WireRequest): string {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return text.startsWith("{")
    ? String((JSON.parse(text) as { metadata?: { name?: unknown } }).metadata?.name)
    : "no name";
}

describe("whose things the suite changes", { timeout: 240_000 }, () => {
  it("knows its own from others'", () => {
    for (const path of [
      "/api/v1/namespaces/touchstone-guest-1",
      "/api/v1/namespaces/touchstone-guest-12-real/configmaps",
      "/apis/a.io/v1/crds/widgets.touchstone-guest-1.example.com",
    ]) {
      expect(isOwn(path)).toBe(true);
    }
    for (const path of [
      "/api/v1/namespaces",
      "/api/v1/namespaces/default",
      "/api/v1/namespaces/default/configmaps/a",
    ]) {
      expect(isOwn(path)).toBe(false);
    }
  });

  it("is its own alone", async () => {
    const selection = { profile: "svc", level: "quick", runs, targetKind: "embedded", runId } as const;
    const planned = planSuite(selection);
    const others = new Set<string>();
    let asked = 0;
    for (const check of planned.plan.checks) {
      const note = (transport: Transport): Transport => ({
        close: () => transport.close(),
        open(request, sink) {
          const [path = ""] = request.path.split("?");
          if (["DELETE", "PUT", "PATCH"].includes(request.method)) {
            asked += 1;
            if (!isOwn(path)) others.add(`${check.id}: ${request.method} ${request.path}`);
          }
          if (request.method === "POST" && !isOwn(path) && !isQuestion(path) && !isOwn(nameIn(request))) {
            others.add(`${check.id}: POST ${request.path} of ${nameIn(request)}`);
          }
          return transport.open(request, sink);
        },
      });
      const server = { seed: check.id, profile: profiles.svc, authorizationModes: ["RBAC"] as const };
      await withEmbeddedServer(server, ({ transport, ...ports }) =>
        runPart({ ...selection, ...ports, transport: note(transport) }, planned, [check]),
      );
    }
    expect([...others]).toEqual([]);
    expect(asked).toBeGreaterThan(1000);
  });
});
