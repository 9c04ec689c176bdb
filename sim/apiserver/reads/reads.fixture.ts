/** A store, front-ends and a clock, for tests and benchmarks of the reads: requests by their query, answers as values. */
import { findResource } from "../../../wire/resources.ts";
import type { ServerBugName } from "../../planted/server-bugs.ts";
import { plantedOf } from "../../planted/wrappers/planted.ts";
import { readSeams } from "../../planted/wrappers/reads.ts";
import { Kernel } from "../../kernel/kernel.ts";
import type { Cancel } from "../../kernel/types.ts";
import { RevisionStore } from "../../store/revision-store.ts";
import type { KeyValue } from "../../store/types.ts";
import { FrontEnd, type FrontEndOptions } from "../cache/front-end.ts";
import { ApiError } from "../../contract/errors.ts";
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import { parseQuery } from "../requests/url.ts";
import { type Profile, svcProfile } from "../../contract/profile.ts";
import { startGet } from "./get.ts";
import { startList } from "./list.ts";
import { ListCounts } from "./list-counts.ts";
import { parseListOptions } from "./options.ts";
import { unreadableOf } from "../../contract/unreadable.ts";
import { readTargetOf } from "./read-target.ts";
import type { ListResult, ReadContext, ReadTarget, WatchEncoder, WatchRequest, WatchSink } from "./types.ts";
import type { ReadSeams } from "./seams.ts";
import { startWatch } from "./watch.ts";

export interface TestbedOptions extends Partial<Pick<FrontEndOptions, "lagMicros" | "historyWindowMicros">> {
  readonly profile?: Profile;
  readonly bugs?: readonly ServerBugName[];
  /** Shared with another bed: a second front-end on one store. */
  readonly beside?: Testbed;
}

/** What a watch has sent so far. */
export interface WatchLog {
  readonly events: { readonly type: string; readonly object: JsonObject }[];
  /** `waiting` before anything, then `open`, then `closed` or `failed`. */
  state: "waiting" | "open" | "closed" | "failed";
  error: ApiError | undefined;
  readonly cancel: Cancel;
  /** `ADDED a 5` for each event. */
  readonly lines: readonly string[];
}

export class Testbed {
  readonly kernel: Kernel;
  readonly store: RevisionStore;
  readonly context: ReadContext;
  private readonly profile: Profile;
  private readonly seams: ReadSeams | undefined;

  constructor(options: TestbedOptions = {}) {
    const { beside, profile = svcProfile, bugs = [], ...frontEndOptions } = options;
    this.profile = profile;
    this.kernel = beside?.kernel ?? new Kernel({ seed: "reads" });
    this.store = beside?.store ?? new RevisionStore();
    const process = this.kernel.process(beside === undefined ? "apiserver" : "apiserver-2");
    this.seams = readSeams(plantedOf(bugs), process, this.store);
    const unreadable = unreadableOf(this.store);
    const frontEnd = new FrontEnd({ store: this.store, process, profile, ...frontEndOptions });
    this.context = {
      profile,
      store: this.store,
      unreadable,
      frontEnd,
      process,
      listCounts: new ListCounts(),
    };
  }

  target(resource = "configmaps", group = ""): ReadTarget {
    const row = findResource(group, "v1", resource);
    if (row === undefined) throw new Error(`no resource ${group}/${resource}`);
    return readTargetOf(row, this.profile);
  }

  /** Creates or replaces. `path` is `namespace/name`, or `name`. Returns the new revision. */
  put(path: string, content: JsonObject = {}, target = this.target()): number {
    const key = target.prefix + path;
    const [namespace, name] = split(path);
    const { metadata = {}, ...rest } = content;
    const held = this.store.get(key) as KeyValue | undefined;
    const written = this.store.put(key, held?.modRevision ?? 0, (revision) => ({
      ...rest,
      metadata: {
        name,
        ...(namespace === "" ? {} : { namespace }),
        ...(metadata as JsonObject),
        resourceVersion: String(revision),
      },
    }));
    return written as number;
  }

  /** With labels. */
  label(path: string, labels: Readonly<Record<string, string>>, target = this.target()): number {
    return this.put(path, { metadata: { labels } }, target);
  }

  /** Returns the revision of the deletion; undefined when there was nothing. */
  remove(path: string, target = this.target()): number | undefined {
    const key = target.prefix + path;
    return this.store.delete(key, (this.store.get(key) as KeyValue | undefined)?.modRevision ?? 0);
  }

  /** Lets time pass. */
  pass(micros: number): void {
    this.kernel.run(this.kernel.nowMicros() + micros);
  }

