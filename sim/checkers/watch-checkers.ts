/** Promises of watches and lists. */
import type { Bench, Checker, Exchange } from "./judge.ts";
import { metadataOf } from "./metadata.ts";
import { began, title } from "./store-checkers.ts";
import { type Change, nodeOf, revisionOf, shownKey } from "./truth.ts";

interface Stream {
  readonly prefix: string;
  /** Of a node's own pods: the node. */
  readonly node: string | undefined;
  /** Everything up to here was delivered, or lies before the beginning. */
  position: number;
  /** Index of the change that must come next. */
  next: number;
  /**
   * Of a watch that began without a version: the newest version when it was opened. What is not newer may be part of the
   * state that such a watch begins with, in any order. -1 for all others.
   */
  readonly stateUpTo: number;
}

/** The node whose pods a watch is about; undefined for any other selector. */
function nodeSelected({ query }: Exchange, prefix: string): string | undefined {
  const [, node] = /^spec\.nodeName=([^,=!]+)$/.exec(query.get("fieldSelector") ?? "") ?? [];
  return prefix === "/registry/pods/" && !query.has("labelSelector") ? node : undefined;
}

/** Other selectors make a stream of their own; what it must hold, the conformance suite judges. */
const selecting = ["labelSelector", "fieldSelector"];

/**
 * Each watcher's stream law: every change of the collection since its version, once, in order. A bookmark says that
 * nothing before it is still to come.
 */
export function streamLaw({ truth, fail }: Bench): Checker {
  const streams = new Map<Exchange, Stream>();
  const begin = (exchange: Exchange): void => {
    const { place } = exchange;
    if (!exchange.isWatch || place === undefined || place.key !== undefined) return;
    const node = nodeSelected(exchange, place.prefix);
    if (node === undefined && selecting.some((word) => exchange.query.has(word))) return;
    const from = Number(exchange.query.get("resourceVersion") ?? "0");
    const position = from === 0 ? truth.revision : from;
    const { prefix } = place;
    const next = truth.after(changesOf({ prefix, node }), position);
    streams.set(exchange, { prefix, node, position, next, stateUpTo: from === 0 ? truth.revision : -1 });
  };
  const changesOf = ({ prefix, node }: Pick<Stream, "prefix" | "node">): readonly Change[] =>
    node === undefined ? truth.under(prefix) : truth.onNode(node);
  return {
    opened: begin,
    event(exchange, type, object) {
      const stream = streams.get(exchange);
      if (stream === undefined || type === "ERROR") return;
      const revision = revisionOf(object);
      const changes = changesOf(stream);
      if (revision <= stream.stateUpTo) return;
      if (type === "BOOKMARK") return checkBookmark(exchange, stream, revision, changes);
      const due = changes[stream.next];
      if (due?.revision === revision) {
        stream.next++;
        stream.position = revision;
        checkType(exchange, type, due, stream.node);
        return;
      }
      const evidence = [began(exchange), `its last event was of version ${stream.position}`];
      if (revision <= stream.position)
        fail(
          "watch.stream",
          `${exchange.client} is told only what is newer than version ${stream.position}`,
          `it is told version ${revision} of ${shownName(object)}`,
          evidence,
        );
      else
        fail(
          "watch.stream",
          due === undefined
            ? `there is no version ${revision} in ${exchange.path}`
            : `${exchange.client} is told version ${due.revision} of ${shownKey(due.key)} next`,
          `it is told version ${revision} of ${shownName(object)}`,
          evidence,
        );
    },
    ended(exchange) {
      if (exchange.isWatch) streams.delete(exchange);
    },
    happened({ kind }) {
      if (kind === "restored") streams.clear();
    },
  };

  function checkBookmark(exchange: Exchange, stream: Stream, revision: number, changes: readonly Change[]): void {
    const due = changes[stream.next];
    if (due !== undefined && due.revision <= revision)
      fail(
        "watch.stream",
        `a bookmark of ${exchange.path} passes over nothing: version ${due.revision} of ${shownKey(due.key)} is still to come`,
        `${exchange.client} gets a bookmark of version ${revision}`,
        [began(exchange)],
      );
    if (revision < stream.position)
      fail(
        "watch.stream",
        `a bookmark of ${exchange.path} is of version ${stream.position} or later: so much was told`,
        `${exchange.client} gets a bookmark of version ${revision}`,
        [began(exchange)],
      );
    stream.position = Math.max(stream.position, revision);
  }

  /** To who selects, what comes to be selected is new, and what is no longer has gone. */
  function checkType(exchange: Exchange, type: string, change: Change, node: string | undefined): void {
    const shows = (object: Change["object"]): boolean =>
      object !== undefined && (node === undefined || nodeOf(object) === node);
    const expected = !shows(change.object) ? "DELETED" : shows(change.previous) ? "MODIFIED" : "ADDED";
    if (type !== expected)
      fail(
        "watch.stream",
        `version ${change.revision} of ${shownKey(change.key)} is ${expected}`,
        `${exchange.client} is told ${type}`,
        [began(exchange)],
      );
  }
}

