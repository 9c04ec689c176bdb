/**
 * Keeps a copy of a collection: lists it, then follows its watch; on 410 it lists again, on anything else it
 * resumes from the last version that it has seen.
 * Source: client-go, tools/cache/reflector.go (ListAndWatch).
 *
 * Simplification: the real one backs off from 800 ms to 30 s with jitter and asks for watches of 5 to 10 minutes;
 * this one waits between one and two seconds, and lets the server choose the length.
 */
import type { JsonObject } from "../contract/http-message.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import type { ApiClient } from "./api-client.ts";

export interface InformerOptions {
  /** Path of the collection. */
  readonly path: string;
  /** For a list. Default 30 seconds, more than 0. */
  readonly deadlineMicros?: Micros;
}

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

export class Informer {
  readonly watches: WatchRecord[] = [];
  /** Copies by namespace and name. */
  readonly objects = new Map<string, JsonObject>();
  listCount = 0;
  private readonly process: Process;
  private readonly client: ApiClient;
  private readonly options: InformerOptions;
  private version = "";
  private cancelWatch: Cancel = () => {};

  constructor(process: Process, client: ApiClient, options: InformerOptions) {
    this.process = process;
    this.client = client;
    this.options = options;
  }

  get path(): string {
    return this.options.path;
  }

  start(): void {
    this.list();
  }

  private list(): void {
    const { path, deadlineMicros = 30_000_000 } = this.options;
    this.client.call({ method: "GET", path }, deadlineMicros, (answer) => {
      if (!answer.ok || answer.status !== 200) {
        this.process.trace("informer.list-failed", answer.ok ? answer.status : answer.failure);
        this.retry(() => this.list());
        return;
      }
      this.listCount++;
      this.objects.clear();
      for (const item of (answer.object["items"] ?? []) as readonly JsonObject[]) this.objects.set(keyOf(item), item);
      this.version = versionOf(answer.object);
      this.process.trace("informer.listed", this.objects.size, this.version);
      this.follow();
    });
  }

  private follow(): void {
    const now = this.process.clock.nowMicros();
    const record: WatchRecord = {
      fromVersion: this.version,
      startedMicros: now,
      outcome: "asked",
      outcomeMicros: now,
      events: [],
    };
    this.watches.push(record);
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(this.version)}`;
    this.cancelWatch = this.client.watch(
      { method: "GET", path: this.options.path, query },
      {
        opened: () => this.learn(record, "served"),
        event: (type, object) => this.apply(record, type, object),
        refused: (status) => {
          this.learn(record, status === 410 ? "gone" : "refused");
          if (status === 410) this.list();
          else this.retry(() => this.follow());
        },
        ended: (failure) => {
          if (failure !== undefined && record.outcome === "asked") this.learn(record, "lost");
          this.process.trace("informer.watch-ended", failure ?? "closed");
          if (failure === undefined) this.follow();
          else this.retry(() => this.follow());
        },
      },
    );
  }

  private apply(record: WatchRecord, type: string, object: JsonObject): void {
    if (type === "ERROR") {
      const isGone = object["code"] === 410;
      this.learn(record, isGone ? "gone" : "refused");
      this.cancelWatch();
      if (isGone) this.list();
      else this.retry(() => this.follow());
      return;
    }
    this.version = versionOf(object);
    record.events.push({ type, version: this.version });
    this.process.trace("informer.event", type, type === "BOOKMARK" ? "" : keyOf(object), this.version);
    if (type === "DELETED") this.objects.delete(keyOf(object));
    else if (type !== "BOOKMARK") this.objects.set(keyOf(object), object);
  }

  private learn(record: WatchRecord, outcome: WatchRecord["outcome"]): void {
    record.outcome = outcome;
    record.outcomeMicros = this.process.clock.nowMicros();
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
