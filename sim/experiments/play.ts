/**
 * Plays one scenario: servers, their clients over links, faults at their times, invariants judged after every event and
 * expectations at their times. The same scenario and seed give the same trace, record for record.
 */
import {
  expectations,
  type InvariantName,
  type RequirementName,
  requirementText,
} from "../../scenarios/expectations.ts";
import type { Scenario, ScenarioExpectation } from "../../scenarios/schema.ts";
import { invariantNames } from "../../scenarios/expectations.ts";
import type { ExpectationResult, SimulationFailure, SimulationReport } from "../../reports/schema/simulation-report.ts";
import {
  budgetsKept,
  boundedRequests,
  callbacks,
  eventsKept,
  garbageOwned,
  nodesJudged,
  oneHolder,
  podsAtHome,
} from "../checkers/client-checkers.ts";
import { type ManifestOnNode, mirrorsEqual, oneInstance } from "../checkers/agent-checkers.ts";
import { evictionsDue, evictionsMade, evictionsRanked, pressureTold } from "../checkers/eviction-checkers.ts";
import {
  expiredWatchesAreGone,
  watchesAreOrdered,
  watchesAreReliable,
  type StoreHistory,
} from "../checkers/informers.ts";
import { type Bench, type Checker, Judge } from "../checkers/judge.ts";
import { coverageMarks } from "../checkers/coverage.ts";
import { durable, type Held, linearizable, objectLives, oneContent, versionRises } from "../checkers/store-checkers.ts";
import { Truth } from "../checkers/truth.ts";
import { keptVersions, oneLiveWatch, streamLaw, wholeLists } from "../checkers/watch-checkers.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { profiles } from "../contract/profile.ts";
import { Injector } from "../faults/inject.ts";
import { drawPlan, type Plan, type PlannedFault } from "../faults/plan.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Trace, TraceOptions } from "../kernel/trace.ts";
import { installTrap } from "../kernel/trap.ts";
import type { Micros, Process } from "../kernel/types.ts";
import { type Bugs, noBugs } from "./bugs.ts";
import { clusterConverged, followersOf, informersConverged, type Judged, replicasSettled } from "./converged.ts";
import { Caller } from "./actors/caller.ts";
import { signatureOf } from "./signature.ts";
import { countsOf, Stage } from "./stage.ts";
import type { Watcher } from "./watcher.ts";

export interface PlayOptions {
  /** Default: the scenario's own. */
  readonly seed?: number;
  /** What goes wrong, instead of what would be drawn. */
  readonly plan?: Plan;
  /** How faults are drawn. Default: the scenario's own. */
  readonly mode?: Scenario["mode"];
  /** Bugs to have. Default: none. */
  readonly bugs?: Bugs;
  readonly trace?: TraceOptions;
  /** Ends the run at the first broken promise. Default: it goes on to its end. */
  readonly stopsAtFailure?: boolean;
  /** Sees what happens, to draw it. It must touch nothing. */
  readonly watcher?: Watcher;
}

export interface Played {
  readonly report: SimulationReport;
  readonly trace: Trace;
  /** What went wrong. */
  readonly plan: Plan;
}

/** A run that goes on bit by bit, and on which somebody may lay a hand. */
export interface LiveRun {
  readonly nowMicros: Micros;
  /** The scenario's time is over. */
  readonly isOver: boolean;
  readonly plan: Plan;
  /** Lets everything happen up to then, or to the scenario's end. */
  advance(untilMicros: Micros): void;
  /** Goes wrong now. False in the safety phase, where nothing does. */
  inject(fault: PlannedFault): boolean;
  /** Of the run so far. */
  report(): SimulationReport;
}

/** As `playScenario`, but that it stands at its beginning. */
export function beginScenario(scenario: Scenario, options: PlayOptions = {}): LiveRun {
  return trapped(() => {
    const run = new ScenarioRun(scenario, options);
    return {
      get nowMicros() {
        return run.kernel.nowMicros();
      },
      get isOver() {
        return run.isOver;
      },
      plan: run.plan,
      advance: (untilMicros) => trapped(() => run.advance(untilMicros)),
      inject: (fault) => trapped(() => run.inject(fault)),
      report: () => run.report(),
    };
  });
}

function trapped<T>(work: () => T): T {
  const removeTrap = installTrap();
  try {
    return work();
  } finally {
    removeTrap();
  }
}