const shownName = (object: Parameters<typeof metadataOf>[0]): string => {
  const { namespace, name = "" } = metadataOf(object);
  return namespace === undefined ? name : `${namespace}/${name}`;
};

/** A watch from a version that the server still has is not told that it is gone. */
export function keptVersions({ truth, fail, nowMicros, mark }: Bench, windowMicros: number): Checker {
  const oldest = new Map<string, number>();
  const gone = (exchange: Exchange): void => {
    mark("watch.expired");
    const from = Number(exchange.query.get("resourceVersion") ?? "0");
    const { place } = exchange;
    if (from === 0 || place === undefined) return;
    const start = oldest.get(exchange.server) ?? 0;
    if (from < start || from < truth.compactedRevision) return;
    const following = truth.changes[truth.after(truth.changes, from)];
    // The server had forgotten by the clock, or may have: it drops a little early.
    if (following !== undefined && nowMicros() - following.atMicros > windowMicros / 2) return;
    fail(
      "watch.stream",
      `version ${from} is kept: the store has everything from ${truth.compactedRevision} on, and ${exchange.server} began at ${start}`,
      `${exchange.client} is told 410`,
      [began(exchange)],
    );
  };
  return {
    answered(exchange, status) {
      if (exchange.isWatch && status === 410) gone(exchange);
    },
    event(exchange, type, object) {
      if (type === "ERROR" && object["code"] === 410) gone(exchange);
    },
    happened(happening) {
      if (happening.kind === "server-started" || happening.kind === "forgot")
        oldest.set(happening.place, happening.revision);
      if (happening.kind === "compacted")
        truth.compactedRevision = Math.max(truth.compactedRevision, happening.revision);
      if (happening.kind === "restored") for (const place of oldest.keys()) oldest.set(place, happening.revision);
    },
  };
}

/** One live watch per client and collection. */
export function oneLiveWatch({ fail, mark }: Bench): Checker {
  const open = new Map<string, Exchange>();
  const nameOf = ({ client, path }: Exchange): string => `${client} ${path}`;
  return {
    asked(exchange) {
      if (!exchange.isWatch) return;
      const other = open.get(nameOf(exchange));
      if (other !== undefined)
        fail("watch.one-live", `${exchange.client} has one watch of ${exchange.path}`, "it opens a second one", [
          began(other),
          began(exchange),
        ]);
      open.set(nameOf(exchange), exchange);
    },
    ended(exchange, how) {
      if (!exchange.isWatch) return;
      if (open.get(nameOf(exchange)) === exchange) open.delete(nameOf(exchange));
      if (how === "disconnected") mark("watch.broken");
    },
  };
}

/** The pages of a list, put together, are the collection at the version that the list says. */
export function wholeLists({ truth, fail, mark }: Bench): Checker {
  return {
    told(fact) {
      if (fact.kind !== "listed") return;
      const place = truth.place(fact.path);
      if (place === undefined) return;
      const revision = Number(fact.version);
      const expected = truth.stateAt(place.prefix, revision);
      const seen = new Set<string>();
      const wrong = (actual: string): void =>
        fail(
          "lists.whole",
          `${fact.client} has the state of ${fact.path} at version ${fact.version}: ${expected.size} objects`,
          actual,
        );
      for (const item of fact.items) {
        const key = place.prefix + (metadataOf(item).name ?? "");
        if (seen.has(key)) return wrong(`${shownKey(key)} is in its list twice`);
        seen.add(key);
        const held = expected.get(key);
        if (held === undefined) return wrong(`${shownKey(key)} is in its list, and was not there then`);
        if (held.revision !== revisionOf(item))
          return wrong(`${shownKey(key)} is at version ${revisionOf(item)}, and was at ${held.revision} then`);
      }
      for (const key of expected.keys()) if (!seen.has(key)) return wrong(`${shownKey(key)} is not in its list`);
    },
    answered(exchange, status, object) {
      if (status !== 410 || !exchange.query.has("continue")) return;
      mark("list.expired");
      if ((metadataOf(object).continue ?? "") === "")
        fail(
          "lists.resumable",
          `${title(exchange)}, whose token has expired, is given a token to go on with`,
          "the answer has none",
          [began(exchange)],
        );
    },
  };
}
