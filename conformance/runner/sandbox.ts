import type { Answer } from "../client/exchange.ts";
import type { Client } from "../client/client.ts";
import { LostAnswer } from "../client/client.ts";
import { Collection, type CreatedRegistry, succeeded } from "../client/collection.ts";
import type { ApiObject } from "../client/types.ts";
import type { Lodging } from "./lodging.ts";
import { remove } from "./remove.ts";

/** Names that no other check, run or person uses. */
export interface NameSource {
  /** Label value of everything this run makes. */
  readonly runId: string;
  next(): string;
}

export interface SandboxOptions {
  /** Namespaces that an earlier program has left. Default: none, and each is made when it is first asked for. */
  readonly lodging?: Lodging | undefined;
  /** Called with the name of a namespace that was made, and waited for. */
  readonly onNamespace?: ((name: string) => Promise<void>) | undefined;
}

export const runLabel = "touchstone-run";
/** Its own name, on every namespace of the suite: what asks for namespaces by label finds one alone. */
export const namespaceLabel = "touchstone-namespace";

/**
 * Namespaces of one attempt, and everything made in them. Cleanup removes what was made here and nothing else, and
 * does not rely on deletecollection, which may be what is broken.
 */
export class Sandbox implements CreatedRegistry {
  private readonly client: Client;
  private readonly names: NameSource;
  /** Unique: for what belongs to no namespace. */
  readonly name: string;
  private readonly prefix: string;
  private readonly options: SandboxOptions;
  private readonly namespaces = new Map<string, Promise<string>>();
  /** Names of namespaces that are there, or may be: an answer that was lost says nothing. */
  private readonly mayExist = new Set<string>();
  /** By path: whether it is held when its namespace goes. */
  private readonly objects = new Map<string, boolean>();
  private readonly everCreated = new Set<string>();
  private readonly endings: ((cleaner: Client) => Promise<unknown>)[] = [];

  constructor(client: Client, names: NameSource, options: SandboxOptions = {}) {
    this.client = client;
    this.names = names;
    this.name = names.next();
    this.options = options;
    const { lodging } = options;
    this.prefix = lodging?.prefix ?? this.name;
    for (const suffix of lodging?.suffixes ?? []) {
      this.namespaces.set(suffix, Promise.resolve(this.prefix + suffix));
      this.mayExist.add(this.prefix + suffix);
    }
  }

  /** The namespaces that the attempt has, for the next one. */
  get lodging(): Lodging {
    return { prefix: this.prefix, suffixes: [...this.namespaces.keys()] };
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

  /**
   * The name of the attempt's namespace, or of a further one whose name is longer by `suffix`: which is `0` or begins with no
   * digit, or the name could be another attempt's. Made when first asked for.
   */
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
   * what is held is removed by name, the rest goes with its namespace. Does not wait. Never throws. When `keep` says so,
   * the namespaces stay.
   */
  async cleanUp(cleaner: Client, keep: () => Promise<boolean> = async () => false): Promise<readonly Leaving[]> {
    for (const ending of this.endings) await ending(cleaner).catch(() => undefined);
    for (const [path, held] of this.objects) if (held) await remove(cleaner, path);
    await Promise.allSettled(this.namespaces.values());
    if (await keep().catch(() => false)) return [];
    const names = [...this.mayExist];
    for (const name of names) await cleaner.attempt("DELETE", `/api/v1/namespaces/${name}`);
    return names.map((namespace) => ({
      namespace,
      objects: [...this.objects.keys()].filter((path) => path.includes(`/namespaces/${namespace}/`)),
    }));
  }

  private async createNamespace(name: string): Promise<string> {
    const labels = { [runLabel]: this.names.runId, [namespaceLabel]: name };
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    this.mayExist.add(name);
    const result = await this.client.attempt("POST", "/api/v1/namespaces", { body });
    if (wasNotMade(result)) this.mayExist.delete(name);
    if (result instanceof LostAnswer) throw result;
    succeeded(result);
    await this.options.onNamespace?.(name);
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
