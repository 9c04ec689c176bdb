/**
 * Follows a collection: a list, then the watch after it, and a new list when history has been lost.
 * Source: the facts, Clients and events (waits of 0.8 s that double to 30 s, up to twice as long by chance, forgotten
 * after two quiet minutes); client-go, tools/cache/reflector.go (watches of five to ten minutes, with bookmarks).
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { Cancel, Micros, Prng } from "../../kernel/types.ts";
import type { AgentApi } from "./agent-api.ts";

export interface CollectionHearer {
  /** All that there is. What was there before and is not among it has gone. */
  replaced(objects: readonly JsonObject[]): void;
  /** Created or changed. */
  changed(object: JsonObject): void;
  /** Deleted; as it last was. */
  gone(object: JsonObject): void;
}

const retryMicrosMin: Micros = 800_000;
const retryMicrosMax: Micros = 30_000_000;
const quietMicros: Micros = 120_000_000;

export class Reflector {
  private readonly api: AgentApi;
  private readonly path: string;
  private readonly selector: string;
  private readonly hearer: CollectionHearer;
  private readonly prng: Prng;
  /** Of the newest list or event that was heard. */
  private version = "";
  private retryMicros = retryMicrosMin;
  private failedMicros: Micros = 0;
  private cancelStream: Cancel = () => {};

  /** `selector`: such as `fieldSelector=spec.nodeName%3Da`, or empty. */
  constructor(api: AgentApi, path: string, selector: string, hearer: CollectionHearer) {
    this.api = api;
    this.path = path;
    this.selector = selector;
    this.hearer = hearer;
    this.prng = api.process.prng.stream(`reflector ${path}`);
  }

  start(): void {
    this.list("0");
  }

  /** `version`: "0" is content with what the server's cache has, "" with nothing but the newest. */
  private list(version: string): void {
    const query = [this.selector, `limit=500&resourceVersion=${version}`].filter((part) => part !== "").join("&");
    this.page(query, "", []);
  }

  private page(query: string, next: string, before: readonly JsonObject[]): void {
    const paged =
      next === "" ? query : `${query.replace(/&resourceVersion=.*$/, "")}&continue=${encodeURIComponent(next)}`;
    this.api.call({ method: "GET", path: this.path, query: paged }, ({ status, object }) => {
      if (status !== 200 || object === undefined) {
        this.later(() => this.list(status === 410 ? "" : "0"));
        return;
      }
      const metadata = (object["metadata"] ?? {}) as { readonly resourceVersion?: string; readonly continue?: string };
      const items = (object["items"] ?? []) as readonly JsonObject[]; // null items are none
      const all = before.length === 0 ? items : [...before, ...items];
      if (metadata.continue !== undefined && metadata.continue !== "") {
        this.page(query, metadata.continue, all);
        return;
      }
      this.version = metadata.resourceVersion ?? "";
      this.hearer.replaced(all);
      this.watch();
    });
  }

  private watch(): void {
    const seconds = this.prng.intInclusive(300, 600);
    const query = [
      this.selector,
      `watch=true&allowWatchBookmarks=true&timeoutSeconds=${seconds}&resourceVersion=${encodeURIComponent(this.version)}`,
    ]
      .filter((part) => part !== "")
      .join("&");
    const { clock } = this.api.process;
    const openedMicros = clock.nowMicros();
    let isLost = false;
    this.cancelStream();
    this.cancelStream = this.api.watch(this.path, query, {
      event: (type, object) => {
        if (type === "ERROR") isLost = true;
        else this.hear(type, object);
      },
      refused: (status) => this.later(() => (status === 410 ? this.list("") : this.watch())),
      ended: () => {
        const again = (): void => (isLost ? this.list("") : this.watch());
        // One that lasted is followed at once, by an event of its own; one that did not is not trusted.
        if (clock.nowMicros() - openedMicros >= 1_000_000 && !isLost) clock.after(0, again);
        else this.later(again);
      },
    });
  }

  private hear(type: string, object: JsonObject): void {
    this.version = metadataOf(object).resourceVersion ?? this.version;
    if (type === "BOOKMARK") return;
    if (type === "DELETED") this.hearer.gone(object);
    else this.hearer.changed(object);
  }

  private later(again: () => void): void {
    const { clock } = this.api.process;
    const nowMicros = clock.nowMicros();
    if (nowMicros - this.failedMicros > quietMicros) this.retryMicros = retryMicrosMin;
    this.failedMicros = nowMicros;
    const micros = this.retryMicros + this.prng.intInclusive(0, this.retryMicros);
    this.retryMicros = Math.min(2 * this.retryMicros, retryMicrosMax);
    clock.after(micros, again);
  }
}
