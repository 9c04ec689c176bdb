/** Typed verbs on one collection. Each says what it sends; whether the answer is right is the caller's question. */
import { answerValuesMax, countJsonValues } from "../../wire/json-values.ts";
import { bodyBytesMax, tooMuchInPages } from "./answer-limits.ts";
import { CheckFailure, HistoryExpired, Inconclusive } from "./findings.ts";
import type { Answer } from "./exchange.ts";
import type { Client, Query, RequestOptions } from "./client.ts";
import { LostAnswer } from "./client.ts";
import { type ApiList, type ApiObject, isApiObject, isJsonObject, type Json, type JsonObject } from "./types.ts";
import type { WatchStream } from "./watch-stream.ts";

export const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;
export type PatchKind = keyof typeof patchTypes;

/** Told of every object that may exist because of us, so that it can be removed again. */
export interface CreatedRegistry {
  /** `held`: it does not go with its namespace alone, because of finalizers or a grace period. */
  created(objectPath: string, held: boolean): void;
  gone(objectPath: string): void;
}

export class Collection {
  readonly client: Client;
  /** For example `/api/v1/namespaces/a/configmaps`. */
  readonly path: string;
  private readonly registry: CreatedRegistry;

  constructor(client: Client, path: string, registry: CreatedRegistry) {
    this.client = client;
    this.path = path;
    this.registry = registry;
  }

  list(query?: Query, options: RequestOptions = {}): Promise<Answer> {
    return this.client.request("GET", this.path, { ...options, query });
  }

  /** A list in any form, whatever it is answered. Rejects when a version or a token is no longer kept. */
  async listKept(query: Query = {}, options: RequestOptions = {}): Promise<Answer> {
    const answer = await this.list(query, options);
    if (answer.status === 410 && asksForOld(query)) throw await this.expired(query, answer, options);
    return answer;
  }

  /** A list that must succeed. */
  async readList(query?: Query): Promise<ApiList> {
    return listOf(await this.listKept(query));
  }

  /**
   * A version, or the version of a token, is answered 410, which is lawful once it is no longer kept. Shows whether it
   * could have been: another version is asked for in the same way when it is as old as this one can be.
   */
  private async expired(query: Query, gone: Answer, options: RequestOptions): Promise<HistoryExpired> {
    const { client } = this;
    const { path } = gone.exchange.request;
    const ageMillis = Math.min(client.clock.nowMillis() - client.madeMillis, agedMillisMax);
    const { limit, continue: token, resourceVersion: _old, ...others } = query;
    const fresh = listOf(await this.list(token === undefined ? {} : { ...others, limit: limit ?? 1 }));
    await client.pause(ageMillis);
    const again =
      token === undefined
        ? await this.list({ ...query, resourceVersion: fresh.resourceVersion }, options)
        : fresh.continueToken === undefined
          ? undefined
          : await this.list({ ...others, limit, continue: fresh.continueToken }, options);
    client.recorder.returnTo(gone.exchange);
    const message = `GET ${path} was answered 410 within ${ageMillis} ms: the run was too slow for the history that the target keeps`;
    if (again?.status !== 200 || ageMillis >= brieflyMillis) return new HistoryExpired(message);
    const expected = `GET ${path} answers the list, as it does for another version of that age`;
    const actual = `410 ${gone.text.slice(0, 300)}`;
    const requirement = token === undefined ? "expiry.exact-whole" : "pages.complete";
    return new HistoryExpired(message, new CheckFailure(requirement, { expected, actual }, gone.exchange));
  }

  /** All pages, from the first to the one without a token. `between` runs after each page that has a next. */
  async pages(query: Query, between?: (page: ApiList, index: number) => Promise<void>): Promise<ApiList[]> {
    const bounds = new PageBounds();
    const read = async (asked: Query): Promise<ApiList> => {
      const answer = await this.listKept(asked);
      bounds.add(answer);
      return listOf(answer);
    };
    const pages = [await read(query)];
    // The documents want the same request again with the token; the version of the first page is in the token.
    const { resourceVersion: _first, resourceVersionMatch: _match, ...rest } = query;
    for (let token = pages[0]?.continueToken; token !== undefined; token = pages.at(-1)?.continueToken) {
      if (pages.length > pagesMax) break;
      await between?.(pages.at(-1) as ApiList, pages.length - 1);
      pages.push(await read({ ...rest, continue: token }));
    }
    return pages;
  }

