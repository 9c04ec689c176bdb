/**
 * Keeps a copy of a collection: lists it, then follows its watch; on 410 it lists again, on anything else it
 * resumes from the last version that it has seen.
 * Source: client-go, tools/cache/reflector.go (ListAndWatch).
 *
 * Simplification: the real one backs off from 800 ms to 30 s with jitter and asks for watches of 5 to 10 minutes;
 * this one waits between one and two seconds, and lets the server choose the length unless it is told one.
 */
import type { JsonObject } from "../contract/http-message.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import type { ApiClient } from "./api-client.ts";

export interface InformerOptions {
  /** Path of the collection. */
  readonly path: string;
  /** Fields that its objects have: `spec.nodeName=node-1`. Default: all objects of the collection. */
  readonly fieldSelector?: string | undefined;
  /** For a list. Default 30 seconds, more than 0. */
  readonly deadlineMicros?: Micros;
  /** `watch`: it never lists, and takes the present state from the first events of a watch without a version. Default `list`. */
  readonly begin?: "list" | "watch";
  /**
   * Length that it asks its watches to have, whole seconds. When nothing comes for this and 5 s more, the connection is
   * taken for dead. Default: the server's choice, and nothing is taken for dead.
   */
  readonly timeoutMicros?: Micros | undefined;
  /** Hears of each change of the copy; `before` is what was there. A deletion has no `after`. */
  readonly onChange?: (key: string, before: JsonObject | undefined, after: JsonObject | undefined) => void;
}

export type InformerClient = Pick<ApiClient, "call" | "watch">;

/** What happened to one watch request, for checkers. */
export interface WatchRecord {
  readonly fromVersion: string;
  readonly startedMicros: Micros;
  /** `asked` until the server answers. `gone` is 410, as a response or as an event. */
  outcome: "asked" | "served" | "gone" | "refused" | "lost";
  /** When the outcome was known. */
  outcomeMicros: Micros;
  /** In order of arrival, bookmarks included. */
  readonly events: { readonly type: string; readonly version: string }[];
}

const retryMicrosMin: Micros = 1_000_000;
const retryMicrosMax: Micros = 2_000_000;
const silenceMicros: Micros = 5_000_000;

export class Informer {
  readonly watches: WatchRecord[] = [];
  /** Copies by namespace and name. */
  readonly objects = new Map<string, JsonObject>();
  listCount = 0;
  /** It has had a whole state, and follows it. */
  synced = false;
  private readonly process: Process;
  private readonly client: InformerClient;
  private readonly options: InformerOptions;
  private version = "";
  private cancelWatch: Cancel = () => {};
  private cancelSilence: Cancel = () => {};

  constructor(process: Process, client: InformerClient, options: InformerOptions) {
    this.process = process;
    this.client = client;
    this.options = options;
  }

  get path(): string {
    return this.options.path;
  }

  start(): void {
    if (this.options.begin === "watch") this.follow();
    else this.list();
  }

  private list(): void {
    const { path, deadlineMicros = 30_000_000 } = this.options;
    const query = this.selecting().join("&");
    this.client.call({ method: "GET", path, query }, deadlineMicros, (answer) => {
      if (!answer.ok || answer.status !== 200) {
        this.process.trace("informer.list-failed", answer.ok ? answer.status : answer.failure);
        this.retry(() => this.list());
        return;
      }
      this.listCount++;
      this.replace((answer.object["items"] ?? []) as readonly JsonObject[]);
      this.version = versionOf(answer.object);
      this.synced = true;
      this.process.trace("informer.listed", this.objects.size, this.version);
      this.follow();
    });
  }

  private selecting(): readonly string[] {
    const { fieldSelector } = this.options;
    return fieldSelector === undefined ? [] : [`fieldSelector=${encodeURIComponent(fieldSelector)}`];
  }

  private replace(items: readonly JsonObject[]): void {
    const listed = new Set(items.map(keyOf));
    for (const [key, before] of [...this.objects]) {
      if (listed.has(key)) continue;
      this.objects.delete(key);
      this.options.onChange?.(key, before, undefined);
    }
    for (const item of items) this.keep(item);
  }

  /** Handlers hear of what has changed. */
  private keep(object: JsonObject): void {
    const key = keyOf(object);
    const before = this.objects.get(key);
    this.objects.set(key, object);
    if (before === undefined || versionOf(before) !== versionOf(object)) this.options.onChange?.(key, before, object);
  }

