/** Writes down a run, to be read and drawn. */
import type { SimulationFailure, SimulationReport } from "../../reports/schema/simulation-report.ts";
import type {
  TraceDocument,
  TraceEntry,
  TraceFault,
  TraceLane,
  TraceMessage,
  TraceSign,
  TraceWrite,
} from "../../reports/schema/trace-document.ts";
import { type FaultVerb, faultVerbs } from "../../scenarios/fault-rows.ts";
import { serverNames, storeName } from "../../scenarios/scenario-rules.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import type { Bench, Checker, Exchange, Fact, Happening } from "../checkers/judge.ts";
import { metadataOf } from "../checkers/metadata.ts";
import { revisionOf, shownKey } from "../checkers/truth.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { PlannedFault } from "../faults/plan.ts";
import type { Micros } from "../kernel/types.ts";
import type { Watcher } from "./watcher.ts";

/** Longer runs are cut here, and say so: nobody looks at more, and no page could show it. */
const entriesMax = 200_000;

type OpenFault = { -readonly [Key in keyof TraceFault]: TraceFault[Key] };

export class Recorder implements Watcher {
  private readonly scenario: Scenario;
  private readonly entries: TraceEntry[] = [];
  private readonly messages: TraceMessage[] = [];
  private readonly writes: TraceWrite[] = [];
  private readonly faults = new Map<PlannedFault, OpenFault>();
  private readonly pods = new Set<string>();
  private failure: SimulationFailure | undefined;
  private nowMicros: () => Micros = () => 0;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
  }

  checker({ nowMicros }: Bench): Checker {
    this.nowMicros = nowMicros;
    return {
      committed: ({ key, revision, value, previous }) => {
        const sign = value === undefined ? "-" : previous === undefined ? "+" : "~";
        const write = { revision, atMicros: nowMicros(), key, sign } as const;
        if (this.writes.length < entriesMax)
          this.writes.push(value === undefined ? write : { ...write, object: value });
        this.add(storeName, sign, shownKey(key), revision);
      },
      asked: (exchange) => this.add(exchange.client, "?", asked(exchange)),
      answered: (exchange, status, object) => this.answered(exchange, status, object),
      opened: (exchange) => this.add(exchange.client, "W", `watches ${shortPath(exchange.path)}${from(exchange)}`),
      event: (exchange, type, object) => this.event(exchange, type, object),
      ended: (exchange, how) => {
        if (exchange.isWatch && how !== "closed")
          this.add(exchange.client, "w", `its watch of ${shortPath(exchange.path)} is ${how}`);
        else if (!exchange.isWatch && how !== "closed")
          this.add(exchange.client, "E", `${exchange.method} ${shortPath(exchange.path)}: ${how}`);
      },
      told: (fact) => this.told(fact),
      happened: (happening) => this.happened(happening),
    };
  }

  message(from: string, to: string, sentMicros: Micros, arrivesMicros: Micros | undefined, about: string): void {
    if (this.messages.length >= entriesMax) return;
    this.messages.push({ from, to, sentMicros, ...(arrivesMicros === undefined ? {} : { arrivesMicros }), about });
  }

  fault(fault: PlannedFault, isOver: boolean, atMicros: Micros): void {
    const text = [fault.verb, ...fault.places, ...(fault.request === undefined ? [] : [fault.request])].join(" ");
    const open = this.faults.get(fault);
    if (!isOver) this.faults.set(fault, { what: fault.verb, places: fault.places, fromMicros: atMicros });
    else if (open !== undefined && open.fromMicros < atMicros) open.toMicros = atMicros;
    if (!isOver) this.add("", "X", text);
    else if (open !== undefined && open.fromMicros < atMicros) this.add("", "o", text);
  }

  failed(failure: SimulationFailure): void {
    this.failure = failure;
    this.add("", "F", `${failure.requirement}: ${failure.actual}`);
  }

  document(report: SimulationReport): TraceDocument {
    const { scenario, failure } = this;
    const clients: TraceLane[] = scenario.clients.map(({ name, kind }) => ({
      name,
      kind: kind === "node" || kind === "agent" ? "node" : "client",
    }));
    const servers: TraceLane[] = serverNames(scenario.cluster.apiservers).map((name) => ({ name, kind: "server" }));
    const pods: TraceLane[] = [...this.pods].map((name) => ({ name, kind: "pod" }));
    return {
      apiVersion: "traces/v1",
      kind: "Trace",
      scenario: report.scenario,
      seed: report.seed,
      profile: report.profile,
      mode: report.mode,
      bugs: report.bugs,
      untilMicros: report.virtualMicros,
      traceHash: report.traceHash,
      lanes: [{ name: storeName, kind: "store" }, ...servers, ...clients, ...pods],
      entries: this.entries,
      messages: this.messages,
      faults: [...this.faults.values()].map((fault) =>
        fault.toMicros === undefined && lasts(fault.what) ? { ...fault, toMicros: report.virtualMicros } : fault,
      ),
      writes: this.writes,
      ...(failure === undefined ? {} : { failure }),
    };
  }

  private answered(exchange: Exchange, status: number, object: JsonObject): void {
    const { client, method, path } = exchange;
    if (status === 410) return this.add(client, "G", `${method} ${shortPath(path)}: 410`);
    if (status >= 400) return this.add(client, "E", `${method} ${shortPath(path)}: ${status}`);
    const items = object["items"];
    const revision = revisionOf(object);
    if (Array.isArray(items))
      this.add(
        client,
        "L",
        `${shortPath(path)}: ${items.length} ${items.length === 1 ? "object" : "objects"} at version ${revision}`,
      );
    else this.add(client, "=", `${method} ${shortPath(path)}: ${status}`, revision > 0 ? revision : undefined);
  }

  private event({ client, path }: Exchange, type: string, object: JsonObject): void {
    const revision = revisionOf(object);
    if (type === "ERROR") return this.add(client, "G", `${shortPath(path)}: ERROR ${String(object["code"] ?? "")}`);
    const { name = "" } = metadataOf(object);
    this.add(client, "e", `${type} ${name}`.trimEnd(), revision);
  }

  private told(fact: Fact): void {
    if (fact.kind === "leads") this.add(fact.client, "*", fact.lease);
    if (fact.kind === "follows") this.add(fact.client, "'", fact.lease);
    if (fact.kind === "runs") {
      this.pods.add(fact.pod);
      this.add(fact.pod, "R", `on ${fact.client}, uid ${fact.uid.slice(0, 8)}`);
    }
    if (fact.kind === "stopped") this.add(fact.pod, "r", `on ${fact.client}, uid ${fact.uid.slice(0, 8)}`);
    if (fact.kind === "container-started" || fact.kind === "container-stopped") {
      this.pods.add(fact.pod);
      const sign = fact.kind === "container-started" ? "R" : "r";
      this.add(fact.pod, sign, `container ${fact.container} on ${fact.client}, uid ${fact.uid.slice(0, 8)}`);
    }
  }

  private happened(happening: Happening): void {
    if (happening.kind === "crash") this.add(happening.place, "!", "crashes");
    if (happening.kind === "server-started") this.add(happening.place, "^", `starts at version ${happening.revision}`);
    if (happening.kind === "recovered" || happening.kind === "restored")
      this.add(storeName, "^", `${happening.kind} at version ${happening.revision}`);
  }

  private add(lane: string, sign: TraceSign, text: string, revision?: number): void {
    if (this.entries.length >= entriesMax) return;
    this.entries.push({
      atMicros: this.nowMicros(),
      lane,
      sign,
      text,
      ...(revision === undefined ? {} : { revision }),
    });
  }
}

/** A verb by hand may be none of a scenario's. */
const lasts = (verb: string): boolean => Object.hasOwn(faultVerbs, verb) && faultVerbs[verb as FaultVerb].lasts;

/** `/api/v1/namespaces/default/configmaps/a` → `default/configmaps/a`. */
const shortPath = (path: string): string =>
  path.replace(/^\/apis?\/(?:[^/]+\/)?v\d[^/]*\//, "").replace(/^namespaces\/([^/]+)\/(?=.)/, "$1/");

const from = ({ query }: Exchange): string => {
  const version = query.get("resourceVersion");
  return version === undefined ? "" : ` from version ${version}`;
};

const asked = (exchange: Exchange): string =>
  `${exchange.isWatch ? "WATCH" : exchange.method} ${shortPath(exchange.path)}${exchange.isWatch ? from(exchange) : ""}`;
