/**
 * From what a scenario says may go wrong to what does go wrong in one run: a list of faults with their times, drawn from
 * the seed before the run begins. A list can be kept, replayed and made shorter, which chance could not.
 */
import { type FaultVerb, faultVerbs, type PressedResource, type ScenarioFault } from "../../scenarios/fault-rows.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import { serverNames } from "../../scenarios/scenario-rules.ts";
import { calledOf, type Misbehaviour, sufferersOf } from "../../scenarios/access.ts";
import type { LatencyTable, Ratio, Span } from "../../scenarios/values.ts";
import { prngStream } from "../kernel/prng.ts";
import type { Micros, Prng } from "../kernel/types.ts";

/** One fault of one run. */
export interface PlannedFault {
  readonly atMicros: Micros;
  readonly verb: FaultVerb;
  /** Nobody is `any` any more. Patterns such as `informer-*` stay. */
  readonly places: readonly string[];
  /** How long it lasts. Absent: until it is healed, or until the end of the safety phase. */
  readonly forMicros?: Micros;
  readonly by?: LatencyTable;
  readonly rate?: Ratio;
  readonly stepMicros?: Micros;
  readonly agoMicros?: Micros;
  readonly keep?: number;
  readonly bytesPerSecond?: number;
  readonly request?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly how?: Misbehaviour;
  /** It dies after so many calls more. */
  readonly calls?: number;
  readonly resource?: PressedResource;
  readonly method?: string;
  readonly figures?: string;
  readonly pod?: string;
}

export interface Plan {
  readonly mode: Scenario["mode"];
  /** By time. */
  readonly faults: readonly PlannedFault[];
  /** What the seed made of the rows that leave something to chance, in words. */
  readonly drawn: readonly string[];
}

/** Rows that would fire without end are cut off here: no run needs more. */
const occurrencesMax = 10_000;

export function drawPlan(scenario: Scenario, seed: string, mode: Scenario["mode"] = scenario.mode): Plan {
  if (mode === "performance") return { mode, faults: [], drawn: ["no faults: mode performance"] };
  const drawn: string[] = [];
  const faults = scenario.faults.flatMap((row, index) => {
    const prng = prngStream(seed, "faults", String(index));
    const strength = mode === "swarm" && row.every !== undefined ? drawStrength(prng.stream("swarm")) : usual;
    if (row.every !== undefined) drawn.push(describeDraw(row, strength));
    return strength === undefined ? [] : occurrences(row, scenario, strength, prng);
  });
  faults.sort((one, other) => one.atMicros - other.atMicros);
  const within = withinBudget(faults, scenario);
  if (within.length < faults.length) drawn.push(`${faults.length - within.length} left out: the budget`);
  return { mode, faults: within, drawn };
}

/** How much more often, and how much worse, than it is written: ratios. Undefined: not at all in this run. */
interface Strength {
  readonly often: Ratio;
  readonly bad: Ratio;
}

const same: Ratio = { numerator: 1, denominator: 1 };
const usual: Strength = { often: same, bad: same };
const factors: readonly Ratio[] = [
  { numerator: 1, denominator: 4 },
  { numerator: 1, denominator: 2 },
  same,
  { numerator: 2, denominator: 1 },
  { numerator: 4, denominator: 1 },
];

function drawStrength(prng: Prng): Strength | undefined {
  const isOff = prng.chance(1, 4);
  const draw = (): Ratio => factors[prng.intInclusive(0, factors.length - 1)] as Ratio;
  const strength = { often: draw(), bad: draw() };
  return isOff ? undefined : strength;
}

function describeDraw(row: ScenarioFault, strength: Strength | undefined): string {
  const { how, resource, method, calls } = row;
  const within = calls === undefined ? undefined : `within ${calls} calls`;
  const what = [row.verb, ...row.places, how, resource, method, within].filter((word) => word !== undefined).join(" ");
  if (strength === undefined) return `${what}: off`;
  const every = row.every as Span;
  const gap = `${seconds(scaled(every.min, inverse(strength.often)))}..${seconds(scaled(every.max, inverse(strength.often)))}`;
  const rate = row.rate === undefined ? "" : `, rate ${rateText(scaledRate(row.rate, strength.bad))}`;
  return `${what}: every ${gap}${rate}`;
}

function occurrences(row: ScenarioFault, scenario: Scenario, strength: Strength, prng: Prng): PlannedFault[] {
  const end = scenario.safety ?? scenario.until;
  if (row.at !== undefined) return happens(row, prng) ? [planned(row, row.at, scenario, strength, prng)] : [];
  const every = row.every as Span;
  const until = Math.min(row.to ?? end, end);
  const faults: PlannedFault[] = [];
  let at = row.from ?? 0;
  while (faults.length < occurrencesMax) {
    const gap = scaled(draw(every, prng), inverse(strength.often));
    at += Math.max(1, gap);
    if (at >= until) break;
    if (happens(row, prng)) faults.push(planned(row, at, scenario, strength, prng));
  }
  return faults;
}