  get(name: string, query?: Query): Promise<Answer> {
    return this.client.request("GET", this.pathOf(name), { query });
  }

  async create(object: JsonObject, options: RequestOptions = {}): Promise<Answer> {
    return answered(await this.tryCreate(object, options));
  }

  async tryCreate(object: JsonObject, options: RequestOptions = {}): Promise<Answer | LostAnswer> {
    const result = await this.client.attempt("POST", this.path, { ...options, body: object });
    const named = result instanceof LostAnswer ? object : result.status < 300 ? result.json : undefined;
    if (isApiObject(named) && options.query?.["dryRun"] === undefined) {
      this.registry.created(this.pathOf(named.metadata.name), this.isHeld(object));
    }
    return result;
  }

  async put(name: string, object: JsonObject, options: RequestOptions = {}): Promise<Answer> {
    return answered(await this.tryPut(name, object, options));
  }

  async tryPut(name: string, object: JsonObject, options: RequestOptions = {}): Promise<Answer | LostAnswer> {
    const result = await this.client.attempt("PUT", this.pathOf(name), { ...options, body: object });
    // Whether a PUT has created is not always told by its status.
    const mayHaveMade = result instanceof LostAnswer || result.status < 300;
    if (mayHaveMade && !name.includes("/") && options.query?.["dryRun"] === undefined) {
      this.registry.created(this.pathOf(name), this.isHeld(object));
    }
    return result;
  }

  async patch(name: string, kind: PatchKind, patch: Json | JsonObject, options: RequestOptions = {}): Promise<Answer> {
    return answered(await this.tryPatch(name, kind, patch, options));
  }

  async tryPatch(
    name: string,
    kind: PatchKind,
    patch: Json | JsonObject,
    options: RequestOptions = {},
  ): Promise<Answer | LostAnswer> {
    const contentType = options.contentType ?? patchTypes[kind];
    const result = await this.client.attempt("PATCH", this.pathOf(name), { ...options, contentType, body: patch });
    // An application may have made the object, and another patch may have had it held.
    const isTaken = result instanceof LostAnswer || result.status < 300;
    if (isTaken && kind === "apply") this.registry.created(this.pathOf(name), this.isHeld(patch));
    else if (isTaken && addsFinalizers(patch)) this.registry.created(this.pathOf(name), true);
    return result;
  }

  async delete(name: string, deleteOptions?: JsonObject, options: RequestOptions = {}): Promise<Answer> {
    return answered(await this.tryDelete(name, deleteOptions, options));
  }

  async tryDelete(
    name: string,
    deleteOptions?: JsonObject,
    options: RequestOptions = {},
  ): Promise<Answer | LostAnswer> {
    const body =
      deleteOptions === undefined ? undefined : { kind: "DeleteOptions", apiVersion: "v1", ...deleteOptions };
    const result = await this.client.attempt("DELETE", this.pathOf(name), { ...options, body });
    if (!(result instanceof LostAnswer) && result.status === 404) this.registry.gone(this.pathOf(name));
    return result;
  }

  /**
   * What a server would delete that does not keep namespaces apart is not risked: where the list of this collection shows
   * what is not in its namespace, nothing is asked, and the run ends as inconclusive.
   */
  async deleteCollection(options: RequestOptions = {}): Promise<Answer> {
    const namespace = /\/namespaces\/([^/]+)\/[^/]+$/.exec(this.path)?.[1];
    if (namespace === undefined)
      throw new Error(`${this.path} is of no namespace: what is deleted there would be others'`);
    const { items } = await this.readList();
    const strange = items.find(({ metadata }) => metadata.namespace !== namespace);
    if (strange !== undefined) {
      const found = `${strange.metadata.namespace}/${strange.metadata.name}`;
      throw new Inconclusive(
        `not asked to delete the collection ${this.path}: its list shows ${found}, of another place`,
      );
    }
    return this.client.request("DELETE", this.path, options);
  }

  watch(query: Query = {}, options: Parameters<Client["watch"]>[2] = {}): WatchStream {
    return this.client.watch(this.path, query, options);
  }

