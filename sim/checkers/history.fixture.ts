/** Histories told by hand, for checkers that must reject or accept them. */
import { type InvariantName, invariantNames } from "../../scenarios/expectations.ts";
import type { ApiRequest, JsonObject } from "../contract/http-message.ts";
import type { Bench, Checker, Exchange, Fact, Happening } from "./judge.ts";
import { Judge } from "./judge.ts";
import { Truth } from "./truth.ts";
import { ExchangeWitness } from "./witness.ts";

export const path = "/api/v1/namespaces/n/configmaps";
const prefix = "/registry/configmaps/n/";

export class History {
  now = 0;
  readonly truth = new Truth(1, () => this.now);
  readonly judge: Judge;
  readonly witness: ExchangeWitness;
  private revision = 1;
  private readonly values = new Map<string, { value: JsonObject; revision: number }>();

  constructor(...checkers: readonly ((bench: Bench, history: History) => Checker)[]) {
    const names = new Set<InvariantName>(invariantNames);
    this.judge = new Judge(
      this.truth,
      () => this.now,
      checkers.map((make) => (bench: Bench) => make(bench, this)),
      names,
    );
    this.witness = new ExchangeWitness(this.judge, this.truth, () => this.now);
  }

  get broken(): InvariantName | undefined {
    return this.judge.violation?.requirement;
  }

  /** Writes, or deletes when there is nothing to write. Returns the version. */
  commit(name: string, metadata?: Readonly<Record<string, unknown>>, rest: JsonObject = {}, at = prefix): number {
    const key = at + name;
    const revision = ++this.revision;
    const before = this.values.get(key);
    const value =
      metadata === undefined
        ? undefined
        : ({
            ...rest,
            metadata: { name, namespace: "n", resourceVersion: String(revision), ...metadata },
          } as JsonObject);
    const event = { revision, key, value, previous: before?.value, previousRevision: before?.revision ?? 0 };
    if (value === undefined) this.values.delete(key);
    else this.values.set(key, { value, revision });
    this.truth.committed(event);
    this.judge.committed(event);
    return revision;
  }

  ask(method: string, to = path, query = "", client = "client", server = "apiserver"): Exchange {
    const request: ApiRequest = { method, path: to, query, headers: {} };
    return this.witness.begin(client, server, request);
  }

  answer(exchange: Exchange, status: number, object: JsonObject = {}): this {
    this.witness.answered(exchange, status, object);
    this.witness.ended(exchange, "closed");
    return this;
  }

  watch(from: number, client = "client"): Exchange {
    const exchange = this.ask("GET", path, `watch=true&resourceVersion=${from}`, client);
    this.witness.opened(exchange);
    return exchange;
  }

  event(exchange: Exchange, type: string, name: string, version: number): this {
    this.witness.event(exchange, type, object(name, version));
    return this;
  }

  tell(fact: Fact): this {
    this.judge.told(fact);
    return this;
  }

  happen(happening: Happening): this {
    this.judge.happened(happening);
    return this;
  }
}

export const object = (name: string, version: number, rest: JsonObject = {}): JsonObject => ({
  ...rest,
  metadata: { name, namespace: "n", resourceVersion: String(version) },
});

export const list = (version: number, ...items: JsonObject[]): JsonObject => ({
  metadata: { resourceVersion: String(version) },
  items,
});