/** Throws what the kernel throws when the simulation itself is broken, and `StageError` for objects that are refused. */
export function playScenario(scenario: Scenario, options: PlayOptions = {}): Played {
  return trapped(() => {
    const run = new ScenarioRun(scenario, options);
    run.advance(scenario.until);
    return { report: run.report(), trace: run.kernel.trace, plan: run.plan };
  });
}

/** The dear look at the whole comes once in so many events. */
const eventsPerLook = 2048;

class ScenarioRun {
  readonly kernel: Kernel;
  readonly plan: Plan;
  private readonly scenario: Scenario;
  private readonly options: PlayOptions;
  private readonly seed: number;
  private readonly bugs: Bugs;
  private readonly director: Process;
  private readonly truth: Truth;
  private readonly judge: Judge;
  private readonly stage: Stage;
  private readonly injector: Injector;
  private events = 0;
  private hasEnded = false;
  private readonly judged: ExpectationResult[] = [];
  private readonly history: { readonly [Part in keyof StoreHistory]: StoreHistory[Part][number][] } = {
    changes: [],
    compactions: [],
  };
  private readonly faultsNow = new Set<PlannedFault>();
  private faultCount = 0;
  private failure: SimulationFailure | undefined;

  constructor(scenario: Scenario, options: PlayOptions) {
    this.scenario = scenario;
    this.options = options;
    this.seed = options.seed ?? scenario.seed;
    this.bugs = options.bugs ?? noBugs;
    const mode = options.plan?.mode ?? options.mode ?? scenario.mode;
    // Capacity is compared under the same work: the seed then only names the run.
    const drawnFrom = mode === "performance" ? "performance" : String(this.seed);
    this.plan = options.plan ?? drawPlan(scenario, drawnFrom, mode);
    this.kernel = new Kernel({ seed: drawnFrom, ...(options.trace === undefined ? {} : { trace: options.trace }) });
    this.director = this.kernel.process("scenario");
    const { clock } = this.director;
    const nowMicros = (): Micros => clock.nowMicros();
    this.truth = new Truth(1, nowMicros);
    const { invariants } = scenario;
    const asked = invariants === "all" ? invariantNames : invariants === "none" ? [] : invariants;
    this.judge = new Judge(this.truth, nowMicros, this.checkers(), new Set<InvariantName>(asked));
    this.stage = new Stage({
      scenario,
      kernel: this.kernel,
      bugs: this.bugs.simulated,
      serverBugs: this.bugs.server,
      agentBugs: this.bugs.agent,
      featureGates: this.bugs.gates,
      truth: this.truth,
      judge: this.judge,
      noted: (fault, isOver) => this.note(fault, isOver),
    });
    this.injector = new Injector(this.stage, this.director);
    this.injector.schedule(this.plan.faults, scenario.safety);
    for (const row of scenario.expect) clock.after(row.by, () => this.expect(row));
    const { watcher } = options;
    this.stage.network.witness = {
      message: (from, to, sent, arrives, about) => watcher?.message(from, to, sent, arrives, about()),
      mark: (name) => this.judge.mark(name),
    };
  }

  get isOver(): boolean {
    return this.hasEnded;
  }

  /** Every event up to then, and after each a look at whether a promise is still kept. */
  advance(untilMicros: Micros): void {
    const { kernel, judge, scenario } = this;
    const until = Math.min(untilMicros, scenario.until);
    while (!this.hasEnded) {
      const next = kernel.nextEventMicros;
      if (next === undefined || next > until) break;
      kernel.step();
      if (++this.events % eventsPerLook === 0) judge.look();
      this.failIfBroken();
      if (this.failure !== undefined && this.options.stopsAtFailure === true) this.hasEnded = true;
    }
    if (this.hasEnded) return;
    kernel.run(until);
    if (until < scenario.until) return;
    this.hasEnded = true;
    judge.look();
    this.failIfBroken();
  }

  inject(fault: PlannedFault): boolean {
    return this.kernel.enter(this.director, () => this.injector.inject(fault));
  }

  private failIfBroken(): void {
    const { violation } = this.judge;
    if (violation !== undefined && this.failure === undefined) this.fail(violation, violation.requirement);
  }