  /** The answer, or undefined while it is waited for; `later` hears of a late one. */
  get(
    path: string,
    resourceVersion = "",
    target = this.target(),
    later: Answer<JsonObject> = () => {},
  ): JsonObject | ApiError | undefined {
    const [namespace, name] = split(path);
    let answer: JsonObject | ApiError | undefined;
    const give: Answer<JsonObject> = (got) => {
      answer = got;
      later(got);
    };
    startGet(this.context, target, { namespace, name, resourceVersion }, { found: give, failed: give });
    return answer;
  }

  list(
    query = "",
    namespace = "",
    target = this.target(),
    later: Answer<ListResult> = () => {},
  ): ListResult | ApiError | undefined {
    let answer: ListResult | ApiError | undefined;
    const give: Answer<ListResult> = (got) => {
      answer = got;
      later(got);
    };
    try {
      const options = parseListOptions(parseQuery(query), this.profile);
      startList(this.context, target, { namespace, options }, { listed: give, failed: give }, this.seams);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      give(error);
    }
    return answer;
  }

  /** A list that must succeed at once. */
  listed(query = "", namespace = "", target = this.target()): ListResult {
    const answer = this.list(query, namespace, target);
    if (answer === undefined || answer instanceof ApiError) throw answer ?? new Error("the list waits");
    return answer;
  }

  /** All pages of a list, from the first. */
  pages(query: string, namespace = "", target = this.target()): ListResult[] {
    const pages = [this.listed(query, namespace, target)];
    const limit = /limit=\d+/.exec(query)?.[0] ?? "";
    const selectors = /(?:labelSelector|fieldSelector)=[^&]*/.exec(query)?.[0] ?? "";
    for (let token = pages[0]?.continue; token !== undefined && token !== ""; token = pages.at(-1)?.continue) {
      if (pages.length > 10_000) throw new Error("the pages have no end");
      pages.push(this.listed(`${limit}&${selectors}&continue=${token}`, namespace, target));
    }
    return pages;
  }

  watch(query = "", namespace = "", target = this.target(), encoder: WatchEncoder = plainEncoder): WatchLog {
    let cancel: Cancel = () => {};
    const log: WatchLog = {
      events: [],
      state: "waiting",
      error: undefined,
      cancel: () => cancel(),
      get lines() {
        return this.events.map(({ type, object }) => line(type, object));
      },
    };
    const sink = {
      open: (): void => void (log.state = "open"),
      event: (payload: Payload): number => {
        log.events.push(payload.object as unknown as WatchLog["events"][number]);
        return 0;
      },
      close: (): void => void (log.state = "closed"),
      failed: (error: ApiError): void => {
        log.state = "failed";
        log.error = error;
      },
    };
    try {
      const options = parseListOptions(parseQuery(query), this.profile, true);
      cancel = startWatch(this.context, target, { namespace, options, encoder }, sink, this.seams);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      sink.failed(error);
    }
    return log;
  }

  /** A watch of configmaps everywhere that answers into the caller's own sink. */
  watchWith(query: string, how: Omit<WatchRequest, "namespace" | "options"> & { readonly sink: WatchSink }): Cancel {
    const { sink, ...request } = how;
    const options = parseListOptions(parseQuery(query), this.profile, true);
    return startWatch(this.context, this.target(), { namespace: "", options, ...request }, sink, this.seams);
  }
}

type Answer<Result> = (got: Result | ApiError) => void;

/** Names of a list's items, with their namespaces. */
export function namesOf(result: ListResult | ApiError | undefined): readonly string[] {
  if (result === undefined || result instanceof ApiError) throw result ?? new Error("the list waits");
  return (result.items ?? []).map(pathOf);
}

/** `namespace/name`, or `name`. */
export function pathOf(object: JsonObject): string {
  const { namespace, name } = object["metadata"] as { readonly namespace?: string; readonly name: string };
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function versionOf(object: JsonObject): number {
  return Number((object["metadata"] as JsonObject)["resourceVersion"]);
}

export const plainEncoder: WatchEncoder = {
  event: (type, object) => ({
    object: { type, object },
    contentType: "application/json",
    bytes: () => new Uint8Array(),
  }),
};

function line(type: string, object: JsonObject): string {
  if (type === "ERROR") return `ERROR ${String(object["code"])}`;
  return type === "BOOKMARK" ? `BOOKMARK ${versionOf(object)}` : `${type} ${pathOf(object)} ${versionOf(object)}`;
}

function split(path: string): readonly [namespace: string, name: string] {
  const slash = path.indexOf("/");
  return slash < 0 ? ["", path] : [path.slice(0, slash), path.slice(slash + 1)];
}

/** A profile with streaming lists. */
export const withWatchList = (profile: Profile): Profile => ({
  ...profile,
  featureGates: { ...profile.featureGates, WatchList: true },
});

/** `n/a` with app=x at 2 and `n/b` with app=y at 3. */
export function labelledBed(options: TestbedOptions = {}): Testbed {
  const bed = new Testbed(options);
  bed.label("n/a", { app: "x" });
  bed.label("n/b", { app: "y" });
  return bed;
}
