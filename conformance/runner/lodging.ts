/**
 * Where programs live, by URL: namespaces are dear to a real cluster, so a program leaves the ones that it had to another,
 * of its check or of the next, once all that was made in them is gone. What cannot be shown to be empty is not lived in again.
 */
import type { Client } from "../client/client.ts";
import { LostAnswer } from "../client/client.ts";
import type { Exchange } from "../client/exchange.ts";
import { isApiObject, isJsonObject, type Json } from "../client/types.ts";
import { remove } from "./remove.ts";

/** Namespaces that are there and empty: those whose name is the prefix and one of the suffixes. */
export interface Lodging {
  readonly prefix: string;
  readonly suffixes: readonly string[];
}

/** Empty namespaces, as one check has them: those that any check may live in, and its own, which it leaves at its end. */
export class Vacancies {
  private readonly ofRun: Lodging[];
  private readonly ownPrefixes = new Set<string>();
  readonly own: Lodging[] = [];

  /** `ofRun` is shared by all checks. */
  constructor(ofRun: Lodging[]) {
    this.ofRun = ofRun;
  }

  take(): Lodging | undefined {
    return this.own.pop() ?? this.ofRun.pop();
  }

  /** `exchanges` are those of the program that has lived there last. */
  give(lodging: Lodging, exchanges: readonly Exchange[]): void {
    if (exchanges.some(actsLater)) this.ownPrefixes.add(lodging.prefix);
    (this.ownPrefixes.has(lodging.prefix) ? this.own : this.ofRun).push(lodging);
  }
}

/** Limits, quotas and webhooks may be obeyed for a while after they have gone. The check that made them knows of that. */
function actsLater({ request: { method, path } }: Exchange): boolean {
  return method !== "GET" && /\/(admissionregistration[^/]*|resourcequotas|limitranges)(\/|\?|$)/.test(path);
}

/** What a cluster's own controllers put into every namespace, and what waiting for lists and controllers has come to so far. */
export class Furnishing {
  /** By collection and name, as `configmaps/kube-root-ca.crt`. */
  readonly places: readonly string[];
  /** Waits that were in vain: what has been shown broken is not waited for again and again. */
  private vainCount = 0;

  constructor(places: readonly string[] = []) {
    this.places = places;
  }

  /** Asks again while `isReached` says no, after these milliseconds: once only when waiting has been in vain often enough. */
  async reaches(client: Client, waitsMillis: readonly number[], isReached: () => Promise<boolean>): Promise<boolean> {
    const waits = this.vainCount < vainMax ? waitsMillis : [];
    for (const waitMillis of waits) {
      if (await isReached()) return true;
      await client.pause(waitMillis);
    }
    if (await isReached()) return true;
    this.vainCount += 1;
    return false;
  }
}

const vainMax = 5;

/**
 * Empties the namespaces of a program that has ended, by the names of what is in them. True when they can be lived in
 * again: nothing that the program asked for can still come, and the collections that it wrote to show nothing, at any
 * version.
 */
export async function vacated(
  cleaner: Client,
  exchanges: readonly Exchange[],
  lodging: Lodging,
  furnishing: Furnishing,
): Promise<boolean> {
  const own = new Set(lodging.suffixes.map((suffix) => `/api/v1/namespaces/${lodging.prefix}${suffix}`));
  const collections = new Set<string>();
  for (const { request, lost } of exchanges) {
    if (request.method === "GET") continue;
    const [path = ""] = request.path.split("?");
    // A write without an answer may still be carried out; a namespace that was written to is no longer as it was made.
    if (lost !== undefined || (own.has(path) && request.method !== "POST")) return false;
    // Who was known or allowed here may be so for a moment longer.
    if (/\/(serviceaccounts|roles|rolebindings)(\/|$)/.test(path)) return false;
    if (/^\/api\/v1\/namespaces\/[^/]+\/(finalize|status)$/.test(path)) return false;
    const collection = collectionIn(path, lodging.prefix);
    if (collection !== undefined) collections.add(collection);
  }
  const emptied = await Promise.all([...collections].map((path) => isEmptied(cleaner, path, furnishing)));
  return emptied.every(Boolean);
}

