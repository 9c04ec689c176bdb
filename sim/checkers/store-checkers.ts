/** Promises of the store and of single requests. */
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros } from "../kernel/types.ts";
import type { Acknowledged, Bench, Checker, Exchange } from "./judge.ts";
import { Recent } from "../objects/recent.ts";
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
export function durable({ truth, fail }: Bench, floor: () => number, head: () => ReadonlyMap<string, number>): Checker {
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
      const wrong = differenceOf(truth.heads, head());
      if (wrong !== undefined)
        fail(
          "store.durable",
          `compaction to version ${happening.revision} changes nothing of the present state`,
          wrong,
        );
    },
  };
}

function differenceOf(expected: Truth["heads"], held: ReadonlyMap<string, number>): string | undefined {
  for (const [key, { object, revision }] of expected) {
    const have = held.get(key);
    if (object !== undefined && have !== revision)
      return `${shownKey(key)} is ${have === undefined ? "gone" : `at version ${have}`}, and was at ${revision}`;
  }
  for (const key of held.keys())
    if (expected.get(key)?.object === undefined) return `${shownKey(key)} is there again, and was deleted`;
  return undefined;
}

/** How many objects are remembered to be compared: the newest. */
const rememberedMax = 20_000;

/** The same object at the same version has one content at every server. In process most are one and the same. */
export function oneContent({ fail }: Bench): Checker {
  const seen = new Map<string, { readonly object: JsonObject; readonly server: string }>();
  /** Looked at already, below this prefix: one object goes to many watchers. */
  const looked = new Recent<JsonObject, string>(rememberedMax);
  const look = (exchange: Exchange, prefix: string, object: JsonObject): void => {
    if (looked.get(object) === prefix) return;
    if (Object.isFrozen(object)) looked.set(object, prefix);
    const revision = revisionOf(object);
    if (revision === 0 || object["kind"] === "Status") return;
    const key = prefix + nameOf(object);
    const name = `${key}@${revision}`;
    const before = seen.get(name);
    if (before === undefined) {
      seen.set(name, { object, server: exchange.server });
      if (seen.size > rememberedMax) seen.delete(seen.keys().next().value as string);
      return;
    }
    if (before.object === object || contentOf(before.object) === contentOf(object)) return;
    fail(
      "store.one-content",
      `${shownKey(key)} at version ${revision} is the same wherever it is asked for`,
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
  };
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
