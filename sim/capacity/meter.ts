/**
 * Counts what a server is asked, by whom, and what it answers; and how long it took by the latency model. Only what happens
 * between `begin` and the end of the run.
 */
import { LatencyHistogram } from "../../reports/capacity/latency-histogram.ts";
import type { CapacityRun, SliName } from "../../reports/schema/capacity-report.ts";
import type { RequestMeter } from "../apiserver/requests/request-meter.ts";
import type { Run } from "../apiserver/requests/run.ts";
import type { Payload } from "../contract/http-message.ts";
import type { Clock, Micros } from "../kernel/types.ts";
import type { ServiceTimes } from "./service-times.ts";
import { jsonSize, sizeOf } from "./sizes.ts";

/** Parts of a measurement for which percentiles are shown. */
const partCount = 60;

type Row<Table extends keyof CapacityRun> = CapacityRun[Table] extends readonly (infer Item)[]
  ? { -readonly [Key in keyof Item]: Item[Key] }
  : never;

export class Meter implements RequestMeter {
  readonly watchDelivery = new LatencyHistogram();
  readonly seatWaits = new LatencyHistogram();
  private readonly clock: Clock;
  private readonly times: () => ServiceTimes | undefined;
  private readonly partMicros: Micros;
  private beganMicros: Micros = Infinity;
  /** Events and answers that sent a client back to a list. */
  relists = 0;
  private readonly requests = new Map<string, { readonly row: Row<"requests">; readonly seconds: number[] }>();
  private readonly byVerb = new Map<string, Row<"byVerb"> & { seconds: number[] }>();
  private readonly byWho = new Map<string, { readonly who: string; readonly seconds: number[] }>();
  private readonly lists = new Map<string, Row<"lists">>();
  private readonly watches = new Map<string, Row<"watches">>();
  private readonly open = new Map<string, Set<Run>>();
  private readonly latencies = new Map<
    string,
    { readonly verb: string; readonly resource: string; readonly scope: string; readonly micros: LatencyHistogram }
  >();
  private readonly overTime = new Map<SliName, LatencyHistogram[]>();
  private readonly byAgent = new Map<string, number>();
  private readonly busyAt: number[] = [];

  /** `untilMicros`: length of the measurement. */
  constructor(clock: Clock, times: () => ServiceTimes | undefined, untilMicros: Micros) {
    this.clock = clock;
    this.times = times;
    this.partMicros = Math.max(1_000_000, Math.ceil(untilMicros / partCount));
  }

  begin(): void {
    this.beganMicros = this.clock.nowMicros();
    this.busyAt.push(this.times()?.busyMicros ?? 0);
  }

  answered(run: Run, payload: Payload): void {
    const now = this.clock.nowMicros();
    if (now < this.beganMicros) return;
    const [who, agent] = whoIs(run);
    const { verb, resource, scope } = asked(run);
    const second = Math.floor((now - this.beganMicros) / 1_000_000);
    const bytesOut = sizeOf(payload);
    if (run.answered === 410) this.relists++;
    const row = this.tick(second, { who, verb, resource, scope, code: run.answered });
    row.bytesIn += jsonSize(run.request.body);
    row.bytesOut += bytesOut;
    if (agent !== "") this.byAgent.set(agent, (this.byAgent.get(agent) ?? 0) + 1);
    if (run.listed !== undefined && verb === "list") this.listed(run, who, resource, bytesOut);
    const own = run.ownMicros(now);
    const waited = now - run.arrivedMicros - own;
    if (waited > 0) this.seatWaits.add(waited);
    const sli = run.answered < 400 ? sliOf(verb, resource) : undefined;
    if (sli !== undefined) this.took(sli, verb, resource, scope, own, now);
  }

  /** Counted with status 499: whatever was done for it was done in vain. */
  abandoned(run: Run): void {
    const now = this.clock.nowMicros();
    if (now < this.beganMicros) return;
    const [who, agent] = whoIs(run);
    this.tick(Math.floor((now - this.beganMicros) / 1_000_000), { who, ...asked(run), code: 499 });
    if (agent !== "") this.byAgent.set(agent, (this.byAgent.get(agent) ?? 0) + 1);
    const { verb, resource } = asked(run);
    if (verb === "list" && run.listed !== undefined) this.listed(run, who, resource, 0);
  }

