/**
 * What a correct server may do by the documents, done to the answers of the embedded one: the suite must not mind. Each
 * case was once taken for a failure, or could be.
 */
import { asksForWatch } from "../../wire/asks-for-watch.ts";
import { describe, expect, it } from "vitest";
import { runSuite } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";
import type { StreamSink, SuiteClock, Transport, WireRequest } from "../../wire/ports.ts";

type Document = Record<string, unknown>;

interface Latitude {
  readonly request?: (request: WireRequest) => WireRequest;
  /** Of an answer's document, or of a watch's; undefined drops an event. */
  readonly document?: (document: Document) => Document | undefined;
  readonly status?: (status: number, request: WireRequest) => number;
  /** True: the request is only told to come again. */
  readonly isBusy?: () => boolean;
  /** True: only a gateway answers, which has not reached the server. */
  readonly isAway?: () => boolean;
  /** Of the suite's clock: every request is so late. Default 0. */
  readonly lateMillis?: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function taking(latitude: Latitude, transport: Transport): Transport {
  const changed = (text: string): string => {
    if (latitude.document === undefined) return `${text}\n`;
    const document = latitude.document(JSON.parse(text) as Document);
    return document === undefined ? "" : `${JSON.stringify(document)}\n`;
  };
  return {
    close: () => transport.close(),
    open(request, sink) {
      if (latitude.isBusy?.() === true) return tell(sink, 429, "text/plain");
      if (latitude.isAway?.() === true) return tell(sink, 503, "text/html");
      const isWatch = asksForWatch(request.path);
      const chunks: Uint8Array[] = [];
      let isJson = false;
      let isStream = false;
      let rest = "";
      return transport.open(latitude.request?.(request) ?? request, {
        head(status, headers) {
          isJson = String(headers["content-type"]).startsWith("application/json") && !("content-encoding" in headers);
          isStream = isWatch && status === 200;
          const { "content-length": _length, ...others } = headers;
          sink.head(latitude.status?.(status, request) ?? status, others);
        },
        chunk(bytes) {
          if (!isJson) return sink.chunk(bytes);
          if (!isStream) return void chunks.push(bytes);
          const lines = (rest + decoder.decode(bytes)).split("\n");
          rest = lines.pop() as string;
          for (const line of lines) sink.chunk(encoder.encode(changed(line)));
        },
        end() {
          const text = Buffer.concat(chunks).toString();
          if (text !== "") sink.chunk(encoder.encode(changed(text)));
          sink.end();
        },
        failed: (cause) => sink.failed(cause),
      });
    },
  };
}

function late(millis: number, transport: Transport, clock: SuiteClock): Transport {
  if (millis === 0) return transport;
  return {
    close: () => transport.close(),
    open(request, sink) {
      let cut = clock.after(millis, () => {
        cut = transport.open(request, sink);
      });
      return () => cut();
    },
  };
}

function tell(sink: StreamSink, status: number, mediaType: string): () => void {
  let isCut = false;
  queueMicrotask(() => {
    if (isCut) return;
    sink.head(status, { "content-type": mediaType });
    sink.end();
  });
  return () => {
    isCut = true;
  };
}

/** The document with `change` done to every object in it. */
function everywhere(value: unknown, change: (object: Document) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) change(value as Document);
  for (const child of Object.values(value)) everywhere(child, change);
}

const versionOut = (version: unknown): unknown =>
  typeof version === "string" && /^[1-9]\d*$/.test(version) ? `v-${[...version].reverse().join("")}` : version;
const versionIn = (text: string): string =>
  text.replace(/v-(\d+)/g, (_, digits: string) => [...digits].reverse().join(""));
const itemsOf = (document: Document): Document[] => (document["items"] ?? []) as Document[];

const latitudes: Record<string, () => Latitude> = {
  "versions that do not count": () => ({
    request: (request) => ({
      ...request,
      path: versionIn(request.path),
      ...(typeof request.body === "string" ? { body: versionIn(request.body) } : {}),
    }),
    document(document) {
      everywhere(document, (object) => {
        if ("resourceVersion" in object) object["resourceVersion"] = versionOut(object["resourceVersion"]);
      });
      return document;
    },
  }),
  "lists in another order": () => ({
    document(document) {
      itemsOf(document).reverse();
      return document;
    },
  }),
  "no bookmarks, and no word of what remains": () => ({
    document(document) {
      if (document["type"] === "BOOKMARK") return undefined;
      everywhere(document, (object) => void delete object["remainingItemCount"]);
      return document;
    },
  }),
  "empty fields that are told, kinds of items that are repeated, and creates that are just 200": () => ({
    status: (status) => (status === 201 ? 200 : status),
    document(document) {
      for (const item of itemsOf(document)) item["kind"] = String(document["kind"]).replace(/List$/, "");
      if ("items" in document) Object.assign(document["metadata"] as Document, { selfLink: "" });
      everywhere(document, (object) => {
        if ("creationTimestamp" in object) object["deletionTimestamp"] ??= null;
      });
      return document;
    },
  }),
  "a limit on requests that names no time": () => {
    let count = 0;
    return { isBusy: () => (count += 1) % 9 === 0 };
  },
  "a gateway that does not reach it now and then": () => {
    let count = 0;
    return { isAway: () => (count += 1) % 100 === 0 };
  },
  "requests that take most of a second": () => ({ lateMillis: 700 }),
};

/** Several in one run: answers that are all at once what each allows, and a way to the server with every hindrance. */
const together = {
  "in its answers": [
    "versions that do not count",
    "lists in another order",
    "no bookmarks, and no word of what remains",
    "empty fields that are told, kinds of items that are repeated, and creates that are just 200",
  ],
  "on the way to it": ["a limit on requests that names no time", "a gateway that does not reach it now and then"],
  "in its time": ["requests that take most of a second"],
};

/** `LATITUDE="lists in another order"` tries that alone. */
const asked = process.env["LATITUDE"];
const plays = Object.entries(asked === undefined ? together : { [asked]: [asked] });

describe("the suite takes for right what the documents leave open", { timeout: 120_000 }, () => {
  it("of each kind", () => {
    const all = Object.keys(latitudes);
    if (asked === undefined) expect(plays.flatMap(([, names]) => names)).toEqual(all);
    else expect(all).toContain(asked);
  });

  it.each(plays)("%s", async (_name, names) => {
    const server = { seed: "1", profile: profiles.svc, authorizationModes: ["RBAC"] as const };
    const report = await withEmbeddedServer(server, ({ transport, ...ports }) =>
      runSuite({
        ...ports,
        transport: names.reduce((within, name) => {
          const latitude = (latitudes[name] as () => Latitude)();
          return taking(latitude, late(latitude.lateMillis ?? 0, within, ports.clock));
        }, transport),
        targetKind: "embedded",
        profile: "svc",
        law: "must",
        runs: 4,
        only: ["watch", "bookmarks", "lists", "pages", "versions", "writes", "events-are-found-by-what-they-say"],
      }),
    );
    const bad = report.checks.filter(({ verdict }) => !["passed", "unsupported"].includes(verdict.status));
    expect(bad.map(({ id, verdict }) => ({ id, ...verdict }))).toEqual([]);
  });
});
