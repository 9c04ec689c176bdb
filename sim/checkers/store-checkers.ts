/** Promises of the store and of single requests. */
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros } from "../kernel/types.ts";
import type { Acknowledged, Bench, Checker, Exchange } from "./judge.ts";
import { metadataOf } from "./metadata.ts";
import { revisionOf, shownKey, type Truth } from "./truth.ts";

/**
 * Store linearizable. The server numbers its writes, so the order is given, and the run only has to fit it: what begins
 * after something was acknowledged comes after that in the order. Reads that ask for any version promise nothing.
 */
export function linearizable({ truth, fail }: Bench): Checker {
  return {
    answered(exchange, status, object) {
      if (exchange.isWatch) return;
      const { place } = exchange;
      if (place === undefined) return;
      if (exchange.method !== "GET") {
        if (status < 300 && place.subresource === "") writeLandsLater(exchange, object);
        return;
      }
      if (exchange.query.has("resourceVersion") || exchange.query.has("continue")) return;
      if (place.key === undefined) listIsFresh(exchange, status, object);
      else if (place.subresource === "") readIsFresh(exchange, place.key, status, object);
    },
  };

  function writeLandsLater(exchange: Exchange, object: JsonObject): void {
    if (object["kind"] === "Status") return;
    const revision = revisionOf(object);
    if (revision >= exchange.keyFloor.revision || revision === 0) return;
    fail(
      "store.linearizable",
      `${title(exchange)} lands after version ${exchange.keyFloor.revision}, which was acknowledged before it began`,
      `it is answered with version ${revision}`,
      [began(exchange)],
    );
  }

  function listIsFresh(exchange: Exchange, status: number, list: JsonObject): void {
    if (status !== 200) return;
    const revision = revisionOf(list);
    if (revision >= exchange.floorRevision) return;
    fail(
      "store.linearizable",
      `${title(exchange)} shows version ${exchange.floorRevision} or later: a write at it was acknowledged before the list began`,
      `the list is of version ${revision}`,
      [began(exchange)],
    );
  }

  function readIsFresh(exchange: Exchange, key: string, status: number, object: JsonObject): void {
    const floor: Acknowledged = exchange.keyFloor;
    if (floor.revision === 0) return;
    const evidence = [
      began(exchange),
      `${shownKey(key)} had been acknowledged at ${floor.revision}${floor.isDeletion ? ", deleted" : ""}`,
    ];
    if (status === 404) {
      const wasDeleted =
        floor.isDeletion ||
        truth.of(key).some(({ revision, object: kept }) => kept === undefined && revision > floor.revision);
      if (!wasDeleted)
        fail(
          "store.linearizable",
          `${shownKey(key)} is there: nobody has deleted it since version ${floor.revision}`,
          "404",
          evidence,
        );
      return;
    }
    if (status !== 200) return;
    const revision = revisionOf(object);
    if (revision < floor.revision || (floor.isDeletion && revision === floor.revision))
      fail(
        "store.linearizable",
        `${title(exchange)} shows version ${floor.revision} or later`,
        `it shows version ${revision}`,
        evidence,
      );
  }
}

/** After a crash the store has what it had acknowledged; and compaction takes nothing from the present. */
export function durable({ truth, fail }: Bench, floor: () => number, held: () => readonly Held[]): Checker {
  return {
    happened(happening) {
      if (happening.kind === "recovered" && happening.revision < floor()) {
        fail(
          "store.durable",
          `after the crash the store is at version ${floor()} or later: so much was acknowledged`,
          `it is at version ${happening.revision}`,
        );
      }
      if (happening.kind !== "compacted") return;
      const wrong = differenceOf(truth.heads, held());
      if (wrong !== undefined)
        fail(
          "store.durable",
          `compaction to version ${happening.revision} changes nothing of the present state`,
          wrong,
        );
    },
  };
}

/** One of the keys that the store holds, each once, and the version of its value. */
export interface Held {
  readonly key: string;
  readonly modRevision: number;
}

function differenceOf(expected: Truth["heads"], held: readonly Held[]): string | undefined {
  for (const { key, modRevision } of held) {
    const head = expected.get(key);
    if (head?.object === undefined) return `${shownKey(key)} is there again, and was deleted`;
    if (head.revision !== modRevision)
      return `${shownKey(key)} is at version ${modRevision}, and was at ${head.revision}`;
  }
  let living = 0;
  for (const { object } of expected.values()) if (object !== undefined) living++;
  if (living === held.length) return undefined;
  const there = new Set(held.map(({ key }) => key));
  for (const [key, { object, revision }] of expected)
    if (object !== undefined && !there.has(key)) return `${shownKey(key)} is gone, and was at ${revision}`;
  return undefined;
}

/** How many versions are remembered to be compared: the newest, or what was looked at last. A power of two. */
const rememberedMax = 32_768;