  opened(run: Run): void {
    const { resource, scope } = asked(run);
    this.times()?.watchOpened();
    let open = this.open.get(resource);
    if (open === undefined) this.open.set(resource, (open = new Set()));
    for (const other of open)
      if (other.state === "done") open.delete(other);
      else break;
    if (!isOwn(whoIs(run)[0])) open.add(run);
    const now = this.clock.nowMicros();
    if (now < this.beganMicros) return;
    const [who, agent] = whoIs(run);
    this.tick(Math.floor((now - this.beganMicros) / 1_000_000), { who, verb: "watch", resource, scope, code: 200 });
    if (agent !== "") this.byAgent.set(agent, (this.byAgent.get(agent) ?? 0) + 1);
    if (!isOwn(who)) this.watch(resource).opened++;
  }

  told(run: Run, payload: Payload): void {
    const bytes = sizeOf(payload);
    const micros = this.times()?.eventMicros(bytes) ?? 0;
    if (this.clock.nowMicros() < this.beganMicros) return;
    if (isOwn(whoIs(run)[0])) return;
    const row = this.watch(asked(run).resource);
    row.events++;
    row.bytes += bytes;
    if (payload.object?.["type"] === "ERROR") this.relists++;
    this.watchDelivery.add(micros);
    this.part("watchDelivery").add(micros);
  }

  /** To be called at the end of each second of the measurement. */
  secondEnded(): void {
    this.busyAt.push(this.times()?.busyMicros ?? 0);
    for (const [resource, open] of this.open) {
      const living = this.openCount(open);
      const row = this.watch(resource);
      row.most = Math.max(row.most, living);
    }
  }

  /** How many answers there were that the filter takes. */
  count(takes: (row: Row<"requests">) => boolean): number {
    let sum = 0;
    for (const { row } of this.requests.values()) if (takes(row)) sum += row.count;
    return sum;
  }

  /** The most of them in one second. */
  mostInASecond(takes: (row: Row<"requests">) => boolean): number {
    const sums: number[] = [];
    for (const { row, seconds } of this.requests.values()) {
      if (!takes(row)) continue;
      for (const [second, count = 0] of seconds.entries()) sums[second] = (sums[second] ?? 0) + count;
    }
    return sums.reduce((most, count) => Math.max(most, count), 0);
  }

  /** Processor time of the measurement so far. */
  busyMicros(): Micros {
    return (this.times()?.busyMicros ?? 0) - (this.busyAt[0] ?? 0);
  }

  /** Histograms of the latencies of one SLI, each series by itself. */
  seriesOf(sli: SliName): readonly { readonly name: string; readonly micros: LatencyHistogram }[] {
    return [...this.latencies.values()]
      .filter(({ verb, resource }) => sliOf(verb, resource) === sli)
      .map(({ verb, resource, scope, micros }) => ({ name: `${verb} ${resource} (${scope})`, micros }));
  }

  /** An event of pods for the percentiles over time. */
  podStarted(micros: Micros): void {
    this.part("podStartup").add(micros);
  }

  figures(
    agentCount: number,
  ): Pick<
    CapacityRun,
    | "requests"
    | "byVerb"
    | "byWho"
    | "lists"
    | "watches"
    | "agents"
    | "latencies"
    | "latencyOverTime"
    | "partMicros"
    | "watchDelivery"
    | "seatWaits"
    | "processor"
  > {
    const seconds = this.busyAt.length - 1;
    const busySeconds = this.busyAt.slice(1).map((busy, at) => busy - (this.busyAt[at] ?? 0));
    const [mostName = "", most = 0] = [...this.byAgent].reduce<readonly [string, number] | readonly []>(
      (best, entry) => ((best[1] ?? -1) < entry[1] ? entry : best),
      [],
    );
    return {
      requests: sorted(this.requests).map(({ row }) => row),
      byVerb: sorted(this.byVerb).map((row) => ({ ...row, seconds: filled(row.seconds, seconds) })),
      byWho: sorted(this.byWho).map((row) => ({ ...row, seconds: filled(row.seconds, seconds) })),
      lists: sorted(this.lists),
      watches: sorted(this.watches),
      agents: {
        count: agentCount,
        requests: [...this.byAgent.values()].reduce((sum, each) => sum + each, 0),
        most,
        mostName,
      },
      latencies: sorted(this.latencies).map((row) => ({ ...row, micros: row.micros.data() })),
      latencyOverTime: sorted(this.overTimeByName()).map(({ sli, parts }) => ({
        sli,
        parts: Array.from(parts, (part) => (part ?? new LatencyHistogram()).data()),
      })),
      partMicros: this.partMicros,
      watchDelivery: this.watchDelivery.data(),
      seatWaits: this.seatWaits.data(),
      processor: { cores: 0, busyMicros: busySeconds.reduce((sum, busy) => sum + busy, 0), busySeconds },
    };
  }

  private overTimeByName(): ReadonlyMap<
    string,
    { readonly sli: SliName; readonly parts: readonly (LatencyHistogram | undefined)[] }
  > {
    return new Map([...this.overTime].map(([sli, parts]) => [sli, { sli, parts }]));
  }