const happens = ({ chance }: ScenarioFault, prng: Prng): boolean =>
  chance === undefined || prng.chance(chance.numerator, chance.denominator);

function planned(
  row: ScenarioFault,
  atMicros: Micros,
  scenario: Scenario,
  { bad }: Strength,
  prng: Prng,
): PlannedFault {
  const { verb, by, rate, step, ago, keep, bytesPerSecond, request, body, how, resource, method, figures, pod } = row;
  const duration = row.for === undefined ? undefined : draw(row.for, prng);
  const calls = row.calls === undefined ? undefined : prng.intInclusive(1, row.calls);
  return {
    atMicros,
    verb,
    places: somebody(row, scenario, prng),
    ...(duration === undefined ? {} : { forMicros: duration }),
    ...(by === undefined ? {} : { by }),
    ...(rate === undefined ? {} : { rate: scaledRate(rate, bad) }),
    ...(step === undefined ? {} : { stepMicros: step }),
    ...(ago === undefined ? {} : { agoMicros: ago }),
    ...(keep === undefined ? {} : { keep }),
    ...(bytesPerSecond === undefined ? {} : { bytesPerSecond }),
    ...(request === "" ? {} : { request }),
    ...(body === undefined ? {} : { body }),
    ...(how === undefined ? {} : { how }),
    ...(calls === undefined ? {} : { calls }),
    ...(resource === undefined ? {} : { resource }),
    ...(method === undefined ? {} : { method }),
    ...(figures === undefined ? {} : { figures }),
    ...(pod === undefined ? {} : { pod }),
  };
}

/** `any` becomes one of those that it can happen to. Of a pair that is a client and a server. */
function somebody({ verb, places, how, calls }: ScenarioFault, scenario: Scenario, prng: Prng): readonly string[] {
  const servers = serverNames(scenario.cluster.apiservers);
  const clients = scenario.clients.map(({ name }) => name);
  const pick = (from: readonly string[]): string => from[prng.intInclusive(0, from.length - 1)] as string;
  if (places.length === 2) {
    const isServer = (name: string | undefined): boolean => name !== undefined && servers.includes(name);
    const drawn = places.map((name, end) =>
      name === "any" ? pick(isServer(places[1 - end]) || end === 0 ? clients : servers) : name,
    );
    // One way: which one, is drawn as well when nobody is named.
    return verb === "cut" && places.every((name) => name === "any") && prng.chance(1, 2) ? drawn.reverse() : drawn;
  }
  const called = calledOf(scenario.access, scenario.clients);
  const agents = scenario.clients.flatMap(({ name, kind }) => (kind === "agent" ? [name] : []));
  const candidates = ["misbehave", "delay", "rotate"].includes(verb)
    ? sufferersOf(called, verb, how)
    : ["reboot", "press", "misreport"].includes(verb)
      ? agents
      : calls === undefined
        ? undefined
        : clients;
  if (candidates !== undefined) return places.map((name) => (name === "any" ? pick(candidates) : name));
  const isOfServers = ["forget", "lag", "stall", "throttle"].includes(verb);
  return places.map((name) => (name === "any" ? pick(isOfServers ? servers : [...clients, ...servers]) : name));
}

/** Goes through the faults by time, and leaves out those that would be one too many. */
function withinBudget(faults: readonly PlannedFault[], { budget, safety, until }: Scenario): readonly PlannedFault[] {
  const kept: PlannedFault[] = [];
  let ends: Micros[] = [];
  for (const fault of faults) {
    if (kept.length >= budget.total) break;
    ends = ends.filter((end) => end > fault.atMicros);
    const isDown = fault.verb === "crash" || fault.verb === "reboot";
    const lasts = faultVerbs[fault.verb].lasts || (isDown && fault.forMicros !== undefined);
    if (lasts && ends.length >= budget.atOnce) continue;
    kept.push(fault);
    if (fault.verb === "heal") ends = [];
    if (lasts) ends.push(fault.forMicros === undefined ? (safety ?? until) : fault.atMicros + fault.forMicros);
  }
  return kept;
}

const draw = ({ min, max }: Span, prng: Prng): number => {
  // A draw spans less than 2^32: longer spans are drawn in milliseconds.
  if (max - min < 4_000_000_000) return prng.intInclusive(min, max);
  return Math.min(max, min + 1000 * prng.intInclusive(0, Math.floor((max - min) / 1000)));
};
const inverse = ({ numerator, denominator }: Ratio): Ratio => ({ numerator: denominator, denominator: numerator });
const scaled = (value: number, { numerator, denominator }: Ratio): number =>
  Math.floor((value * numerator) / denominator);
const scaledRate = (rate: Ratio, by: Ratio): Ratio => {
  const denominator = rate.denominator * by.denominator;
  return { numerator: Math.min(rate.numerator * by.numerator, denominator), denominator };
};
const rateText = ({ numerator, denominator }: Ratio): string => `${numerator}/${denominator}`;
const seconds = (micros: number): string => `${micros / 1_000_000}s`;
