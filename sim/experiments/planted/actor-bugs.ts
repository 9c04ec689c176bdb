/** Planted bugs of a scenario's clients, around what makes them: a wrong one has another way to its server, or is told something else. */
import type { ClientOf, ScenarioClient } from "../../../scenarios/schema.ts";
import { keyOf, versionOf } from "../../client/informer.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros } from "../../kernel/types.ts";
import { type WrapperBugs, wrappedWith } from "../../planted/planting.ts";
import type { SimulatedBug, SimulatedBugs } from "../../planted/simulated-bugs.ts";
import { type Actor, type ActorParts, collectionPath, textAt } from "../actors/actor.ts";
import { makeActor } from "../actors/all-actors.ts";
import { type missingChildren, ownerOf, Replicator } from "../actors/replicator.ts";
import { type Api, calling, following, watching } from "./ways.ts";

type ActorMaker = (parts: ActorParts, row: ScenarioClient) => Actor;

const second: Micros = 1_000_000;
const neverMicros: Micros = 365 * 86_400 * second;

const bugsOfActors = {
  // A 410 is an event like any other failure.
  "client-410-error-event-ignored": through("informer", (api) =>
    watching(api, (request, sink) =>
      api.watch(request, {
        ...sink,
        event: (type, object) =>
          sink.event(type, type === "ERROR" && object["code"] === 410 ? { ...object, code: 500 } : object),
      }),
    ),
  ),
  "client-relist-keeps-deleted": through("informer", (api) =>
    following(api, (listed, before) => {
      const keys = new Set(listed.map(keyOf));
      return [...listed, ...[...before].flatMap(([key, object]) => (keys.has(key) ? [] : [object]))];
    }),
  ),
  "client-false-updates-on-restart": through("informer", (api, { tell, process }) =>
    following(api, (listed, before) => {
      for (const object of listed) {
        const [key, version] = [keyOf(object), versionOf(object)];
        if (before.has(key)) tell({ kind: "updated", client: process.name, key, before: version, after: version });
      }
      return listed;
    }),
  ),
  // Of a new list it takes the version, and nothing of what is in it.
  "client-gap-between-watches": through("informer", (api, { process }) => {
    let hasEnded = false;
    return watching(api, (request, sink) => {
      const follow = (query: string | undefined) =>
        api.watch(query === undefined ? request : { ...request, query }, {
          ...sink,
          ended(failure) {
            hasEnded = true;
            sink.ended(failure);
          },
        });
      if (!hasEnded) return follow(request.query);
      hasEnded = false;
      let cancel = () => {};
      const list = (): void => {
        cancel = api.call({ method: "GET", path: request.path }, 30 * second, (answer) => {
          if (!answer.ok || answer.status !== 200) cancel = process.clock.after(second, list);
          else cancel = follow(request.query?.replace(/(resourceVersion=)[^&]*/, `$1${versionOf(answer.object)}`));
        });
      };
      list();
      return () => cancel();
    });
  }),
  "client-double-done-duplicate-watch": through("informer", (api) =>
    watching(api, (request, sink) =>
      api.watch(request, {
        ...sink,
        ended(failure) {
          sink.ended(failure);
          if (failure !== undefined) sink.ended(failure);
        },
      }),
    ),
  ),
  "watch-half-open-silence": told("informer", ({ timeout, ...row }, parts) => {
    if (timeout === undefined) return { row: { ...row, timeout }, parts };
    const asked = `&timeoutSeconds=${Math.ceil(timeout / second)}`;
    const { api } = parts;
    const asking = watching(api, ({ query = "", ...request }, sink) =>
      api.watch({ ...request, query: query + asked }, sink),
    );
    return { row, parts: { ...parts, api: asking } };
  }),
  // The first events of a watch without a version are taken for changes, in the order of their versions.
  "watch-rv0-initial-unsorted": through("informer", (api) =>
    watching(api, (request, sink) => {
      if (/(^|&)resourceVersion=/.test(request.query ?? "")) return api.watch(request, sink);
      return api.watch(request, {
        ...sink,
        event: (type, object) => sink.event(type === "ADDED" ? "MODIFIED" : type, object),
      });
    }),
  ),
  // A page that has expired is one with nothing in it.
  "continue-410-client-fails-or-relists": through("lister", (api) =>
    calling(api, (request, deadlineMicros, done) =>
      api.call(request, deadlineMicros, (answer) => {
        const goesOn = answer.ok && answer.status === 410 && textAt(answer.object, "metadata", "continue") !== "";
        done(goesOn ? { ...answer, status: 200, object: { ...answer.object, items: [] } } : answer);
      }),
    ),
  ),
  // It asks its copy.
  "lease-lag-misjudged-dead": through("monitor", (api, { dialect, process }) => {
    const namespace = dialect.systemNamespaces.nodeLease;
    const leases = collectionPath(dialect, "leases", namespace);
    const copies = new Map<string, JsonObject>();
    return calling(following(api, asListed, copies), (request, deadlineMicros, done, inner) => {
      const name = request.path.startsWith(`${leases}/`) ? request.path.slice(leases.length + 1) : "";
      const object = request.method === "GET" ? copies.get(`${namespace}/${name}`) : undefined;
      if (object === undefined) return inner.call(request, deadlineMicros, done);
      return process.clock.after(0, () => done({ ok: true, status: 200, object, payload: undefined }));
    });
  }),
  "lease-two-leaders": told("candidate", (row, parts) => ({ row: { ...row, giveUp: neverMicros }, parts })),
  "lease-period-vs-grace-flap": told("node", (row, parts) => ({
    row: { ...row, renew: { min: 10 * second, max: 10 * second } },
    parts,
  })),
  // Any state will do for the first list.
  "list-rv0-time-travel": through("node", (api, { dialect }) => {
    const pods = collectionPath(dialect, "pods", "");
    let hasListed = false;
    return calling(api, (request, deadlineMicros, done) => {
      if (request.path !== pods || hasListed) return api.call(request, deadlineMicros, done);
      const query = [request.query ?? "", "resourceVersion=0"].filter((part) => part !== "").join("&");
      return api.call({ ...request, query }, deadlineMicros, (answer) => {
        hasListed ||= answer.ok && answer.status === 200;
        done(answer);
      });
    });
  }),
  "status-patch-hits-new-uid": through("node", (api) =>
    calling(api, ({ body, ...request }, deadlineMicros, done) => {
      const { metadata: _metadata, ...rest } = body ?? {};
      const isStatus = request.method === "PATCH" && request.path.endsWith("/status");
      return api.call({ ...request, ...(body && { body: isStatus ? rest : body }) }, deadlineMicros, done);
    }),
  ),
  // It notes that a parent has its children before it makes the first, and believes its note when it comes back.
  "ctl-intermediate-crash": through("replicator", (api, { process }) => {
    const copies = new Map<string, JsonObject>();
    const noted = new Set<string>();
    return calling(following(api, asListed, copies), (request, deadlineMicros, done, inner) => {
      const uid = request.method === "POST" ? ownerOf(request.body ?? {}) : "";
      if (uid === "" || noted.has(uid)) return inner.call(request, deadlineMicros, done);
      const parent = [...copies.values()].find((object) => textAt(object, "metadata", "uid") === uid);
      if (textAt(parent, "data", "done") === "true")
        return process.clock.after(0, () => done({ ok: true, status: 409, object: {}, payload: undefined }));
      noted.add(uid);
      const note = {
        method: "PATCH",
        path: `${request.path}/${textAt(parent, "metadata", "name")}`,
        body: { data: { done: "true" } },
        contentType: "application/merge-patch+json",
      };
      let cancel = inner.call(note, deadlineMicros, () => {
        cancel = inner.call(request, deadlineMicros, done);
      });
      return () => cancel();
    });
  }),
  "ctl-create-duplicate-on-stale-cache": (make) => (parts, row) =>
    row.kind === "replicator" ? new Replicator(parts, row, countedChildren) : make(parts, row),
} as const satisfies WrapperBugs<SimulatedBug, ActorMaker>;

