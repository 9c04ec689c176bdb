/** Whether a run keeps within an objective, and by how much. */
import type { ObjectiveResult } from "../../reports/schema/capacity-report.ts";
import type { FigureName, Objective, RequestFilter } from "../../scenarios/capacity/schema.ts";
import type { Micros } from "../kernel/types.ts";
import type { Meter } from "./meter.ts";
import type { PodWitness } from "./pod-witness.ts";
import type { QuotaStore } from "./quota-store.ts";
import type { ServiceTimes } from "./service-times.ts";

export interface Judged {
  readonly meter: Meter;
  readonly store: QuotaStore;
  readonly pods: PodWitness;
  readonly times: ServiceTimes | undefined;
  /** Measured so far. */
  readonly virtualMicros: Micros;
  readonly cores: number;
}

export function judgeObjective(objective: Objective, judged: Judged): ObjectiveResult {
  if ("sli" in objective) return judgeSli(objective, judged);
  if ("figure" in objective) {
    const value = figures[objective.figure](judged);
    return {
      text: `${objective.figure} ≤ ${objective.max}`,
      value,
      limit: objective.max,
      unit: "count",
      met: value <= objective.max,
    };
  }
  const { requests, max, each } = objective;
  const value = each === "run" ? judged.meter.count(takes(requests)) : judged.meter.mostInASecond(takes(requests));
  const text = `${filterText(requests)}${each === "second" ? " in any second" : ""} ≤ ${max}`;
  return { text, value, limit: max, unit: "count", met: value <= max };
}

const sliTexts = {
  mutating: "writes of one object",
  get: "reads of one object",
  list: "lists",
  podStartup: "pod start-up",
  watchDelivery: "watch delivery",
} as const;

function judgeSli(
  { sli, percentile, max }: Extract<Objective, { readonly sli: string }>,
  { meter, pods }: Judged,
): ObjectiveResult {
  const text = `${sliTexts[sli]}: p${percentile} ≤ ${micros(max)}`;
  const series =
    sli === "podStartup"
      ? [{ name: "pods", micros: pods.startupMicros }]
      : sli === "watchDelivery"
        ? [{ name: "watches", micros: meter.watchDelivery }]
        : meter.seriesOf(sli);
  let worst: { readonly name: string; readonly value: number } | undefined;
  for (const { name, micros: histogram } of series) {
    const value = histogram.percentile(percentile);
    if (value !== undefined && value > (worst?.value ?? -1)) worst = { name, value };
  }
  const found = worst === undefined ? {} : { value: worst.value, worst: worst.name };
  return { text, ...found, limit: max, unit: "micros", met: worst === undefined || worst.value <= max };
}

const micros = (value: Micros): string => (value % 1_000_000 === 0 ? `${value / 1_000_000} s` : `${value / 1000} ms`);

const figures: Readonly<Record<FigureName, (judged: Judged) => number>> = {
  storeBytes: ({ store }) => store.bytesMost,
  storeObjects: ({ store }) => store.objectCount,
  requests: ({ meter }) => meter.count(() => true),
  refused: ({ meter }) => meter.count(({ code, resource }) => code === 429 && !resource.endsWith("/eviction")),
  relists: ({ meter }) => meter.relists,
  unschedulable: ({ pods }) => pods.unscheduledCount,
  podsNotReady: ({ pods }) => pods.notReadyCount,
  processorPercent: ({ meter, virtualMicros, cores }) =>
    Math.round((100 * meter.busyMicros()) / (virtualMicros * cores)),
  evictions: ({ pods }) => pods.evicted,
};

/** Which requests a filter takes. */
function takes({ who, verb, resource, scope, code }: RequestFilter) {
  const isWho = (name: string): boolean =>
    who === undefined || (who.endsWith("*") ? name.startsWith(who.slice(0, -1)) : name === who);
  const isCode = (found: number): boolean =>
    code === undefined || (typeof code === "number" ? found === code : Math.floor(found / 100) === Number(code[0]));
  return (row: {
    readonly who: string;
    readonly verb: string;
    readonly resource: string;
    readonly scope: string;
    readonly code: number;
  }): boolean =>
    isWho(row.who) &&
    (verb === undefined || row.verb === verb) &&
    (resource === undefined || row.resource === resource) &&
    (scope === undefined || row.scope === scope) &&
    isCode(row.code);
}

function filterText(filter: RequestFilter): string {
  const { who, verb, resource, scope, code } = filter;
  const words = [
    who,
    verb,
    resource,
    scope === undefined ? undefined : `(${scope})`,
    code === undefined ? undefined : String(code),
  ];
  return `requests ${words.filter((word) => word !== undefined).join(" ")}`.trimEnd();
}
