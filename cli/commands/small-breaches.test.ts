/**
 * The embedded server, made wrong in one small way between it and the suite: by a request that it gets otherwise than it
 * was sent, or an answer that is told otherwise. Each was once not seen by the check that judges it.
 */
import { asksForWatch } from "../../wire/asks-for-watch.ts";
import { describe, expect, it } from "vitest";
import { runSuite } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";
import type { StreamSink, Transport, WireRequest, WireResponse } from "../../wire/ports.ts";

interface Breach {
  readonly check: string;
  readonly requirement: string;
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly request?: (request: WireRequest) => WireRequest;
  readonly head?: (headers: WireResponse["headers"]) => WireResponse["headers"];
  /** Of a whole answer. */
  readonly bytes?: (bytes: Uint8Array, status: number) => Uint8Array;
  /** A request that is made beside another. */
  readonly also?: (request: WireRequest) => WireRequest | undefined;
}

function breaking({ request: change, head, bytes, also }: Breach, transport: Transport): Transport {
  const quiet: StreamSink = { head: () => {}, chunk: () => {}, end: () => {}, failed: () => {} };
  return {
    close: () => transport.close(),
    open(asked, sink) {
      const more = also?.(asked);
      if (more !== undefined) transport.open(more, quiet);
      const whole = bytes !== undefined && !asksForWatch(asked.path);
      const chunks: Uint8Array[] = [];
      let seen = 0;
      return transport.open(change?.(asked) ?? asked, {
        ...sink,
        head(status, { "content-length": length, ...headers }) {
          seen = status;
          const kept = bytes === undefined && length !== undefined ? { ...headers, "content-length": length } : headers;
          sink.head(status, head?.(kept) ?? kept);
        },
        chunk: (part) => void (whole ? chunks.push(part) : sink.chunk(part)),
        end() {
          if (whole) sink.chunk(bytes(Buffer.concat(chunks), seen));
          sink.end();
        },
        failed: (cause) => sink.failed(cause),
      });
    },
  };
}

/** The request without a parameter, where its path matches. */
const without = (where: RegExp, parameter: string) => (request: WireRequest) =>
  where.test(request.path)
    ? { ...request, path: request.path.replace(new RegExp(`([?&])${parameter}=[^&]*&?`), "$1").replace(/[?&]$/, "") }
    : request;
const withBody = (request: WireRequest, change: (text: string) => string): WireRequest =>
  typeof request.body === "string" ? { ...request, body: change(request.body) } : request;
const at = (request: WireRequest, path: RegExp, replacement: string): WireRequest => ({
  ...request,
  path: request.path.replace(path, replacement),
});
const eventList = /\/events(\?|$)/;
const aboutEvents = { check: "events-are-listed-as-asked", requirement: "events.list-parameters" } as const;

const served = (requirement: string) => ({ check: "events-are-served-as-objects", requirement }) as const;
const written = { check: "event-writes-take-their-parameters", requirement: "events.write-parameters" } as const;
const oldEvents = { check: "old-states-of-events-are-gone", requirement: "events.errors" } as const;