/** The same object at the same version has one content at every server. In process most are one and the same. */
export function oneContent({ fail }: Bench): Checker {
  interface Seen {
    readonly revision: number;
    readonly object: JsonObject;
    readonly server: string;
  }
  /** Each write has a version of its own, so a version is enough to find what was seen at it. */
  let seen: (Seen | undefined)[] = [];
  const look = (exchange: Exchange, prefix: string, object: JsonObject): void => {
    const revision = revisionOf(object);
    const at = revision & (rememberedMax - 1);
    const before = seen[at];
    if (before?.object === object) return;
    if (revision === 0 || object["kind"] === "Status") return;
    if (before?.revision !== revision || !isSameName(before.object, object)) {
      seen[at] = { revision, object, server: exchange.server };
      return;
    }
    if (contentOf(before.object) === contentOf(object)) return;
    fail(
      "store.one-content",
      `${shownKey(prefix + nameOf(object))} at version ${revision} is the same wherever it is asked for`,
      `${before.server} has ${shortened(contentOf(before.object))}, and ${exchange.server} has ${shortened(contentOf(object))}`,
    );
  };
  return {
    answered(exchange, status, object) {
      const { place } = exchange;
      if (status !== 200 || place === undefined || place.subresource !== "") return;
      if (place.key !== undefined && exchange.method === "GET") return look(exchange, place.prefix, object);
      if (place.key !== undefined || exchange.method !== "GET") return;
      for (const item of (object["items"] ?? []) as readonly JsonObject[]) look(exchange, place.prefix, item);
    },
    event(exchange, type, object) {
      const { place } = exchange;
      if (place === undefined || type === "BOOKMARK" || type === "ERROR" || type === "DELETED") return;
      look(exchange, place.prefix, object);
    },
    happened({ kind }) {
      // The same versions are written again, with another content.
      if (kind === "restored") seen = [];
    },
  };
}

function isSameName(one: JsonObject, other: JsonObject): boolean {
  const [{ name, namespace }, also] = [metadataOf(one), metadataOf(other)];
  return name === also.name && namespace === also.namespace;
}

/** Items of lists are without kind and apiVersion. */
function contentOf(object: JsonObject): string {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return JSON.stringify(sorted(rest as JsonObject));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
const nameOf = (object: JsonObject): string => metadataOf(object).name ?? "";

/** The versions of the lists that one client gets of one collection never fall, but where it asked for any. */
export function versionRises({ fail }: Bench): Checker {
  const newest = new Map<string, number>();
  const note = (exchange: Exchange, revision: number): void => {
    const name = `${exchange.client} ${exchange.path}`;
    const before = newest.get(name) ?? 0;
    if (revision >= before) newest.set(name, revision);
    else
      fail(
        "store.version-rises",
        `${exchange.client} is told version ${before} of ${exchange.path} or later: it has seen that one`,
        `it is told version ${revision}`,
        [began(exchange)],
      );
  };
  return {
    answered(exchange, status, object) {
      if (status !== 200 || exchange.method !== "GET" || exchange.query.get("resourceVersion") === "0") return;
      if (exchange.query.has("continue") || exchange.place?.key !== undefined) return;
      note(exchange, revisionOf(object));
    },
    happened({ kind }) {
      // The past is another one now: it was somebody's will.
      if (kind === "restored") newest.clear();
    },
  };
}

/** A request takes no longer than this. */
const releaseMicros: Micros = 120_000_000;
/** Finalizers that controllers inside the server take off. */
const collectors: ReadonlySet<string> = new Set(["foregroundDeletion", "orphan"]);

/** No finalized object lost early; and the life of a name: one uid until it is deleted, no uid twice, no way back from a deletion. */
export function objectLives({ fail, nowMicros }: Bench): Checker {
  const uids = new Map<string, string>();
  /** When somebody last asked to change a key: the change that takes off the last finalizer removes what is being deleted. */
  const changed = new Map<string, Micros>();
  return {
    asked({ method, place }) {
      const key = method === "PUT" || method === "PATCH" ? place?.key : undefined;
      if (key !== undefined) changed.set(key, nowMicros());
    },
    committed({ key, value, previous }) {
      const [now, before] = [value as JsonObject | undefined, previous as JsonObject | undefined];
      const [present, past] = [metadataOf(now), metadataOf(before)];
      if (now === undefined) {
        const held = (past.finalizers ?? []).filter((name) => !collectors.has(name));
        const mayBeReleased =
          past.deletionTimestamp !== undefined && (changed.get(key) ?? -releaseMicros) > nowMicros() - releaseMicros;
        if (held.length > 0 && !mayBeReleased)
          fail("objects.finalized", `${shownKey(key)} stays until ${held.join(", ")} is off`, "it is removed with it");
        return;
      }
      const { uid = "" } = present;
      if (before === undefined) {
        const other = uids.get(uid);
        if (uid !== "" && other !== undefined)
          fail("objects.uid", `the uid of the new ${shownKey(key)} has never been seen`, `${shownKey(other)} had it`);
        uids.set(uid, key);
        return;
      }
      if (past.uid !== undefined && uid !== past.uid)
        fail("objects.uid", `${shownKey(key)} keeps its uid ${past.uid}`, `an update gives it ${uid}`);
      if (past.deletionTimestamp !== undefined && present.deletionTimestamp === undefined)
        fail("objects.uid", `the deletion of ${shownKey(key)} has begun`, "an update takes that back");
      if ((present.generation ?? 0) < (past.generation ?? 0))
        fail(
          "objects.uid",
          `the generation of ${shownKey(key)} is ${past.generation} or more`,
          `it is ${present.generation}`,
        );
    },
    happened({ kind }) {
      if (kind === "restored") uids.clear();
    },
  };
}

export const title = ({ client, method, path }: Exchange): string => `${method} ${path} of ${client}`;
export const began = (exchange: Exchange): string =>
  `${title(exchange)} began at ${exchange.startedMicros / 1_000_000} s, by ${exchange.server}`;