  private checkers(): readonly ((bench: Bench) => Checker)[] {
    const { profile, cluster } = this.scenario;
    const { dialect } = profiles[profile];
    const leases = `/registry/leases.coordination.svc.io/${dialect.systemNamespaces.nodeLease}/`;
    const { watcher } = this.options;
    return [
      linearizable,
      (bench) =>
        durable(
          bench,
          () => this.stage.witness.floorRevision,
          () => this.held(),
        ),
      oneContent,
      versionRises,
      objectLives,
      streamLaw,
      (bench) => keptVersions(bench, cluster.historyWindow),
      oneLiveWatch,
      wholeLists,
      callbacks,
      boundedRequests,
      oneHolder,
      podsAtHome,
      oneInstance,
      (bench) => mirrorsEqual(bench, `${dialect.labelSuffix}/config.mirror`, manifestsOf(this.scenario)),
      evictionsDue,
      evictionsMade,
      evictionsRanked,
      pressureTold,
      (bench) => nodesJudged(bench, leases),
      (bench) => budgetsKept(bench, "/registry/poddisruptionbudgets.policy/"),
      (bench) => eventsKept(bench, cluster.eventTtl, (key) => typeof this.stage.store.get(key) === "object"),
      garbageOwned,
      coverageMarks,
      ({ nowMicros }) => ({
        committed: ({ key, revision }) => void this.history.changes.push({ key, revision }),
        happened: (happening) => {
          if (happening.kind === "compacted")
            this.history.compactions.push({ atMicros: nowMicros(), revision: happening.revision });
        },
      }),
      ...(watcher === undefined ? [] : [(bench: Bench) => watcher.checker(bench)]),
    ];
  }

  /** Everything that the store holds. */
  private held(): readonly Held[] {
    const range = this.stage.store.range("", "", { count: false });
    return typeof range === "string" ? [] : range.items;
  }

  private note(fault: PlannedFault, isOver: boolean): void {
    if (isOver) this.faultsNow.delete(fault);
    else {
      this.faultCount++;
      this.faultsNow.add(fault);
    }
    this.judge.happened({ kind: "fault", what: fault.verb, places: fault.places, isOver });
    this.options.watcher?.fault(fault, isOver, this.director.clock.nowMicros());
  }

  private expect(row: ScenarioExpectation): void {
    const { requirement, text, verdict, evidence } =
      "requirement" in row
        ? this.verdictOn(row.requirement)
        : "request" in row
          ? this.answerTo(row)
          : "client" in row
            ? this.lastAnswerOf(row)
            : this.heardBy(row);
    this.director.trace("verdict", requirement, verdict.status);
    this.judged.push({ requirement, text, byMicros: row.by, verdict, ...(evidence.length > 0 ? { evidence } : {}) });
    if (verdict.status === "failed" && this.failure === undefined)
      this.fail({ ...verdict, evidence, atMicros: row.by }, requirement, text);
  }

  private verdictOn(requirement: RequirementName): Judged & { requirement: string; text: string } {
    const text = requirementText(requirement);
    const judged = requirement in expectations ? this.stateOf(requirement) : this.invariantSoFar(requirement);
    return { requirement, text, ...judged };
  }

  private invariantSoFar(requirement: RequirementName): Judged {
    this.judge.look();
    const { violation } = this.judge;
    if (violation?.requirement !== requirement) return { verdict: { status: "passed", runs: 1 }, evidence: [] };
    const { expected, actual, evidence } = violation;
    return { verdict: { status: "failed", expected, actual }, evidence };
  }

  private stateOf(requirement: RequirementName): Judged {
    const { clients } = this.stage;
    const served = (path: string): readonly JsonObject[] => this.served(path);
    if (requirement === "informer.converges") return informersConverged(clients, served);
    if (requirement === "replicas.settled") return replicasSettled(this.truth);
    if (requirement === "cluster.converges") return clusterConverged(clients, this.truth, served);
    const informers = followersOf(clients).map(([name, { informer }]) => ({ name, informer }));
    const laws = {
      "watch.ordered": watchesAreOrdered,
      "watch.reliable": watchesAreReliable,
      "watch.expired-is-gone": expiredWatchesAreGone,
    };
    return { verdict: laws[requirement as keyof typeof laws](informers, this.history), evidence: [] };
  }

  private answerTo(
    row: Extract<ScenarioExpectation, { readonly request: string }>,
  ): Judged & { requirement: string; text: string } {
    const [, target = "/"] = row.request.split(" ");
    const [path = "/", query = ""] = target.split("?", 2);
    const { status, object } = this.stage.ask({ method: "GET", path, query, headers: { accept: "application/json" } });
    const requirement = `answer ${row.request}`;
    const text = `It is answered with ${row.status}${row.holds === undefined ? "" : ", and the answer has what the scenario names"}.`;
    if (status !== row.status)
      return {
        requirement,
        text,
        verdict: { status: "failed", expected: String(row.status), actual: String(status) },
        evidence: [JSON.stringify(object).slice(0, 300)],
      };
    const wrong = row.holds === undefined ? undefined : lacking(row.holds, object, "");
    if (wrong !== undefined) return { requirement, text, verdict: { status: "failed", ...wrong }, evidence: [] };
    return { requirement, text, verdict: { status: "passed", runs: 1 }, evidence: [] };
  }