  private follow(): void {
    const now = this.process.clock.nowMicros();
    const { path, timeoutMicros } = this.options;
    // Without a version the state comes first, and replaces what was there.
    if (this.version === "") this.replace([]);
    const record: WatchRecord = {
      fromVersion: this.version === "" ? "0" : this.version,
      startedMicros: now,
      outcome: "asked",
      outcomeMicros: now,
      events: [],
    };
    this.watches.push(record);
    const version = this.version === "" ? "" : `&resourceVersion=${encodeURIComponent(this.version)}`;
    const timeout = timeoutMicros === undefined ? "" : `&timeoutSeconds=${Math.ceil(timeoutMicros / 1_000_000)}`;
    const selector = this.selecting().map((part) => `&${part}`);
    const query = `watch=true&allowWatchBookmarks=true${version}${timeout}${selector.join("")}`;
    const cancel = this.client.watch(
      { method: "GET", path, query },
      {
        opened: () => this.learn(record, "served"),
        event: (type, object) => this.apply(record, type, object),
        refused: (status) => {
          this.cancelSilence();
          this.learn(record, status === 410 ? "gone" : "refused");
          if (status === 410) this.list();
          else this.retry(() => this.follow());
        },
        ended: (failure) => {
          this.cancelSilence();
          if (failure !== undefined && record.outcome === "asked") this.learn(record, "lost");
          this.process.trace("informer.watch-ended", failure ?? "closed");
          this.resume(failure !== undefined);
        },
      },
    );
    this.cancelWatch = cancel;
    this.listenForSilence();
  }

  private resume(isBroken: boolean): void {
    if (isBroken) this.retry(() => this.follow());
    else this.follow();
  }

  private listenForSilence(): void {
    const { timeoutMicros } = this.options;
    if (timeoutMicros === undefined) return;
    this.cancelSilence();
    this.cancelSilence = this.process.clock.after(timeoutMicros + silenceMicros, () => {
      this.process.trace("informer.silence");
      this.cancelWatch();
      this.follow();
    });
  }

  private apply(record: WatchRecord, type: string, object: JsonObject): void {
    this.listenForSilence();
    if (type === "ERROR") {
      const isGone = object["code"] === 410;
      this.learn(record, isGone ? "gone" : "refused");
      this.cancelWatch();
      this.cancelSilence();
      if (isGone) this.list();
      else this.retry(() => this.follow());
      return;
    }
    const version = versionOf(object);
    record.events.push({ type, version });
    this.process.trace("informer.event", type, type === "BOOKMARK" ? "" : keyOf(object), version);
    if (type === "DELETED") {
      this.objects.delete(keyOf(object));
      this.options.onChange?.(keyOf(object), object, undefined);
    } else if (type !== "BOOKMARK") this.keep(object);
    this.advance(record, type, version);
  }

  /**
   * From where to go on. The first events of a watch without a version are the state, in no order of versions: nobody
   * may resume among them, so until something else has come there is no version.
   */
  private advance(record: WatchRecord, type: string, version: string): void {
    const isState = record.fromVersion === "0" && type === "ADDED" && this.version === "";
    if (isState) return;
    this.version = version;
    this.synced = true;
  }

  private learn(record: WatchRecord, outcome: WatchRecord["outcome"]): void {
    record.outcome = outcome;
    record.outcomeMicros = this.process.clock.nowMicros();
    if (outcome === "served" && record.fromVersion === "0") this.synced = true;
    this.process.trace("informer.watch", outcome, record.fromVersion);
  }

  private retry(again: () => void): void {
    this.process.clock.after(this.process.prng.intInclusive(retryMicrosMin, retryMicrosMax), again);
  }
}

export function keyOf(object: JsonObject): string {
  const { namespace = "", name = "" } = metadataOf(object);
  return `${namespace}/${name}`;
}

export function versionOf(object: JsonObject): string {
  return metadataOf(object).resourceVersion ?? "";
}

function metadataOf(object: JsonObject): {
  readonly namespace?: string;
  readonly name?: string;
  readonly resourceVersion?: string;
} {
  return (object["metadata"] ?? {}) as ReturnType<typeof metadataOf>;
}