  private isHeld(object: Json | JsonObject): boolean {
    const finalizers = isApiObject(object) ? (object.metadata.finalizers ?? []) : [];
    return finalizers.length > 0 || this.path.endsWith("/pods");
  }

  /** `name`, or `name/subresource`. */
  pathOf(name: string): string {
    return `${this.path}/${name.split("/").map(encodeURIComponent).join("/")}`;
  }
}

/** At version 0, and without any, whatever is there will do. */
const asksForOld = ({ resourceVersion = "0", continue: token }: Query): boolean =>
  token !== undefined || !["", "0"].includes(String(resourceVersion));

const agedMillisMax = 10_000;

/** Any history lasts so long. In a quiet target the newest version never goes, so that one of more age shows nothing. */
const brieflyMillis = 1_000;

/** All pages of a list are kept: together they are bounded as one answer is. Throws `Inconclusive` beyond that. */
export class PageBounds {
  private bytes = 0;
  private valueCount = 0;

  add({ bytes, exchange }: Answer): void {
    this.bytes += bytes.length;
    this.valueCount += countJsonValues(bytes);
    const isTooMuch = this.bytes > bodyBytesMax || this.valueCount > answerValuesMax;
    if (isTooMuch)
      throw new Inconclusive(`the pages of ${exchange.request.path.slice(0, 200)} together: ${tooMuchInPages}`);
  }
}

const pagesMax = 500; // a server that always gives a token must not hold the suite forever

function answered(result: Answer | LostAnswer): Answer {
  if (result instanceof LostAnswer) throw result;
  return result;
}

/**
 * The answer to a request of a kind that the documents promise to serve, or the end of the run: refused
 * credentials say nothing about the target, anything else breaks `requirement`.
 */
export function succeeded(
  answer: Answer,
  requirement = "objects.verbs",
  statuses: readonly number[] = [200, 201, 202],
): Answer {
  if (statuses.includes(answer.status)) return answer;
  const { method, path } = answer.exchange.request;
  if (answer.status === 401 || answer.status === 403) {
    throw new Inconclusive(
      `the credentials do not allow ${method} ${path}: ${answer.status} ${answer.text.slice(0, 200)}`,
    );
  }
  throw new CheckFailure(
    requirement,
    {
      expected: `${method} ${path} answers ${statuses.join(" or ")}`,
      actual: `${answer.status} ${answer.text.slice(0, 400)}`,
    },
    answer.exchange,
  );
}

/** The object in an answer that must succeed. */
export function objectOf(answer: Answer, requirement?: string): ApiObject {
  succeeded(answer, requirement);
  if (isApiObject(answer.json)) return answer.json;
  throw new CheckFailure(
    "objects.fields",
    { expected: "a JSON object with metadata.name", actual: answer.text.slice(0, 400) },
    answer.exchange,
  );
}

/** The collection in an answer that must succeed. */
export function listOf(answer: Answer): ApiList {
  succeeded(answer, "lists.collection", [200]);
  const { json } = answer;
  const metadata = isJsonObject(json) ? json["metadata"] : undefined;
  if (!isJsonObject(json) || !isJsonObject(metadata)) throw misshapen(answer, "a JSON object with metadata");
  const items = json["items"];
  if (!Array.isArray(items) || !items.every(isApiObject))
    throw misshapen(answer, "items: an array of objects, also when empty");
  const resourceVersion = metadata["resourceVersion"];
  if (typeof resourceVersion !== "string" || resourceVersion === "") {
    throw misshapen(answer, "metadata.resourceVersion: a string that is not empty");
  }
  const token = metadata["continue"];
  const remaining = metadata["remainingItemCount"];
  return {
    resourceVersion,
    continueToken: typeof token === "string" && token !== "" ? token : undefined,
    remainingItemCount: typeof remaining === "number" ? remaining : undefined,
    items,
  };
}

function misshapen(answer: Answer, expected: string): CheckFailure {
  return new CheckFailure("lists.fields", { expected, actual: answer.text.slice(0, 400) }, answer.exchange);
}

/** Of a merge patch. */
function addsFinalizers(patch: Json | JsonObject): boolean {
  const metadata = isJsonObject(patch) ? patch["metadata"] : undefined;
  const finalizers = isJsonObject(metadata) ? metadata["finalizers"] : undefined;
  return Array.isArray(finalizers) && finalizers.length > 0;
}
