/**
 * Puts a simulated cluster together for a test: server, store, network, the ways in, and the test's clock. The code
 * under test (a controller, an informer, a client) sees the server through whichever way in it can take, and virtual
 * `Date`, timers and chance everywhere else. The same seed gives the same run.
 */
import type { RequestHandler } from "msw";
import { didYouMean } from "../../wire/near-names.ts";
import type { Transport } from "../../wire/ports.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import { Cluster as SimulatedCluster, type ServerSettings } from "../cluster/cluster.ts";
import type { Member } from "../cluster/member.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import { profiles } from "../contract/profile.ts";
import { noControllers } from "../control/controllers.ts";
import { type ServerBugName, serverBugNames, bugsOn } from "../planted/server-bugs.ts";
import { embeddedTransport, virtualClock } from "../http/embedded-transport.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Trace, TraceRecord } from "../kernel/trace.ts";
import { installTrap } from "../kernel/trap.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import { VirtualDriver } from "../kernel/virtual-driver.ts";
import type { NetworkOptions } from "../network/network.ts";
import { type Breakable, breakable, type OpenRequest } from "./breakable-transport.ts";
import { callerHere } from "./caller.ts";
import { checkOptions } from "./check-options.ts";
import type { Cluster, ClusterOptions, WriteFilter, WriteRecord } from "./cluster.ts";
import { createObjects } from "./create-objects.ts";
import { type Duration, durationMicros } from "./duration.ts";
import { transportFetch } from "./fetch.ts";
import { interceptOrigin, mswHandlers } from "./interception.ts";
import { Macrotasks } from "./macrotasks.ts";
import { waitingText, warnOfStandstill } from "./open-cluster.ts";
import { watchOutsideWork } from "./outside-work.ts";
import { type HostCheck, ownHosts } from "./own-hosts.ts";
import type { TimedTransport } from "./patience.ts";
import { currentWay, LaunchedProgram, mortalSink, type Program, type ProgramMain, type WayIn } from "./program.ts";
import { budgeted } from "./request-budget.ts";
import { TestClock, type Within } from "./test-clock.ts";
import { TransportDispatcher } from "./undici-dispatcher.ts";
import { installVirtualGlobals } from "./virtual-globals.ts";
import { WriteHistory } from "./write-history.ts";

const token = "touchstone-testing";
const url = "http://touchstone.test";
const traceRecordsMaxDefault = 4096;
const requestsPerInstantMaxDefault = 10_000;

/** Starts a cluster. Its time is 0 and stands still until the test moves it. */
export function createCluster(options: ClusterOptions = {}): Promise<Cluster> {
  return createTestCluster(options);
}

/** Stands between a program and the servers: `fresh`, and another one whose caches can be held back. */
export type Between = (fresh: ApiHandler, held: ApiHandler) => ApiHandler;

export interface TestClusterParts {
  /** For every life of every program. Default: nothing stands between, and there is one server. */
  readonly between?: Between;
}