  private lastAnswerOf({ client, status }: Extract<ScenarioExpectation, { readonly client: string }>): JudgedRow {
    const actor = this.stage.clients.get(client)?.actor;
    const last = actor instanceof Caller ? actor.lastStatus : 0;
    const text = `The last answer that ${client} has had by then is ${status}.`;
    const actual = last === 0 ? "none" : String(last);
    return judgedRow(`answers of ${client}`, text, last === status, String(status), actual);
  }

  private heardBy({ place, heard: wanted }: Extract<ScenarioExpectation, { readonly place: string }>): JudgedRow {
    const heard = this.stage.outsiders.member(place)?.heard() ?? 0;
    const { atLeast, atMost = Infinity } = typeof wanted === "number" ? { atLeast: wanted, atMost: wanted } : wanted;
    const most = atMost === Infinity ? "" : ` and at most ${atMost}`;
    const expected = atLeast === atMost ? String(atLeast) : `at least ${atLeast}${most}`;
    const text = `By then ${place} has heard ${expected} times.`;
    return judgedRow(`calls of ${place}`, text, heard >= atLeast && heard <= atMost, expected, String(heard));
  }

  private fail(
    broken: Pick<SimulationFailure, "expected" | "actual" | "evidence" | "atMicros">,
    requirement: string,
    text?: string,
  ): void {
    const { trace } = this.kernel;
    const active = [...this.faultsNow].map(
      ({ verb, places, atMicros }) => `${verb} ${places.join(" ")} since ${atMicros / 1_000_000} s`,
    );
    this.failure = {
      requirement,
      text: text ?? requirementText(requirement as RequirementName),
      expected: broken.expected,
      actual: broken.actual,
      evidence: broken.evidence.concat(active),
      atMicros: broken.atMicros,
      atRecord: trace.count,
      traceHash: trace.hash(),
      signature: signatureOf(requirement, broken.expected, broken.actual),
    };
    this.options.watcher?.failed(this.failure);
  }

  /** What the server answers to a consistent list, asked from within it: no link is in between. */
  private served(path: string): readonly JsonObject[] {
    const { object } = this.stage.ask({ method: "GET", path, query: "", headers: { accept: "application/json" } });
    return (object["items"] ?? []) as readonly JsonObject[];
  }

  report(): SimulationReport {
    const { trace } = this.kernel;
    const { clients } = this.stage;
    return {
      apiVersion: "reports/v1",
      kind: "SimulationReport",
      scenario: this.scenario.name,
      seed: this.seed,
      profile: this.scenario.profile,
      traceHash: trace.hash(),
      traceRecords: trace.count,
      virtualMicros: this.kernel.nowMicros(),
      mode: this.plan.mode,
      bugs: this.bugs.names,
      drawn: this.plan.drawn,
      faultCount: this.faultCount,
      coverage: Object.fromEntries(this.judge.marked),
      ...(this.failure === undefined ? {} : { failure: this.failure }),
      expectations: this.judged,
      clients: Object.fromEntries([...clients].map(([name, client]) => [name, countsOf(client)])),
    };
  }
}

const manifestsOf = ({ clients }: Scenario): readonly ManifestOnNode[] =>
  clients.flatMap((row) =>
    row.kind === "agent" ? row.manifests.map((manifest) => ({ node: row.name, manifest: manifest as JsonObject })) : [],
  );

type JudgedRow = Judged & { requirement: string; text: string };

function judgedRow(requirement: string, text: string, isGood: boolean, expected: string, actual: string): JudgedRow {
  const verdict = isGood ? ({ status: "passed", runs: 1 } as const) : ({ status: "failed", expected, actual } as const);
  return { requirement, text, verdict, evidence: [] };
}

/** The first field that is not as it should be. */
function lacking(wanted: unknown, given: unknown, path: string): { expected: string; actual: string } | undefined {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
    const [expected, actual] = [JSON.stringify(wanted), JSON.stringify(given) ?? "nothing"];
    return expected === actual ? undefined : { expected: `${path.slice(1)} is ${expected}`, actual };
  }
  for (const [key, inner] of Object.entries(wanted)) {
    const wrong = lacking(inner, (given as Record<string, unknown> | undefined)?.[key], `${path}.${key}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
