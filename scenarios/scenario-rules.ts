/** What no single field of a scenario shows: names that must exist, times that must fit, an order that must make sense. */
import type { z } from "zod";
import { didYouMean } from "../wire/near-names.ts";
import { type AccessSection, calledOf, misbehaviours, outsidersOf, sufferersOf } from "./access.ts";
import type { ScenarioFault } from "./fault-rows.ts";

/** What links and clients call the store. */
export const storeName = "store";

/** The names of the servers: `apiserver` when there is one, else `apiserver-1` and so on. */
export function serverNames(apiservers: number | readonly unknown[]): readonly string[] {
  const count = typeof apiservers === "number" ? apiservers : apiservers.length;
  return count === 1 ? ["apiserver"] : Array.from({ length: count }, (_, index) => `apiserver-${index + 1}`);
}

/** What the rules read of a scenario. */
interface Draft {
  readonly until: number;
  readonly safety?: number | undefined;
  readonly cluster: { readonly apiservers: number | readonly unknown[] };
  readonly access: AccessSection;
  readonly clients: readonly {
    readonly name: string;
    readonly kind?: string;
    readonly server?: string | undefined;
    readonly start: number;
    readonly token?: { readonly issuer: string } | undefined;
  }[];
  /** A row with a mistake of its own has not been read, and is left to that. */
  readonly faults: readonly (ScenarioFault | { readonly verb?: never })[];
  readonly expect: readonly {
    readonly by: number;
    readonly requirement?: string;
    readonly client?: string;
    readonly place?: string;
  }[];
  readonly invariants: string | readonly string[];
}

type Path = readonly (string | number)[];
type Add = (path: Path, message: string) => void;

export function checkScenario(scenario: Draft, context: z.RefinementCtx): void {
  const add: Add = (path, message) => context.addIssue({ code: "custom", path: [...path], message });
  const servers = serverNames(scenario.cluster.apiservers);
  const names = checkNames(scenario, servers, add);
  const agents = scenario.clients.flatMap(({ name, kind }) => (kind === "agent" ? [name] : []));
  for (const [index, fault] of scenario.faults.entries()) {
    if (fault.verb === undefined) continue;
    const path = ["faults", index];
    checkTimes(fault, scenario, path, add);
    if (verbsOfOutsiders.has(fault.verb)) checkOutsider(fault, scenario, path, add);
    else checkPlaces(fault, names, servers, agents, path, add);
    if (fault.calls !== undefined && [...servers, storeName].includes(fault.places[0] ?? ""))
      add([...path, "calls"], "a server makes no calls: name a client");
  }
  checkOrder(scenario.faults, add);
  if (scenario.safety !== undefined && scenario.safety >= scenario.until)
    add(["safety"], "nothing is left of the run after it: `until` is when the run ends");
  for (const [index, { by }] of scenario.expect.entries())
    if (by > scenario.until) add(["expect", index, "by"], "the run is over by then");
  checkAccess(scenario, add);
  if (scenario.expect.length === 0 && scenario.invariants === "none")
    add(["expect"], "nothing is expected, and no invariant is judged: the run would tell nothing");
}

function checkNames({ access, clients }: Draft, servers: readonly string[], add: Add): readonly string[] {
  const taken = new Set([...servers, storeName, "any", "network", "scenario"]);
  for (const [list, rows] of [
    ["issuers", access.issuers],
    ["webhooks", access.webhooks],
  ] as const) {
    for (const [index, { name }] of rows.entries()) {
      if (taken.has(name)) add(["access", list, index, "name"], `the name ${name} is taken`);
      taken.add(name);
    }
  }
  const { collector } = access;
  if (collector !== undefined && taken.has(collector.name))
    add(["access", "collector", "name"], `the name ${collector.name} is taken`);
  if (collector !== undefined) taken.add(collector.name);
  for (const [index, { name, server, start }] of clients.entries()) {
    if (taken.has(name)) add(["clients", index, "name"], `the name ${name} is taken`);
    taken.add(name);
    if (server !== undefined && server !== "any" && !servers.includes(server))
      add(["clients", index, "server"], `no server is called ${server}; there are ${servers.join(", ")}, and any`);
    if (start > 0 && !Number.isFinite(start)) add(["clients", index, "start"], "must be finite");
  }
  return [...servers, ...clients.map(({ name }) => name)];
}

function checkTimes(fault: ScenarioFault, { until, safety = until }: Draft, path: Path, add: Add): void {
  const over = safety < until ? "the safety phase is over by then" : "the run is over by then";
  if (fault.at !== undefined && fault.at >= safety) add([...path, "at"], over);
  if (fault.from !== undefined && fault.from >= safety) add([...path, "from"], over);
}