const breaches: Record<string, Breach> = {
  "lists are packed, and single objects never": {
    check: "packed-answers-say-the-same",
    requirement: "compression.gzip",
    request(request) {
      if (/\/configmaps(\?|$)/.test(request.path)) return request;
      const { "accept-encoding": _accept, ...headers } = request.headers;
      return { ...request, headers };
    },
  },
  "an unsafe deletion may be dry": {
    check: "unsafe-deletions-are-refused",
    requirement: "deletion.unsafe-alone",
    gates: { AllowUnsafeMalformedObjectDeletion: true },
    request: (request) =>
      withBody(request, (text) =>
        text.includes('"dryRun":["All"]')
          ? text.replace('"ignoreStoreReadErrorWithClusterBreakingPotential":true', '"kind":"DeleteOptions"')
          : text,
      ),
  },
  "a webhook is not asked for its side effects": {
    check: "webhook-configurations-are-checked",
    requirement: "webhooks.dry-run-refused",
    request: (request) =>
      withBody(request, (text) => text.replace(/"sideEffects":"(Some|Unknown)"/, '"sideEffects":"None"')),
  },
  "events are listed whatever the match": { ...aboutEvents, request: without(eventList, "resourceVersionMatch") },
  "events are listed whatever the version": {
    ...aboutEvents,
    request: (request) => without(eventList, "resourceVersion")(without(eventList, "resourceVersionMatch")(request)),
  },
  "events are listed whole": { ...aboutEvents, request: without(eventList, "limit") },
  "events of any team are listed": { ...aboutEvents, request: without(/\/namespaces\/.*\/events\?/, "labelSelector") },
  "events of any reason are listed": { ...aboutEvents, request: without(eventList, "fieldSelector") },
  "a watch of events has no end": { ...aboutEvents, request: without(/\/events\?.*watch=/, "timeoutSeconds") },
  "events are applied by force alone": {
    ...written,
    request: (request) => at(request, /force=false/, "force=true"),
  },
  "an event is written whatever the level": {
    ...written,
    request: (request) => at(request, /fieldValidation=Strict/, "fieldValidation=Ignore"),
  },
  "a dry run of an event's PUT is real": {
    ...written,
    request: (request) => (request.method === "PUT" ? without(/\/events\/e\d*\?/, "dryRun")(request) : request),
  },
  "events are deleted whatever the field selector": {
    ...served("events.delete-parameters"),
    request: (request) => (request.method === "DELETE" ? without(eventList, "fieldSelector")(request) : request),
  },
  "events are deleted whatever the dry run": {
    ...served("events.delete-parameters"),
    request: (request) => (request.method === "DELETE" ? without(eventList, "dryRun")(request) : request),
  },
  "deprecated fields of events are lost": {
    check: "events-say-what-happened",
    requirement: "events.read-back",
    request: (request) => withBody(request, (text) => text.replace(/,"deprecatedCount":\d+/, "")),
  },
  "an old state of events is the newest": {
    ...oldEvents,
    request: (request) => without(eventList, "resourceVersion")(without(eventList, "resourceVersionMatch")(request)),
  },
  "finalizers are kept in the order of their names": {
    check: "finalizers-may-be-reordered",
    requirement: "deletion.finalizers-reordered",
    request: (request) =>
      withBody(request, (text) =>
        text.replace(/"finalizers":(\[[^\]]*\])/, (_, list: string) => {
          return `"finalizers":${JSON.stringify((JSON.parse(list) as string[]).sort())}`;
        }),
      ),
  },
  "a body in protobuf is taken for a custom resource": {
    check: "custom-resources-have-no-protobuf",
    requirement: "encodings.custom-no-protobuf",
    request(request) {
      const [, apiVersion] = /^\/apis\/([^/]+\/v1)\/namespaces\/[^/]+\/widgets$/.exec(request.path) ?? [];
      if (request.method !== "POST" || !request.headers["content-type"]?.includes("protobuf")) return request;
      const body = JSON.stringify({ apiVersion, kind: "Widget", metadata: { name: "b" } });
      return { ...request, headers: { ...request.headers, "content-type": "application/json" }, body };
    },
  },
  "a match on a watch is passed over": {
    check: "invalid-combinations-are-refused",
    requirement: "watch.match-alone",
    request: without(/watch=/, "resourceVersionMatch"),
  },
  "a list that waits is not bounded": {
    check: "the-future-is-awaited-or-refused",
    requirement: "lists.timeout",
    request: (request) => at(request, /([?&])timeoutSeconds=1(?=&|$)/, "$1watch=1&timeoutSeconds=60"),
  },
  "a list that is not older is of something else": {
    check: "exact-lists-expire",
    requirement: "expiry.limited-not-older",
    request: (request) => at(request, /resourceVersion=\d+&resourceVersionMatch=NotOlderThan&/, "labelSelector=none&"),
  },
  "an envelope is of another type": {
    check: "objects-read-the-same-in-every-encoding",
    requirement: "encodings.envelope",
    bytes: (bytes) =>
      bytes[0] === 0x6b && bytes[3] === 0
        ? Buffer.concat([bytes, Uint8Array.of(0x22, 10), new TextEncoder().encode("text/plain")])
        : bytes,
  },
  "a streaming list takes Exact": {
    check: "streaming-lists-say-when-they-are-whole",
    requirement: "streaming.match-required",
    gates: { WatchList: true },
    request: (request) => at(request, /resourceVersionMatch=Exact/, "resourceVersionMatch=NotOlderThan"),
  },
  "Retry-After is a date": {
    check: "the-future-is-awaited-or-refused",
    requirement: "versions.future",
    head: (headers) =>
      "retry-after" in headers ? { ...headers, "retry-after": "Fri, 02 Jan 2026 03:04:05 GMT" } : headers,
  },
  "two names are two deletions": {
    check: "one-request-is-one-object",
    requirement: "objects.single-resource",
    request: (request) => at(request, /\/a(,|%2C)b$/, "/a"),
    also: (request) =>
      request.method === "DELETE" && /\/a(,|%2C)b$/.test(request.path) ? at(request, /\/a(,|%2C)b$/, "/b") : undefined,
  },
  "a port without a number is taken": {
    check: "required-fields-are-required",
    requirement: "field-validation.types",
    request: (request) => withBody(request, (text) => text.replace('"ports":[{}]', '"ports":[{"port":80}]')),
  },
  "a refusal tells all that is wrong": {
    check: "types-are-always-validated",
    requirement: "field-validation.first-error",
    bytes(bytes, status) {
      const text = Buffer.from(bytes).toString();
      return status === 400 ? Buffer.from(text.replace('"message":"', '"message":"unknown field zzTop, ')) : bytes;
    },
  },
  "a PUT that creates is never dry": {
    check: "dry-runs-leave-no-trace",
    requirement: "dry-run.no-trace",
    request: (request) => (request.method === "PUT" ? without(/\/configmaps\/new\?/, "dryRun")(request) : request),
  },
  "a token of ConfigMaps is taken for Secrets": {
    check: "tokens-stay-in-scope",
    requirement: "pages.token-scope",
    request: (request) => (request.path.includes("continue=") ? at(request, /\/secrets\?/, "/configmaps?") : request),
  },
};

describe("each small breach is found by the check that is about it", { timeout: 60_000 }, () => {
  it.each(Object.entries(breaches))("%s", async (_, breach) => {
    const server = {
      seed: "1",
      profile: profiles.svc,
      authorizationModes: ["RBAC"] as const,
      ...(breach.gates === undefined ? {} : { featureGates: breach.gates }),
    };
    const report = await withEmbeddedServer(server, ({ transport, webhooks, clock }) =>
      runSuite({
        clock,
        webhooks,
        transport: breaking(breach, transport),
        targetKind: "embedded",
        profile: "svc",
        runs: 12,
        only: [breach.check],
      }),
    );
    expect(report.checks.map(({ failure, verdict }) => failure?.requirement ?? verdict)).toEqual([breach.requirement]);
  });
});
