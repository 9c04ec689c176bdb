/**
 * Follows a collection: a list, then the watch after it, and a new list when history has been lost. Nothing is kept of the
 * objects but their last version. Who follows has habits: how it lists, how long its watches last, when it tries again.
 * Source: client-go, tools/cache/reflector.go.
 */
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";

export interface CollectionHearer {
  /** All that there is. What was there before and is not among it has gone. */
  replaced(objects: readonly JsonObject[]): void;
  /** Created or changed. */
  changed(object: JsonObject): void;
  /** Deleted; as it last was. */
  gone(object: JsonObject): void;
}

export interface WatchHearer {
  event(type: string, object: JsonObject): void;
  /** The server answered something else than a stream. */
  refused(status: number): void;
  /** The stream is over. Nothing follows. */
  ended(): void;
}

/** Whom a reflector asks. Nothing is heard after a cancel, nor when the process has died. */
export interface ReflectorClient {
  readonly process: Process;
  /** Status 0: the connection broke, or nothing came in time. */
  call(
    request: { readonly method: "GET"; readonly path: string; readonly query?: string },
    done: (answer: { readonly status: number; readonly object: JsonObject | undefined }) => void,
  ): unknown;
  watch(path: string, query: string, hearer: WatchHearer): Cancel;
}

/** Why a reflector begins again: a list or a watch was refused, its version is no longer known, or its watch ended. */
export type Interruption = "list-refused" | "watch-refused" | "expired" | "ended";

export interface ReflectorHabits {
  /** Of every request, such as `fieldSelector=spec.nodeName%3Da`; or empty. */
  readonly selector: string;
  /** Query of a list. `isNewest`: nothing but the newest state will do, since an older one was too old. */
  readonly listQuery: (isNewest: boolean) => string;
  /** Query of a watch, without its version. Asked for each one. */
  readonly watchQuery: () => string;
  /** After a refusal of its watch that is no 410: a list, or the watch again. */
  readonly afterRefusal: "list" | "watch";
  /** How long until it tries again; `isTrusted`: the watch had lasted a second. */
  readonly pauseMicros: (why: Interruption, isTrusted: boolean) => Micros;
}

/** A watch that is over sooner has not worked, whatever it told: it may be the next one's whole story, too. */
const workingMicrosMin: Micros = 1_000_000;

export class Reflector {
  private readonly client: ReflectorClient;
  private readonly path: string;
  private readonly hearer: CollectionHearer;
  private readonly habits: ReflectorHabits;
  /** Of the newest list or event that was heard. */
  private version = "";
  /** Counts beginnings: what an earlier one still hears is not for this one. */
  private beginning = 0;
  private cancelStream: Cancel = () => {};

  constructor(client: ReflectorClient, path: string, hearer: CollectionHearer, habits: ReflectorHabits) {
    this.client = client;
    this.path = path;
    this.hearer = hearer;
    this.habits = habits;
  }

  /** Lists anew where it has begun before. */
  start(): void {
    this.stop();
    this.list(false);
  }

  stop(): void {
    this.beginning++;
    this.cancelStream();
    this.cancelStream = () => {};
  }

  private list(isNewest: boolean): void {
    this.page(this.query(this.habits.listQuery(isNewest)), []);
  }

  /** `before`: what earlier pages had. Each page is added to it, so that a long list costs no more by the page. */
  private page(query: string, before: JsonObject[]): void {
    const { beginning } = this;
    this.client.call({ method: "GET", path: this.path, ...(query === "" ? {} : { query }) }, ({ status, object }) => {
      if (beginning !== this.beginning) return;
      if (status !== 200 || object === undefined) {
        this.again("list-refused", false, () => this.list(status === 410));
        return;
      }
      const metadata = (object["metadata"] ?? {}) as { readonly resourceVersion?: string; readonly continue?: string };
      const items = (object["items"] ?? []) as readonly JsonObject[]; // null items are none
      for (const item of items) before.push(item);
      if (metadata.continue !== undefined && metadata.continue !== "") {
        this.page(nextPage(query, metadata.continue), before);
        return;
      }
      this.version = metadata.resourceVersion ?? "";
      this.hearer.replaced(before);
      if (beginning === this.beginning) this.watch();
    });
  }

  private watch(): void {
    const { beginning } = this;
    const { clock } = this.client.process;
    const version = encodeURIComponent(this.version);
    const query = this.query(`${this.habits.watchQuery()}&resourceVersion=${version}`);
    const openedMicros = clock.nowMicros();
    let isExpired = false;
    const cancel = this.client.watch(this.path, query, {
      event: (type, object) => {
        if (beginning !== this.beginning) return;
        if (type === "ERROR") isExpired = true;
        else this.hear(type, object);
      },
      refused: (status) => {
        if (beginning !== this.beginning) return;
        if (status === 410) this.again("expired", false, () => this.list(true));
        else this.again("watch-refused", false, () => this.afterRefusal());
      },
      ended: () => {
        if (beginning !== this.beginning) return;
        const isTrusted = clock.nowMicros() - openedMicros >= workingMicrosMin;
        if (isExpired) this.again("expired", isTrusted, () => this.list(true));
        else this.again("ended", isTrusted, () => this.watch());
      },
    });
    if (beginning === this.beginning) this.cancelStream = cancel;
  }

  private afterRefusal(): void {
    if (this.habits.afterRefusal === "watch") this.watch();
    else this.list(false);
  }

  private hear(type: string, object: JsonObject): void {
    this.version = metadataOf(object).resourceVersion ?? this.version;
    if (type === "BOOKMARK") return;
    if (type === "DELETED") this.hearer.gone(object);
    else this.hearer.changed(object);
  }

  /** By an event of its own, be it in this very instant: not within the one that ended a watch. */
  private again(why: Interruption, isTrusted: boolean, act: () => void): void {
    const { beginning } = this;
    this.client.process.clock.after(this.habits.pauseMicros(why, isTrusted), () => {
      if (beginning === this.beginning) act();
    });
  }

  private query(own: string): string {
    const { selector } = this.habits;
    return selector === "" || own === "" ? selector + own : `${selector}&${own}`;
  }
}

/** A page after the first has the version of the first. */
const nextPage = (query: string, token: string): string =>
  `${query.replace(/&?(resourceVersion|continue)=[^&]*/g, "")}&continue=${encodeURIComponent(token)}`;
