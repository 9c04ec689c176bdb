/** Planted bugs of what a watch tells: each makes of an event what its reader hears, or nothing. */
import type { WatchPlan } from "../../apiserver/reads/watch-plan.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { withResourceVersion } from "../../objects/system-fields.ts";
import { around, type Told } from "./watch-parts.ts";

/** For one watch; undefined where the bug does not concern it. */
type Telling = (plan: WatchPlan) => ((told: Told) => Told | undefined) | undefined;

export const tellings = {
  "watch-selector-exit-missing": (plan) => (told) => (isExit(plan, told) ? undefined : told),
  "watch-leave-selector-old-rv": (plan) => (told) => (isExit(plan, told) ? asBefore(plan, told) : told),
  "watch-deleted-event-old-rv": (plan) => (told) =>
    told.type === "DELETED" && !isExit(plan, told) ? asBefore(plan, told) : told,
  "uncached-deletions-untold": ({ source, selection }) =>
    source.cached || selection.matches === undefined
      ? undefined
      : (told) => (told.type === "DELETED" ? undefined : told),
  "initial-events-omit-going": () => (told) =>
    told.isInitial && metadataOf(told.object).deletionTimestamp !== undefined ? undefined : told,
  "status-changes-untold": (plan) => (told) => (isOfStatusAlone(plan, told) ? undefined : told),
  "field-selector-enters-as-modified": (plan) =>
    plan.request.options.fieldSelector.empty
      ? undefined
      : (told) => (isEntry(plan, told) ? { ...told, type: "MODIFIED" } : told),
  "watch-name-selector-crosses-namespaces"({ target, request, selection }) {
    const isOfAll = !target.namespaced || request.namespace === "";
    if (!isOfAll || selection.trigger?.field !== "metadata.name") return undefined;
    /** Whose object a name was first seen on. */
    const namespaces = new Map<string, string>();
    return (told) => {
      if (!isOfObject(told)) return told;
      const { namespace = "", name = "" } = metadataOf(told.object);
      const known = namespaces.get(name);
      if (known !== undefined && known !== namespace) return undefined;
      if (told.type === "DELETED") namespaces.delete(name);
      else namespaces.set(name, namespace);
      return told;
    };
  },
  "bookmark-rv-zero": () => (told) => (told.type === "BOOKMARK" ? atVersion(told, "0") : told),
  "bookmark-below-requested-rv"({ version, source, request }) {
    const isAfter = version > 0 && request.options.sendInitialEvents !== true;
    const below = String(Math.max(1, (isAfter ? version : source.applied) - 1));
    return (told) => (told.type === "BOOKMARK" ? atVersion(told, below) : told);
  },
  "initial-events-end-missing": (plan) => (told) => (isInitialEnd(plan, told) ? undefined : told),
} as const satisfies Record<string, Telling>;

const isOfObject = ({ type }: Told): boolean => type !== "BOOKMARK" && type !== "ERROR";

/** An object that is there still, and is not selected any more. */
const isExit = (plan: WatchPlan, { type, object }: Told): boolean =>
  type === "DELETED" && around(plan, object).now !== undefined;

/** An object that was there before, and was not selected. */
const isEntry = (plan: WatchPlan, { type, object, isInitial }: Told): boolean =>
  type === "ADDED" && !isInitial && around(plan, object).before !== undefined;

/** The last state at the version that it had. */
const asBefore = (plan: WatchPlan, told: Told): Told => ({
  ...told,
  object: around(plan, told.object).before ?? told.object,
});

const atVersion = (told: Told, version: string): Told => ({
  ...told,
  object: withResourceVersion(told.object, version),
});

export const isInitialEnd = ({ context }: WatchPlan, { type, object }: Told): boolean =>
  type === "BOOKMARK" && metadataOf(object).annotations?.[context.profile.dialect.initialEventsEnd] !== undefined;

function isOfStatusAlone(plan: WatchPlan, { type, object }: Told): boolean {
  const before = type === "MODIFIED" ? around(plan, object).before : undefined;
  if (before === undefined) return false;
  const rest = (of: JsonObject): string => {
    const { status: _status, metadata: _metadata, ...others } = of;
    const { resourceVersion: _version, managedFields: _managed, ...metadata } = metadataOf(of);
    return JSON.stringify([others, metadata]);
  };
  return object["status"] !== undefined && rest(object) === rest(before);
}
