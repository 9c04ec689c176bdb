/** What is judged when somebody asks for it: states of the whole cluster, at a moment. Each looks, and touches nothing. */
import type { Verdict } from "../../reports/schema/verdict.ts";
import { keyOf, versionOf } from "../client/informer.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { Follower } from "./actors/follower.ts";
import { ownerOf } from "./actors/replicator.ts";
import { Candidate } from "./actors/candidate.ts";
import type { Truth } from "../checkers/truth.ts";
import type { StagedClient } from "./stage.ts";

export interface Judged {
  readonly verdict: Verdict;
  readonly evidence: readonly string[];
}

const passed: Judged = { verdict: { status: "passed", runs: 1 }, evidence: [] };
const failed = (expected: string, actual: string, evidence: readonly string[] = []): Judged => ({
  verdict: { status: "failed", expected, actual },
  evidence,
});
const inconclusive = (why: string): Judged => ({ verdict: { status: "inconclusive", why }, evidence: [] });

type Clients = ReadonlyMap<string, StagedClient>;

/** The informers among the clients. */
export function followersOf(clients: Clients): readonly (readonly [string, Follower])[] {
  return [...clients].flatMap(([name, { actor, process }]) =>
    actor instanceof Follower && process.alive ? [[name, actor] as const] : [],
  );
}

/** Every informer holds exactly what the server holds: the same objects at the same versions. */
export function informersConverged(clients: Clients, served: (path: string) => readonly JsonObject[]): Judged {
  const followers = followersOf(clients);
  if (followers.length === 0) return inconclusive("the scenario has no informer");
  for (const [name, { informer }] of followers) {
    const expected = new Map(served(informer.path).map((object) => [keyOf(object), versionOf(object)]));
    const held = new Map([...informer.objects].map(([key, object]) => [key, versionOf(object)]));
    for (const key of new Set([...expected.keys(), ...held.keys()])) {
      const [want, have] = [expected.get(key), held.get(key)];
      if (want === have) continue;
      return failed(
        want === undefined
          ? `${name} does not hold ${key}, which is deleted`
          : `${name} holds ${key} at version ${want}`,
        have === undefined
          ? `${name} does not hold ${key}, which is there at version ${want}`
          : want === undefined
            ? `${name} still holds ${key} at version ${have}, which is deleted`
            : `${name} holds ${key} at version ${have}, and not ${want}`,
        informer.watches
          .slice(-3)
          .map(
            ({ fromVersion, startedMicros, outcome, outcomeMicros, events }) =>
              `${name} asked at ${startedMicros / 1_000_000} s to watch from version ${fromVersion}: ${outcome} at ${outcomeMicros / 1_000_000} s, ${events.length} events${events.length > 0 ? `, the last of version ${events.at(-1)?.version}` : ""}`,
          ),
      );
    }
  }
  return passed;
}

/** Each parent has exactly the children that it asks for. */
export function replicasSettled(truth: Truth): Judged {
  const present = [...truth.heads.values()].flatMap(({ key, object }) =>
    object !== undefined && key.startsWith("/registry/configmaps/") ? [object] : [],
  );
  let parents = 0;
  for (const parent of present) {
    const { uid = "", name = "" } = (parent["metadata"] ?? {}) as { uid?: string; name?: string };
    const wanted = (parent["data"] as { replicas?: string } | undefined)?.replicas;
    if (wanted === undefined) continue;
    parents++;
    const children = present.filter((object) => ownerOf(object) === uid);
    if (children.length !== Number(wanted))
      return failed(
        `${name} has ${wanted} children`,
        `${name} has ${children.length} children, and not ${wanted}`,
        children.map((child) => `child ${String((child["metadata"] as { name?: string }).name)}`).slice(0, 10),
      );
  }
  return parents === 0 ? inconclusive("there is no parent") : passed;
}

/** Everybody is where they want to be, or what they wait for. */
export function clusterConverged(
  clients: Clients,
  truth: Truth,
  served: (path: string) => readonly JsonObject[],
): Judged {
  const waits = [...clients].flatMap(([name, { actor, process }]) => {
    const why = process.alive ? actor.pending() : "it is down";
    return why === undefined ? [] : [`${name}: ${why}`];
  });
  const candidates = [...clients.values()].map(({ actor }) => actor).filter((actor) => actor instanceof Candidate);
  if (candidates.length > 0 && !candidates.some((one) => one.counts()["leads"] === 1)) waits.push("nobody leads");
  const informers = followersOf(clients).length > 0 ? informersConverged(clients, served) : passed;
  for (const { verdict } of [informers, replicasSettled(truth)])
    if (verdict.status === "failed") waits.push(verdict.actual);
  const [first] = waits;
  return first === undefined ? passed : failed("nobody waits for anything", first, waits.concat(informers.evidence));
}
