import type { Answer, Client } from "../client/client.ts";
import { LostAnswer } from "../client/client.ts";
import { Collection, type CreatedRegistry, succeeded } from "../client/collection.ts";
import { type ApiObject, isApiObject, type JsonObject } from "../client/types.ts";

/** Names that no other check, run or person uses. */
export interface NameSource {
  /** Label value of everything this run makes. */
  readonly runId: string;
  next(): string;
}

export const runLabel = "touchstone-run";

/**
 * Namespaces of one attempt, and everything made in them. Cleanup removes what was made here and nothing else, and
 * does not rely on deletecollection, which may be what is broken.
 */
export class Sandbox implements CreatedRegistry {
  private readonly client: Client;
  private readonly names: NameSource;
  private readonly prefix: string;
  private readonly namespaces = new Map<string, Promise<string>>();
  /** Names of namespaces that are there, or may be: an answer that was lost says nothing. */
  private readonly mayExist = new Set<string>();
  /** By path: whether it is held when its namespace goes. */
  private readonly objects = new Map<string, boolean>();
  private readonly everCreated = new Set<string>();
  private readonly endings: ((cleaner: Client) => Promise<unknown>)[] = [];

  constructor(client: Client, names: NameSource) {
    this.client = client;
    this.names = names;
    this.prefix = names.next();
  }

  /** Runs when the attempt is over, however it ends, before anything else is removed: for what belongs to no namespace. */
  onCleanUp(ending: (cleaner: Client) => Promise<unknown>): void {
    this.endings.push(ending);
  }

  created(objectPath: string, held: boolean): void {
    this.objects.set(objectPath, held || this.objects.get(objectPath) === true);
    this.everCreated.add(objectPath);
  }

  gone(objectPath: string): void {
    this.objects.delete(objectPath);
  }

  /** The name of the attempt's namespace, or of a further one whose name is longer by `suffix`. Made when first asked for. */
  namespace(suffix = ""): Promise<string> {
    let known = this.namespaces.get(suffix);
    if (known === undefined) {
      known = this.createNamespace(this.prefix + suffix);
      this.namespaces.set(suffix, known);
    }
    return known;
  }

  /** A collection in the attempt's namespace, or in a further one; of the core group unless `prefix` names another. */
  async collection(resource: string, suffix = "", prefix = "/api/v1"): Promise<Collection> {
    return new Collection(this.client, `${prefix}/namespaces/${await this.namespace(suffix)}/${resource}`, this);
  }

  /** A core resource over all namespaces. */
  everywhere(resource: string): Collection {
    return new Collection(this.client, `/api/v1/${resource}`, this);
  }

  /** The objects that this attempt made or may have made. A server may put objects of its own into a fresh namespace. */
  own(collection: Collection, items: readonly ApiObject[]): ApiObject[] {
    return items.filter((item) => this.isOwn(collection, item));
  }

  isOwn(collection: Collection, object: ApiObject): boolean {
    return this.everCreated.has(collection.pathOf(object.metadata.name));
  }

  get label(): string {
    return this.names.runId;
  }

  /**
   * Asks for the end of all that was made, through a client of its own, so that the history ends with the program:
   * what is held is removed by name, the rest goes with its namespace. Does not wait. Never throws.
   */
  async cleanUp(cleaner: Client): Promise<readonly Leaving[]> {
    for (const ending of this.endings) await ending(cleaner).catch(() => undefined);
    for (const [path, held] of this.objects) if (held) await remove(cleaner, path);
    await Promise.allSettled(this.namespaces.values());
    const names = [...this.mayExist];
    for (const name of names) await cleaner.attempt("DELETE", `/api/v1/namespaces/${name}`);
    return names.map((namespace) => ({
      namespace,
      objects: [...this.objects.keys()].filter((path) => path.includes(`/namespaces/${namespace}/`)),
    }));
  }

  private async createNamespace(name: string): Promise<string> {
    const labels = { [runLabel]: this.names.runId };
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    this.mayExist.add(name);
    const result = await this.client.attempt("POST", "/api/v1/namespaces", { body });
    if (wasNotMade(result)) this.mayExist.delete(name);
    if (result instanceof LostAnswer) throw result;
    succeeded(result);
    return name;
  }
}

/** Refused, or never asked for: nobody listened. */
function wasNotMade(result: Answer | LostAnswer): boolean {
  if (result instanceof LostAnswer) return result.exchange.lost?.includes("ECONNREFUSED") === true;
  return result.status >= 400 && result.status < 500;
}

/** A namespace on its way out, and the objects that go with it. */
export interface Leaving {
  readonly namespace: string;
  readonly objects: readonly string[];
}

/** A plain deletion; what is held by finalizers loses them, what is graceful loses its grace. */
export async function remove(cleaner: Client, path: string): Promise<void> {
  const options: JsonObject = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 };
  const answer = await cleaner.attempt("DELETE", path, { body: options });
  if (answer instanceof LostAnswer || answer.status === 404) return;
  // A Status says that it is gone, or, on some servers, only that the deletion was accepted.
  const left = isApiObject(answer.json) ? answer : await cleaner.attempt("GET", path);
  if (left instanceof LostAnswer || !isApiObject(left.json) || (left.json.metadata.finalizers ?? []).length === 0)
    return;
  const body = { metadata: { finalizers: null } };
  const patched = await cleaner.attempt("PATCH", path, { body, contentType: "application/merge-patch+json" });
  if (!(patched instanceof LostAnswer) && patched.status < 300) return;
  // Not every server patches; whoever changes the object meanwhile is met again when the namespace is awaited.
  await cleaner.attempt("PUT", path, { body: { ...left.json, metadata: { ...left.json.metadata, finalizers: [] } } });
}