  private took(sli: SliName, verb: string, resource: string, scope: string, micros: Micros, now: Micros): void {
    const series = this.row(this.latencies, [verb, resource, scope], () => ({
      verb,
      resource,
      scope,
      micros: new LatencyHistogram(),
    }));
    series.micros.add(micros);
    this.part(sli, now).add(micros);
  }

  private part(sli: SliName, now = this.clock.nowMicros()): LatencyHistogram {
    let parts = this.overTime.get(sli);
    if (parts === undefined) this.overTime.set(sli, (parts = []));
    const at = Math.floor((now - this.beganMicros) / this.partMicros);
    return (parts[at] ??= new LatencyHistogram());
  }

  private listed(run: Run, who: string, resource: string, bytes: number): void {
    const { readCount, givenCount, origin } = run.listed as NonNullable<Run["listed"]>;
    const row = this.row(this.lists, [who, resource, origin], () => ({
      who,
      resource,
      origin,
      lists: 0,
      read: 0,
      given: 0,
      bytes: 0,
    }));
    row.lists++;
    row.read += readCount;
    row.given += givenCount;
    row.bytes += bytes;
  }

  private watch(resource: string): Row<"watches"> {
    return this.row(this.watches, [resource], () => ({
      resource,
      opened: 0,
      most: this.openCount(this.open.get(resource)),
      events: 0,
      bytes: 0,
    }));
  }

  private openCount(open: Set<Run> | undefined): number {
    if (open === undefined) return 0;
    for (const run of open) if (run.state === "done") open.delete(run);
    return open.size;
  }

  private tick(
    second: number,
    key: Pick<Row<"requests">, "who" | "verb" | "resource" | "scope" | "code">,
  ): Row<"requests"> {
    const { who, verb, resource, scope, code } = key;
    const entry = this.row(this.requests, [who, verb, resource, scope, code], () => ({
      row: { ...key, count: 0, bytesIn: 0, bytesOut: 0 },
      seconds: [],
    }));
    entry.row.count++;
    entry.seconds[second] = (entry.seconds[second] ?? 0) + 1;
    const verbs = this.row(this.byVerb, [verb, code], () => ({ verb, code, seconds: [] })).seconds;
    verbs[second] = (verbs[second] ?? 0) + 1;
    const whos = this.row(this.byWho, [who], () => ({ who, seconds: [] })).seconds;
    whos[second] = (whos[second] ?? 0) + 1;
    return entry.row;
  }

  private row<Value>(rows: Map<string, Value>, key: readonly (string | number)[], make: () => Value): Value {
    const name = key.join(" ");
    let value = rows.get(name);
    if (value === undefined) rows.set(name, (value = make()));
    return value;
  }
}

/** By the text of their keys, so that what came first does not show. */
function sorted<Value>(rows: ReadonlyMap<string, Value>): Value[] {
  return [...rows].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, value]) => value);
}

const filled = (seconds: readonly number[], length: number): number[] =>
  Array.from({ length: Math.max(length, seconds.length) }, (_, second) => seconds[second] ?? 0);

/** Watches of the experiment's own are none that a cluster has. */
const isOwn = (who: string): boolean => who === "driver";

/** The component that asked; and which agent, if it is one. */
function whoIs(run: Run): readonly [who: string, agent: string] {
  const name = run.request.headers["user-agent"] ?? "";
  if (name === "agent")
    return [
      "agents",
      run.request.clientCertificate !== undefined && run.request.clientCertificate !== "invalid"
        ? run.request.clientCertificate.commonName
        : "",
    ];
  const [first = "", , account] = name.split("/");
  return [account ?? first, ""];
}

function asked(run: Run): { readonly verb: string; readonly resource: string; readonly scope: string } {
  const { place } = run;
  if (place.is !== "resource") return { verb: run.request.method.toLowerCase(), resource: run.request.path, scope: "" };
  const { row, subresource, name, namespace } = place.place;
  const scope = name !== "" || run.verb === "create" ? "resource" : namespace !== "" ? "namespace" : "cluster";
  return {
    verb: run.verb,
    resource: subresource === undefined ? row.resource : `${row.resource}/${subresource.subresource}`,
    scope,
  };
}

const mutatingVerbs: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"]);

/** Undefined: of no SLI, as the field defines them. */
function sliOf(verb: string, resource: string): "mutating" | "get" | "list" | undefined {
  if (resource.startsWith("/")) return undefined;
  if (mutatingVerbs.has(verb)) return "mutating";
  return verb === "get" || verb === "list" ? verb : undefined;
}
