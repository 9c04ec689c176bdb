/** What every watch is like, event by event. */
import { type ApiObject, isApiObject, isJsonObject, type WatchEvent } from "../../client/types.ts";
import type { Asked } from "./asked.ts";
import { type Breach, breach } from "./breach.ts";
import { judgeStatus } from "./error-law.ts";
import { simpleSelectors } from "./list-law.ts";
import { judgeObject } from "./object-law.ts";

/** One stream, from its first event on. */
export class StreamJudge {
  private readonly asked: Asked;
  private readonly living = new Map<string, boolean>();
  private readonly told = new Set<string>();
  hasFailed = false;

  constructor(asked: Asked) {
    this.asked = asked;
  }

  judge(event: WatchEvent): Breach | undefined {
    const { type, object } = event;
    const shown = (): string => `${type} ${JSON.stringify(object).slice(0, 300)}`; // most events are in order
    if (this.hasFailed) return breach("errors.stream", "nothing after the error of the stream", shown());
    switch (type) {
      case "ERROR": {
        this.hasFailed = true;
        const wrong = judgeStatus(object, undefined);
        return wrong === undefined ? undefined : { ...wrong, requirement: "errors.stream" };
      }
      case "BOOKMARK":
        return this.judgeBookmark(object, shown);
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        if (this.asked.isOtherShape) return undefined;
        if (!isApiObject(object)) return breach("watch.stream", "an object with a name", shown());
        return this.judgeChange(type, object, shown);
      default:
        return breach("watch.stream", "ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", shown());
    }
  }

  private judgeBookmark(object: WatchEvent["object"], shown: () => string): Breach | undefined {
    if (!isTrue(this.asked.query.get("allowWatchBookmarks")))
      return breach("bookmarks.asked", "no bookmark that was not asked for", shown());
    const { kind, apiVersion, metadata } = object;
    const version = isJsonObject(metadata) ? metadata["resourceVersion"] : undefined;
    if (typeof version !== "string" || version === "" || version === "0")
      return breach("bookmarks.version", "a version to go on from", shown());
    if (this.asked.isOtherShape) return undefined;
    const isOfType = apiVersion === this.asked.groupVersion && typeof kind === "string" && kind !== "";
    return isOfType
      ? undefined
      : breach("watch.stream", `a bookmark of ${this.asked.groupVersion} with a kind`, shown());
  }

  private judgeChange(type: string, object: ApiObject, shown: () => string): Breach | undefined {
    const { kind, apiVersion, metadata } = object;
    if (apiVersion !== this.asked.groupVersion || typeof kind !== "string" || kind === "") {
      return breach("watch.stream", `an object of ${this.asked.groupVersion} with a kind`, shown());
    }
    const wrong = judgeObject(this.asked, object);
    if (wrong !== undefined)
      return wrong.requirement === "lists.scope" ? { ...wrong, requirement: "watch.filtered" } : wrong;
    const uid = metadata.uid ?? "";
    const change = `${uid} ${metadata.resourceVersion}`;
    if (this.told.has(change)) return breach("watch.unique", "each change once", shown());
    this.told.add(change);
    const isThere = this.living.get(uid);
    if (type === "ADDED" && isThere === true)
      return breach("watch.types", "MODIFIED for what was ADDED before", shown());
    if (type !== "ADDED" && isThere === false)
      return breach("watch.types", "ADDED for what was DELETED before", shown());
    this.living.set(uid, type !== "DELETED");
    if (type === "DELETED") return undefined;
    for (const [what, matches] of simpleSelectors(this.asked.query)) {
      if (!matches(object)) return breach("watch.filtered", `only objects that match ${what}`, shown());
    }
    return undefined;
  }
}

const isTrue = (value: string | null): boolean => value !== null && value !== "0" && value !== "false";