export async function createTestCluster(options: ClusterOptions, parts: TestClusterParts = {}): Promise<TestCluster> {
  checkOptions(options);
  const cluster = new TestCluster(options, parts, callerHere());
  try {
    if (options.objects !== undefined) await cluster.create(options.objects);
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

export class TestCluster implements Cluster {
  readonly url = url;
  readonly token = token;
  readonly fetch: typeof globalThis.fetch;
  readonly direct: typeof globalThis.fetch;
  readonly dispatcher: TransportDispatcher;
  readonly trace: Cluster["trace"];

  readonly #options: ClusterOptions;
  readonly #createdAt: string;
  readonly #kernel: Kernel;
  readonly #macrotasks = new Macrotasks();
  readonly #driver: VirtualDriver;
  readonly #clock: TestClock;
  /** Stands for the machines: what happens to the server happens in its events. */
  readonly #site: Process;
  readonly #cluster: SimulatedCluster;
  readonly #bugs: Record<ServerBugName, boolean>;
  /** Of the code under test: first what belongs to no program, then one for each that runs. */
  readonly #ways: WayIn[] = [];
  readonly #between: Between | undefined;
  readonly #checkHost: HostCheck;
  readonly #programs: LaunchedProgram[] = [];
  readonly #directTransport: Transport;
  readonly #writes: WriteHistory;
  readonly #restores: (() => void)[] = [];
  readonly #server: Member<ApiServer>;
  #held: Member<ApiServer> | undefined;
  #cacheLagMicros: number;
  #cancelStart: Cancel = () => undefined;

  constructor(options: ClusterOptions, { between }: TestClusterParts, createdAt: string) {
    this.#options = options;
    this.#between = between;
    this.#createdAt = createdAt;
    this.#bugs = { ...bugsOn(options.bugs ?? []) };
    this.#cacheLagMicros = durationMicros(options.cacheLag ?? "0s");
    this.#kernel = new Kernel({ seed: options.seed ?? "1", trace: traceOptions(options.traceRecordsMax) });
    this.#driver = new VirtualDriver(this.#kernel, {
      processName: "test",
      maxVirtualMicros: Number.MAX_SAFE_INTEGER,
      turn: () => this.#macrotasks.turn(),
    });
    this.#clock = new TestClock({
      kernel: this.#kernel,
      driver: this.#driver,
      process: this.#kernel.process("test-clock"),
    });
    this.#site = this.#kernel.process("site");
    this.#cluster = new SimulatedCluster({ kernel: this.#kernel, network: networkOptions(options) });
    this.#server = this.#driver.enter(this.#site, () =>
      this.#cluster.addServer("apiserver", () => this.#serverSettings()),
    );
    this.#writes = new WriteHistory(this.#cluster.store, () => this.#kernel.nowMicros());
    if (between !== undefined) this.#addHeldServer();
    const checkHost: HostCheck = ownHosts(url, options.hosts ?? []);
    this.#checkHost = checkHost;
    const own = this.#wayIn("client", (client) => this.#cluster.api(client));
    this.#ways.push(own);
    const timedNow = (): TimedTransport => (currentWay() ?? own).timed;
    this.fetch = transportFetch(timedNow, checkHost);
    this.dispatcher = new TransportDispatcher(timedNow, checkHost);
    const { timed: direct } = this.#wayIn("administrator", (client) => this.#cluster.api(client), { isBounded: false });
    this.#directTransport = direct;
    this.direct = transportFetch(() => direct, checkHost);
    const { trace } = this.#kernel;
    this.trace = { hash: () => trace.hash(), records: () => recordsOf(trace) };
    if (options.virtualGlobals ?? true) this.#takeOver();
  }

  get kernelTrace(): Trace {
    return this.#kernel.trace;
  }

  async mswHandlers(): Promise<RequestHandler[]> {
    const { result, end } = await this.outside("loading msw", () => mswHandlers(url, this.fetch));
    this.#restores.push(end);
    return result;
  }

  async intercept(): Promise<() => void> {
    const end = await this.outside("loading the interceptor", () => interceptOrigin(url, this.fetch));
    this.#restores.push(end);
    return end;
  }

  nowMicros(): number {
    return this.#kernel.nowMicros();
  }

  advance(duration: Duration): Promise<void> {
    return this.#clock.advance(duration);
  }

  settle(): Promise<void> {
    return this.#clock.settle();
  }

  runUntil(condition: () => boolean | Promise<boolean>, options: Within = {}): Promise<void> {
    return this.#clock.runUntil(condition, options);
  }

  run<T>(main: () => Promise<T>, options: Within = {}): Promise<T> {
    return this.#clock.run(main, options);
  }

  outside<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#driver.holds.outside(name, work);
  }

  create(objects: string | readonly JsonObject[]): Promise<readonly JsonObject[]> {
    const { dialect } = profiles[this.#options.profile ?? "kubernetes"];
    return createObjects(this.direct, url, dialect, objects);
  }

  writes(filter: WriteFilter = {}): readonly WriteRecord[] {
    return this.#writes.matching(filter);
  }

  openRequestCount(): number {
    return this.openRequests().length;
  }

  openRequests(): readonly OpenRequest[] {
    const open = this.#ways.flatMap(({ broken }) => broken.openRequests());
    return open.sort((one, other) => one.sinceMicros - other.sinceMicros);
  }

  launch(main: ProgramMain): Program {
    const program = this.prepare(main, () => undefined);
    program.start();
    return program;
  }

  /** As `launch`, but for its first start. `threw` hears of an exception that ended the program. */
  prepare(main: ProgramMain, threw: () => void): Program {
    if (this.#options.virtualGlobals === false)
      throw new Error("launch: a program can only die where timers are virtual: leave out virtualGlobals: false");
    const name = `client-${this.#programs.length + 1}`;
    const program = new LaunchedProgram(
      {
        wayIn: (isAlive) => this.#programWay(name, isAlive),
        machine: ({ timed }) => ({
          url,
          token,
          fetch: transportFetch(() => timed, this.#checkHost),
          dispatcher: new TransportDispatcher(() => timed, this.#checkHost),
        }),
        ended: (way) => this.#ways.splice(this.#ways.indexOf(way), 1),
        threw,
      },
      main,
    );
    this.#programs.push(program);
    return program;
  }

  setBug(name: ServerBugName, on: boolean): void {
    if (!serverBugNames.includes(name))
      throw new Error(
        `no bug is named ${name}${didYouMean(name, serverBugNames) || `; there are: ${serverBugNames.join(", ")}`}`,
      );
    this.#bugs[name] = on;
  }

  disconnect(): void {
    for (const { broken } of [...this.#ways]) broken.reset();
  }

  partition(): void {
    this.#atSite(() => this.#cluster.network.partition("client*", "apiserver*"));
  }

  heal(): void {
    this.#atSite(() => this.#cluster.network.heal("client*", "apiserver*"));
  }

  restartServer({ downFor = "0s" }: { readonly downFor?: Duration } = {}): void {
    const downMicros = durationMicros(downFor);
    this.#atSite(() => {
      this.#cancelStart();
      this.#server.crash();
      if (downMicros === 0) this.#server.start();
      else this.#cancelStart = this.#site.clock.after(downMicros, () => this.#server.start());
    });
  }

  compact(): void {
    this.#atSite(() => {
      const { store } = this.#cluster;
      store.compact(store.revision);
      this.#server.made.forgetHistory();
      this.#site.trace("compact", store.revision);
    });
  }

  setCacheLag(lag: Duration): void {
    this.#cacheLagMicros = durationMicros(lag);
    this.#atSite(() => {
      if (this.#server.isAlive) this.#server.made.setCacheLag(this.#cacheLagMicros);
    });
  }

  makeUnreadable(path: string): void {
    this.#atSite(() => {
      this.#server.made.makeUnreadable(path);
      this.#site.trace("unreadable", path);
    });
  }

  /** Everything that is stored, by key. */
  stored(): ReadonlyMap<string, JsonObject> {
    const range = this.#cluster.store.range("", "", { count: false });
    const items = typeof range === "string" ? [] : range.items;
    return new Map(items.map(({ key, value }) => [key, value as JsonObject]));
  }

  /** In an event of the machines, so much later; outside of it, `task` runs as user code does. */
  later(delayMicros: Micros, task: () => void): Cancel {
    return this.#site.clock.after(delayMicros, () => this.#macrotasks.post(task));
  }

  /** Whether the caches of the second server stand still. */
  holdCaches(isHeld: boolean): void {
    this.#atSite(() => this.#held?.made.setCacheLag(isHeld ? Number.POSITIVE_INFINITY : 0));
  }

  async close(): Promise<void> {
    for (const program of this.#programs) program.crash();
    for (const { broken } of this.#ways) await broken.close();
    await this.#directTransport.close();
    this.#clock.fail(new Error("the cluster is closed"));
    // What the code under test still does about it belongs to this cluster, and not to the next one.
    await this.#macrotasks.turn();
    for (const restore of this.#restores.splice(0).reverse()) restore();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What the test does to the cluster is an entry of the run like any other, and shows in its trace. */
  #atSite(work: () => void): void {
    this.#driver.enter(this.#site, work);
  }

  #wayIn(name: string, handlerOf: (client: Process) => ApiHandler, { isBounded = true } = {}): WayIn {
    const client = this.#kernel.process(name);
    const headers = { authorization: `Bearer ${token}` };
    const embedded = embeddedTransport({ driver: this.#driver, handler: handlerOf(client), client, headers });
    const broken: Breakable = breakable(embedded, () => this.#kernel.nowMicros());
    const timed = { ...broken, clock: virtualClock(client) };
    return { broken, timed: isBounded ? this.#budgeted(timed) : timed, crash: () => client.crash() };
  }

  /** The name begins as the client's, so that what befalls its links befalls every program. */
  #programWay(name: string, isAlive: () => boolean): WayIn {
    const way = this.#wayIn(name, (client) => {
      const fresh = this.#cluster.api(client, "apiserver");
      return this.#between === undefined ? fresh : this.#between(fresh, this.#cluster.api(client, "apiserver-2"));
    });
    const { timed } = way;
    const open: TimedTransport["open"] = (request, sink) =>
      isAlive() ? timed.open(request, mortalSink(sink, isAlive)) : () => undefined;
    this.#ways.push(way);
    // The same object throughout: it is how the way is found again.
    return Object.assign(way, { timed: { ...timed, open } });
  }

  #addHeldServer(): void {
    this.#held = this.#driver.enter(this.#site, () =>
      this.#cluster.addServer("apiserver-2", () => ({ ...this.#serverSettings(), controllers: noControllers })),
    );
  }

  /** Code that asks without end at one instant fails whatever runs now or is run later. */
  #budgeted(transport: TimedTransport): TimedTransport {
    return budgeted(transport, {
      requestsMax: this.#options.requestsPerInstantMax ?? requestsPerInstantMaxDefault,
      nowMicros: () => this.#kernel.nowMicros(),
      exceeded: (error) => this.#clock.fail(error),
    });
  }

  #serverSettings(): ServerSettings {
    const { profile, historyWindow, featureGates, controllers = true } = this.#options;
    return {
      profile: profiles[profile ?? "kubernetes"],
      bugs: this.#bugs,
      tokens: [{ token, user: "test", uid: "test", groups: ["system:masters"] }],
      cacheLagMicros: this.#cacheLagMicros,
      controllers: controllers ? {} : noControllers,
      ...(featureGates === undefined ? {} : { featureGates }),
      ...(historyWindow === undefined ? {} : { historyWindowMicros: durationMicros(historyWindow) }),
    };
  }

  /** Real time and chance are out of reach from here on: the test's are made virtual, and the kernel's own use is trapped. */
  #takeOver(): void {
    const process = this.#kernel.process("user-code");
    const post = (task: () => void): void => this.#macrotasks.post(task);
    const { restore, waitingTimers } = installVirtualGlobals({
      clock: process.clock,
      prng: process.prng,
      post,
      standsStill: () => !this.#clock.busy,
      createdAt: this.#createdAt,
    });
    this.#restores.push(
      restore,
      warnOfStandstill(() => (this.#clock.busy ? "" : waitingText(waitingTimers()))),
    );
    this.#restores.push(installTrap());
    this.#restores.push(
      watchOutsideWork({
        allowed: () => !this.#clock.busy || this.#driver.holds.openCount > 0,
        found: (error) => this.#clock.fail(error),
        immediateMade: () => this.#macrotasks.immediateMade(),
      }),
    );
  }
}

function networkOptions({ latencyMicros = 0, noticeAfter }: ClusterOptions): NetworkOptions {
  const rules = [
    { from: "client*", to: "apiserver*", latencyMicros },
    { from: "apiserver*", to: "client*", latencyMicros },
  ];
  return { rules, ...(noticeAfter === undefined ? {} : { detectMicros: durationMicros(noticeAfter) }) };
}

const traceOptions = (recordsMax: ClusterOptions["traceRecordsMax"]) =>
  recordsMax === "all" ? { keep: "all" as const } : { tailMax: recordsMax ?? traceRecordsMaxDefault };

function recordsOf(trace: Trace): TraceRecord[] {
  const records: TraceRecord[] = [];
  for (let index = trace.firstKept; index < trace.count; index++) records.push(trace.at(index) as TraceRecord);
  return records;
}