export const actorMakerWith = (bugs: SimulatedBugs): ActorMaker =>
  wrappedWith<SimulatedBug, ActorMaker>(
    makeActor,
    bugsOfActors,
    Object.fromEntries([...bugs].map((name) => [name, true])),
  );

/** Clients of one kind have another way to their server. */
function through(kind: ScenarioClient["kind"], way: (api: Api, parts: ActorParts) => Api) {
  return (make: ActorMaker): ActorMaker =>
    (parts, row) =>
      make(row.kind === kind ? { ...parts, api: way(parts.api, parts) } : parts, row);
}

/** Clients of one kind are told something else than their scenario says. */
function told<Kind extends ScenarioClient["kind"]>(
  kind: Kind,
  change: (row: ClientOf<Kind>, parts: ActorParts) => { readonly row: ScenarioClient; readonly parts: ActorParts },
) {
  return (make: ActorMaker): ActorMaker =>
    (parts, row) => {
      if (row.kind !== kind) return make(parts, row);
      const changed = change(row as ClientOf<Kind>, parts);
      return make(changed.parts, changed.row);
    };
}

const asListed = (listed: readonly JsonObject[]): readonly JsonObject[] => listed;

/** As many as are missing, under names that the server makes. */
const countedChildren: typeof missingChildren = (parent, children) => {
  const wanted = Number(textAt(parent, "data", "replicas"));
  const generateName = `${textAt(parent, "metadata", "name")}-`;
  return Array.from({ length: Math.max(0, wanted - children.length) }, () => ({ generateName }));
};