function checkPlaces(
  fault: ScenarioFault,
  names: readonly string[],
  servers: readonly string[],
  agents: readonly string[],
  path: Path,
  add: Add,
): void {
  const { verb, places } = fault;
  const isPair = places.length === 2;
  if (verbsOfAgents.has(verb) && agents.length === 0)
    return add([...path, verb], "this happens to clients of kind agent, and there is none");
  const known = isPair
    ? names
    : verbsOfServers.has(verb)
      ? servers
      : verbsOfStore.has(verb)
        ? storeAnd(servers)
        : verbsOfAgents.has(verb)
          ? agents
          : [...names, storeName];
  for (const [end, name] of places.entries()) {
    if (name === "any" || known.includes(name) || (isPair && isPatternOf(name, known))) continue;
    add(
      [...path, verb, ...(isPair ? [end] : [])],
      `nobody that this can happen to is called ${name}; there are ${known.join(", ")}${didYouMean(name, known)}`,
    );
  }
  if (isPair && places.every((name) => servers.includes(name)))
    add([...path, verb], "servers do not talk to one another, but to clients");
}

const verbsOfOutsiders: ReadonlySet<string> = new Set(["misbehave", "delay", "rotate"]);

/** Of the names of those whom servers and agents call. */
function checkOutsider({ verb, places, how, method }: ScenarioFault, draft: Draft, path: Path, add: Add): void {
  const known = calledOf(draft.access, draft.clients);
  const [name = ""] = places;
  const kind = known.get(name);
  if (name === "any") {
    if (sufferersOf(known, verb, how).length === 0) add([...path, verb], "there is nobody to whom this can happen");
  } else if (kind === undefined) {
    const there = known.size === 0 ? "the section access names nobody" : `there are ${[...known.keys()].join(", ")}`;
    add(
      [...path, verb],
      `no issuer, webhook or collector is called ${name}; ${there}${didYouMean(name, [...known.keys()])}`,
    );
  } else if (verb === "rotate" && kind !== "issuer") add([...path, verb], `${name} is a ${kind}, and has no keys`);
  else if (how !== undefined && !(misbehaviours[kind] as readonly string[]).includes(how))
    add([...path, "how"], `no ${kind} does that; there are ${misbehaviours[kind].join(", ")}`);
  else if (method !== undefined && kind !== "runtime") add([...path, "method"], `${name} is a ${kind}, and no runtime`);
  if (method !== undefined && how === "unready") add([...path, "method"], "a runtime is unready as a whole");
}

/** Names between the section `access`, clients and what is expected of them. */
function checkAccess({ access, clients, expect }: Draft, add: Add): void {
  const issuers = access.issuers.map(({ name }) => name);
  const said = (name: string, known: readonly string[]): string =>
    known.length === 0 ? "; there is none" : `; there are ${known.join(", ")}${didYouMean(name, known)}`;
  for (const [index, { token }] of clients.entries())
    if (token !== undefined && !issuers.includes(token.issuer))
      add(["clients", index, "token", "issuer"], `no issuer is called ${token.issuer}${said(token.issuer, issuers)}`);
  const callers = clients.flatMap(({ kind, name }) => (kind === "caller" ? [name] : []));
  const outsiders = [...outsidersOf(access).keys()];
  for (const [index, { client, place }] of expect.entries()) {
    if (client !== undefined && !callers.includes(client))
      add(["expect", index, "client"], `no caller is called ${client}${said(client, callers)}`);
    if (place !== undefined && !outsiders.includes(place))
      add(["expect", index, "place"], `no issuer, webhook or collector is called ${place}${said(place, outsiders)}`);
  }
}

const verbsOfServers: ReadonlySet<string> = new Set(["forget", "lag", "stall", "throttle"]);
const verbsOfAgents: ReadonlySet<string> = new Set(["reboot", "press", "misreport"]);
const verbsOfStore: ReadonlySet<string> = new Set(["compact", "fill", "restore"]);
// The server that clients see compacts the store behind it.
const storeAnd = (servers: readonly string[]): readonly string[] => [storeName, ...servers];

const isPatternOf = (name: string, known: readonly string[]): boolean =>
  name.endsWith("*") && known.some((one) => one.startsWith(name.slice(0, -1)));

/** A heal of what was never broken before it does nothing: the two were probably swapped. */
function checkOrder(faults: Draft["faults"], add: Add): void {
  if (faults.some(({ verb }) => verb === undefined)) return;
  for (const [index, heal] of faults.entries()) {
    if (heal.verb !== "heal" || heal.at === undefined) continue;
    const at = heal.at;
    const breaks = faults.some(
      (other) =>
        other.verb !== undefined &&
        other.verb !== "heal" &&
        touches(other, heal) &&
        (other.at === undefined ? (other.from ?? 0) < at : other.at < at),
    );
    if (!breaks)
      add(
        ["faults", index, "at"],
        `nothing between ${heal.places.join(" and ")} is broken before then: a heal follows what it undoes`,
      );
  }
}

/** Whether the heal could undo something of the other: by the same two names, or because either is drawn or a pattern. */
function touches(other: ScenarioFault, heal: ScenarioFault): boolean {
  const isOpen = (name: string): boolean => name === "any" || name.endsWith("*");
  if (other.verb === "isolate") return other.places.some((name) => isOpen(name) || heal.places.includes(name));
  if (other.places.length !== 2) return false;
  if ([...other.places, ...heal.places].some(isOpen)) return true;
  return heal.places.every((name) => other.places.includes(name));
}