/** The collection in one of the program's namespaces that a request writes to. */
function collectionIn(path: string, prefix: string): string | undefined {
  const [, collection, namespace = ""] = /^(.*\/namespaces\/([^/]+)\/[^/]+)/.exec(path) ?? [];
  return namespace.startsWith(prefix) ? collection : undefined;
}

async function isEmptied(cleaner: Client, path: string, furnishing: Furnishing): Promise<boolean> {
  const found = await strangersIn(cleaner, path, furnishing, {});
  if (found === "no collection") return true;
  if (found === undefined) return false;
  for (const name of found) await remove(cleaner, `${path}/${encodeURIComponent(name)}`);
  const wasEmpty = found.length === 0;
  const isShownEmpty = (query: Readonly<Record<string, string>>): Promise<boolean> =>
    furnishing.reaches(cleaner, emptyWaitsMillis, async () => {
      const left = await strangersIn(cleaner, path, furnishing, query);
      return left !== undefined && left.length === 0;
    });
  // Whoever lists at any version must not meet what was there before. A slow list is waited for once.
  const shown = await Promise.all([wasEmpty || isShownEmpty({}), isShownEmpty({ resourceVersion: "0" })]);
  return shown.every(Boolean);
}

/** Names of what nobody but a program can have put there. Undefined: the list says nothing. */
async function strangersIn(
  cleaner: Client,
  path: string,
  furnishing: Furnishing,
  query: Readonly<Record<string, string>>,
): Promise<readonly string[] | "no collection" | undefined> {
  const answer = await cleaner.attempt("GET", path, { query });
  if (answer instanceof LostAnswer) return undefined;
  if (answer.status === 404 || answer.status === 405) return "no collection"; // a virtual type keeps nothing
  const items = isJsonObject(answer.json) ? answer.json["items"] : undefined;
  if (answer.status !== 200 || !(Array.isArray(items) || items === null)) return undefined;
  const plural = path.split("/").at(-1) as string;
  const names = ((items ?? []) as readonly Json[]).filter(isApiObject).map(({ metadata }) => metadata.name);
  return names.filter((name) => !furnishing.places.includes(`${plural}/${name}`));
}

const emptyWaitsMillis = [100, 200, 300, 400];
const furnishedWaitsMillis = [20, 40, 80, 160, 320, 640];

/**
 * What controllers put into every namespace, found by comparing two that were there before: `configmaps/…` and
 * `serviceaccounts/…`. Empty where nobody does, or nobody may look.
 */
export async function furnishingOf(client: Client): Promise<Furnishing> {
  const namespaces = (await namesIn(client, "/api/v1/namespaces", 50)).filter(
    (name) => !name.startsWith("touchstone-"),
  );
  const [first, second] = [namespaces[0], namespaces.at(-1)];
  if (first === undefined || second === undefined || first === second) return new Furnishing();
  const furnishing: string[] = [];
  for (const plural of ["configmaps", "serviceaccounts"]) {
    const others = new Set(await namesIn(client, `/api/v1/namespaces/${second}/${plural}`, 500));
    for (const name of await namesIn(client, `/api/v1/namespaces/${first}/${plural}`, 500)) {
      if (others.has(name)) furnishing.push(`${plural}/${name}`);
    }
  }
  return new Furnishing(furnishing);
}

async function namesIn(client: Client, path: string, limit: number): Promise<readonly string[]> {
  const answer = await client.attempt("GET", path, { query: { limit } });
  const items = answer instanceof LostAnswer || !isJsonObject(answer.json) ? undefined : answer.json["items"];
  return Array.isArray(items) ? (items as Json[]).filter(isApiObject).map(({ metadata }) => metadata.name) : [];
}

/** Waits until the controllers have been in a new namespace, but not for long: a program must stand them at any time. */
export async function awaitFurnished(client: Client, namespace: string, furnishing: Furnishing): Promise<void> {
  for (const place of furnishing.places) {
    await furnishing.reaches(client, furnishedWaitsMillis, async () => {
      const answer = await client.attempt("GET", `/api/v1/namespaces/${namespace}/${place}`);
      return answer instanceof LostAnswer || answer.status !== 404;
    });
  }
}
