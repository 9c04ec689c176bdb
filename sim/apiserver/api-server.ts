/**
 * The simulated API server: one front-end on a store. A request is authenticated, takes a seat, is authorized,
 * routed, decoded, admitted, validated, stored and answered, in the order of the real server's filters
 * (401 before 429 before 403 before 404, 405 and 406). See `requests/run.ts` for a request's states.
 * Source: document 1; the facts.
 */
import { drained } from "../../wire/steps.ts";
import { type Drawn, RareBugs } from "../planted/rare-bugs.ts";
import type { ServerBugName, ServerBugs } from "../planted/server-bugs.ts";
import {
  accessWith,
  authenticatorWith,
  authorizerWith,
  claimReaderWith,
  type Permits,
  permitsWith,
} from "../planted/wrappers/access-wrappers.ts";
import { type Compress, compressWith } from "../planted/wrappers/compress-wrappers.ts";
import { customResourceWith, tornDownWith } from "../planted/wrappers/custom-wrappers.ts";
import { webhooksWith } from "../planted/wrappers/webhook-wrappers.ts";
import { writerWith } from "../planted/wrappers/write-wrappers.ts";
import { type Misread, misreader } from "../planted/wrappers/misreader.ts";
import { plantedOf } from "../planted/wrappers/planted.ts";
import { frontEndWith } from "../planted/wrappers/late-front-end.ts";
import { readSeams, readsWith } from "../planted/wrappers/reads.ts";
import { serverSeen } from "../planted/wrappers/server-seen.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import { inEvents } from "../kernel/in-events.ts";
import { admissionPlugins, nobodyAnswers } from "./admission/plugins.ts";
import { goQuote } from "../../wire/go-strings.ts";
import { askEach, type AskingPorts, type Refused } from "./access/ask-each.ts";
import { asksToActAs, impersonation } from "./access/impersonate.ts";
import { Access } from "./access/access.ts";
import { type Authenticator, staticTokens, type User } from "./access/authenticate.ts";
import { ServiceAccountTokens } from "./access/service-account-tokens.ts";
import { hmacSigner } from "./access/token-signer.ts";
import { alwaysAllow, type Authorizer, type Decision, escapeHtml, refusal } from "./access/authorize.ts";
import { authorizersOf } from "./access/modes.ts";
import { escalationCheck } from "./admission/rbac-escalation.ts";
import { type RbacObjects, RbacPolicy } from "./access/rbac/policy.ts";
import { CustomResources } from "./catalogue/custom-resources.ts";
import { isCustomPlace, requireCustomVerb } from "./requests/custom-verbs.ts";
import { NonResources } from "./discovery/non-resources.ts";
import { versionDocument } from "./discovery/version.ts";
import { ApiError, noSuchResource, notFound } from "../contract/errors.ts";
import type { Packing } from "../contract/compression.ts";
import type { ApiHandler, ApiRequest, Payload, Responder } from "../contract/http-message.ts";
import type { ReloadedFile } from "./metrics/access-metrics.ts";
import { ServerMetrics } from "./metrics/server-metrics.ts";
import { attributesOf } from "./requests/attributes.ts";
import { requestMicrosMaxDefault, requestTimeout } from "./requests/deadline.ts";
import { FlowControl } from "./requests/flow-control.ts";
import { Negotiator } from "./answers/negotiate.ts";
import { auditIdOf, respondError, respondText } from "./answers/respond.ts";
import { type ResourcePlace, requireVerb, Router, verbOf } from "./requests/route.ts";
import { Run, type RunHost } from "./requests/run.ts";
import { WritersInTurn } from "./requests/writers-in-turn.ts";
import { LargeRequests } from "./requests/large-requests.ts";
import { defaultLimits, Seats } from "./requests/seats.ts";
import { routeOf } from "./requests/route-name.ts";
import { SpanBatches } from "./requests/span-batches.ts";
import { tracedStore } from "./requests/traced-store.ts";
import { Tracer } from "./requests/tracer.ts";
import { parseQuery } from "./requests/url.ts";
import { type Profile, svcProfile } from "../contract/profile.ts";
import { nowhereToForward } from "./proxy/forward.ts";
import { defaultAddressTypes } from "./proxy/address-types.ts";
import { Encoders } from "./encodings/encode.ts";
import { Encodings } from "./encodings/encodings.ts";
import type { ServerContext } from "./verbs/server-context.ts";
import { configurationSteps } from "../objects/apply/configuration.ts";
import { jsonBodySteps, jsonReadings } from "../objects/json-body.ts";
import { yamlBodySteps } from "../objects/yaml-body.ts";
import { NoObjectPath, unreadableOf } from "../contract/unreadable.ts";
import { defaultServiceNetwork } from "./verbs/service-network.ts";
import { Verbs } from "./verbs/verbs.ts";
import type { HistoryLimit } from "./cache/history-limit.ts";
import type { QueueCounts } from "../client/queue-counts.ts";
import type { ApiServerOptions, CostModel } from "./api-server-options.ts";

export type { ApiServerOptions, CostModel } from "./api-server-options.ts";

const nothing: Cancel = () => {};
/** A configuration that begins so is mostly JSON, and is read as that first. */
const free: CostModel = { seatMicros: () => 0, answerMicros: () => 0 };
const fiveMinutes: Micros = 300_000_000;
const oneHour: Micros = 3_600_000_000;
const advertisedUrlDefault = "https://127.0.0.1:6443";

export function createApiServer(options: ApiServerOptions): ApiServer {
  return new ApiServer(options);
}

export class ApiServer implements ApiHandler, RunHost {
  readonly clock: ServerContext["clock"];
  /** With the gates in force. */
  readonly profile: Profile;
  readonly bugs: ServerBugs;
  readonly rare: RareBugs<ServerBugName> | undefined;
  private readonly misread: Misread | undefined;
  private readonly compress: Compress;
  private readonly flowControl: FlowControl;
  private readonly process: Process;
  private readonly context: ServerContext;
  private readonly router: Router;
  /** Who comes in and what they may: configuration files can change it while the server runs. */
  readonly access: Access;
  private readonly authenticate: Authenticator;
  private readonly authorize: Authorizer;
  private readonly permits: Permits;
  private readonly costs: CostModel;
  private readonly requestTimeoutMicros: Micros;
  private readonly largeRequests: LargeRequests;
  readonly writersInTurn: WritersInTurn;
  private readonly reads: Seats;
  private readonly mutations: Seats;
  private readonly metrics: ServerMetrics;
  private readonly startedUnixSeconds: number;
  private readonly processFigures: ApiServerOptions["processFigures"];
  private readonly nonResources: NonResources;
  private readonly verbs: Verbs;
  private readonly rbacObjects: RbacObjects;
  private readonly asking: AskingPorts;
  private readonly runs = new Set<Run>();
  private readonly tracer: Tracer | undefined;
  private readonly spans: SpanBatches | undefined;
  private requestCount = 0;

  constructor(options: ApiServerOptions) {
    const { process, tracing } = options;
    const log = options.log ?? (() => {});
    const spans = tracing === undefined ? undefined : new SpanBatches(process.clock, tracing.send, log);
    const tracer =
      spans === undefined
        ? undefined
        : new Tracer({
            clock: process.clock,
            prng: process.prng.stream("traces"),
            samplesPerMillion: tracing?.samplesPerMillion,
            finished: (span) => spans.add(span),
          });
    this.spans = spans;
    this.tracer = tracer;
    const store = tracer === undefined ? options.store : tracedStore(options.store, tracer);
    const base = options.profile ?? svcProfile;
    const profile = { ...base, featureGates: { ...base.featureGates, ...options.featureGates } };
    const { bugRarity = 1 } = options;
    const rareOf = (all: ServerBugs) => new RareBugs(all, bugRarity, process.prng.stream("rare bugs"));
    const given = plantedOf(options.bugs);
    this.rare = bugRarity === 1 ? undefined : rareOf(given.bugs);
    const planted = { ...given, bugs: this.rare?.switches ?? given.bugs };
    const issuer = options.serviceAccountIssuer ?? `https://${base.dialect.name}.default.svc`;
    const audiences = options.audiences?.length ? options.audiences : [issuer];
    const tokens = new ServiceAccountTokens({
      signer: options.tokenSigner ?? hmacSigner(process.prng.stream("token key")),
      issuer,
      audiences,
      labelSuffix: base.dialect.labelSuffix,
      nowSeconds: () => Math.floor((process.clock.epochUnixMillis + process.clock.nowMicros() / 1000) / 1000),
      stored: (resource, namespace, name) => this.verbs.storedCore(resource, namespace, name),
    });
    const limits = { ...defaultLimits, ...options.limits };
    const { dialect } = profile;
    this.process = process;
    this.clock = process.clock;
    this.profile = profile;
    this.bugs = planted.bugs;
    this.flowControl = new FlowControl(dialect, process.prng.stream("flow control"));
    this.metrics = new ServerMetrics(dialect);
    const custom = new CustomResources({ store, process, dialect, resourceOf: customResourceWith(planted) });
    this.router = new Router(dialect, custom);
    const policy = new RbacPolicy(dialect, () => this.rbacObjects);
    this.access = new Access(
      {
        clock: process.clock,
        counts: this.metrics.access,
        policy,
        tables: [staticTokens(options.tokens ?? [], audiences)],
        issued: (token, asked, done) =>
          inEvents(process.clock, tokens.reading(token, asked), (outcome) => done(outcome())),
        audiences,
        anonymousAuth: options.anonymousAuth ?? profile.anonymousAuth,
        modes: authorizersOf(options.authorizationModes ?? ["AlwaysAllow"]),
        log,
        readClaims: claimReaderWith(planted),
      },
      options.access && accessWith(planted, options.access),
    );
    const { authenticate, authorize, lookupToken, rulesOf, prepareRules, hasRoles } = this.access;
    const decide = authorizerWith(planted, authorize);
    this.authenticate = authenticatorWith(planted, authenticate);
    this.authorize = options.authorizer ?? decide;
    this.asking = { clock: process.clock, authorize: this.authorize, labour: policy.labour };
    this.permits = permitsWith(planted, (run, asked, done) => this.authorize(run.user, asked, done));
    this.startedUnixSeconds = (process.clock.epochUnixMillis + process.clock.nowMicros() / 1000) / 1000;
    this.processFigures = options.processFigures;
    const plugins = admissionPlugins({
      process,
      dialect,
      authorizer: this.authorize,
      metrics: this.metrics.webhooks,
      reads: () => this.verbs,
      webhooks: webhooksWith(planted, {
        configurations: (kind) => this.verbs.webhookConfigurations(kind),
        call: options.webhooks ?? nobodyAnswers,
      }),
      refusals: hasRoles ? [escalationCheck({ clock: process.clock, dialect, policy, decide, rulesOf })] : [],
    });
    this.costs = options.costs ?? free;
    this.requestTimeoutMicros = options.requestTimeoutMicros ?? requestMicrosMaxDefault;
    this.largeRequests = new LargeRequests(process.clock);
    this.writersInTurn = new WritersInTurn(process.clock);
    this.reads = new Seats(process.clock, limits.readsMax, limits.queueMax, limits.queueWaitMicrosMax);
    this.mutations = new Seats(process.clock, limits.mutationsMax, limits.queueMax, limits.queueWaitMicrosMax);
    this.context = {
      process,
      clock: process.clock,
      store,
      unreadable: unreadableOf(options.store),
      profile,
      negotiator: new Negotiator(dialect, profile.featureGates),
      encoders: new Encoders(dialect),
      encodings: new Encodings(options.encodingBudgetBytes ?? 64 * 1024 * 1024),
      custom,
      metrics: this.metrics,
      authorizer: this.authorize,
      rulesOf,
      prepareRules,
      lookupToken,
      tokens,
      meter: options.meter,
      forward: options.forward ?? nowhereToForward,
      agentAddressTypes: options.agentAddressTypes ?? defaultAddressTypes,
      serviceNetwork: options.serviceNetwork ?? defaultServiceNetwork,
      admission: [...(options.admission ?? []), ...plugins],
      readSeams: readSeams(planted, process, store),
      protectedNamespaces: new Set(["default", dialect.systemNamespaces.system, dialect.systemNamespaces.public]),
    };
    this.nonResources = new NonResources(this.context, options.advertisedUrl ?? (() => advertisedUrlDefault), {
      pieces: () => this.metricsPieces(),
      isLong: () => this.metrics.requests.isLong,
    });
    this.verbs = new Verbs(this.context, {
      historyWindowMicros: options.historyWindowMicros ?? fiveMinutes,
      historyBytesMax: options.historyBytesMax,
      cacheLagMicros: options.cacheLagMicros ?? 0,
      eventTtlMicros: options.eventTtlMicros ?? oneHour,
      bootstrap: options.bootstrap ?? true,
      bootstrapRoles: hasRoles,
      advertisedUrl: options.advertisedUrl === undefined ? advertisedUrlDefault : undefined,
      writerFor: writerWith(planted),
      readsWith: (reads) => readsWith(planted, reads),
      makeFrontEnd: frontEndWith(planted),
    });
    const { router, verbs } = this;
    const { encoders } = this.context;
    const seen = serverSeen({ profile, router, store, process, encoders, keyOf: (place) => verbs.keyOf(place) });
    this.misread = misreader(planted, seen);
    this.compress = compressWith(planted);
    this.rbacObjects = this.verbs.rbacObjects();
    process.onCrash(() => this.abandon());
    for (const path of options.unreadable ?? []) this.makeUnreadable(path);
    if (options.customResources ?? true) this.verbs.startDefinitionController(this);
    custom.onTornDown(tornDownWith(planted, (name) => this.closeStreamsOf(name)));
  }

  /** Whether a complete body leaves packed: adapters ask it, who have the bytes. */
  packingOf(request: ApiRequest, status: number, bodyBytes: number): Packing {
    return this.compress(this.profile, request, status, bodyBytes);
  }

  get alive(): boolean {
    return this.process.alive;
  }

  /** Where the work queues of controllers in the server's process count what they do: its metrics tell of them. */
  get queueCounts(): QueueCounts {
    return this.metrics.queues;
  }

  /** Requests that have no answer yet, watches included. */
  get runsInFlight(): number {
    return this.runs.size;
  }

  /** How far the caches are behind the store from now on, in microseconds ≥ 0. */
  setCacheLag(lagMicros: Micros): void {
    this.verbs.setCacheLag(lagMicros);
  }

  /** Spans that wait for their batch go to the collector now. */
  flushTraces(): void {
    this.spans?.flush();
  }

  /** A configuration file was read again, and taken or not: counted for the metrics. */
  reloaded(file: ReloadedFile, result: "success" | "failure"): void {
    const { clock } = this;
    this.metrics.access.reloaded(file, result, Math.floor((clock.epochUnixMillis + clock.nowMicros() / 1_000) / 1_000));
  }

  /** Says where the server is reached, by its own service. To be called once that is known. */
  advertise(url: string): void {
    this.verbs.advertise(url);
  }

  /** What the store and the caches keep of the past, where that has a bound. */
  get oldVersions(): HistoryLimit | undefined {
    return this.verbs.oldVersions;
  }

  /** The watch caches keep nothing of the past: a watch from an earlier version is answered with 410. */
  forgetHistory(): void {
    this.verbs.forgetHistory();
  }

  /**
   * The object at `path`, now or as soon as it is stored, cannot be read from the store any more: as after the loss of
   * the key that it was encrypted with. An unsafe deletion ends that. Throws `NoObjectPath`.
   */
  makeUnreadable(path: string): void {
    const place = this.router.resolve(path);
    if (place.is !== "resource" || place.place.name === "" || place.place.subresource !== undefined) {
      throw new NoObjectPath(path);
    }
    this.context.unreadable.mark(this.verbs.keyOf(place.place));
  }

  start(request: ApiRequest, responder: Responder): Cancel {
    if (!this.process.alive) return nothing;
    const { rare } = this;
    if (rare === undefined) return this.begin(request, responder, undefined);
    const drawn = rare.draw();
    return rare.during(drawn, () => this.begin(request, responder, drawn));
  }

  private begin(request: ApiRequest, responder: Responder, drawn: Drawn | undefined): Cancel {
    const [read, printer] = this.misread?.(request, responder) ?? [request, responder];
    const run = new Run(this, read, printer, this.requestCount++);
    run.drawn = drawn;
    if (this.tracer !== undefined) run.span = this.tracer.arrived(read);
    run.stage(() => this.arrive(run));
    if ((run.state as string) === "done") return nothing;
    this.runs.add(run);
    return () => run.cancel();
  }

  /** 1. What is asked and by whom; a seat, unless it is a watch. */
  private arrive(run: Run): void {
    const { request } = run;
    run.query = parseQuery(request.query);
    run.place = this.router.resolve(request.path);
    run.deadlineMicros = this.clock.nowMicros() + this.requestTimeoutMicros;
    run.await<User | ApiError>(
      (done) => this.authenticate(request, done),
      (found) => {
        if (found instanceof ApiError) throw found;
        this.authenticated(run, found);
      },
    );
  }

  /** Whoever may act as another is that one from here on. */
  private authenticated(run: Run, user: User): void {
    const { headers } = run.request;
    const wanted = asksToActAs(headers) ? impersonation(headers, this.context.profile.dialect) : undefined;
    if (wanted === undefined) {
      this.identified(run, user);
      return;
    }
    run.await<Refused | undefined>(
      (done) => askEach(this.asking, user, wanted.questions, done),
      (refused) => {
        if (refused !== undefined) throw refusal(user, refused.asked, refused.decision.reason);
        this.identified(run, wanted.user);
      },
    );
  }

  private identified(run: Run, user: User): void {
    const { request, place } = run;
    run.user = user;
    run.flow = this.flowControl.flowOf(run.user, request.path);
    if (place.is === "resource") {
      run.verb = verbOf(place.place, request.method, run.query.flag("watch"));
      // These may take as long as they like, and hold no seat.
      if (run.verb === "watch" || isConnection(place.place)) {
        run.limit(0);
        this.admitToHandler(run);
        return;
      }
    }
    const timeout = requestTimeout(run.query, run.verb, this.requestTimeoutMicros);
    run.limit(run.arrivedMicros + timeout);
    this.takeSeat(run);
  }

  /** 2. A seat now, later, or not at all. */
  private takeSeat(run: Run): void {
    const kind = isMutation(run.request.method) ? "mutations" : "reads";
    if (run.flow?.level === "exempt") {
      this.seated(run);
      return;
    }
    const seats = this[kind];
    if (seats.take()) {
      run.seat = kind;
      this.seated(run);
      return;
    }
    const answer = seats.wait(
      () => {
        run.seat = kind;
        run.unpark("seated");
        run.stage(() => this.seated(run));
      },
      () => this.tooMany(run),
    );
    if (answer === "refused") this.tooMany(run);
    else run.park("queued", answer.waiting, true);
  }

  /** 3. The seat's cost. */
  private seated(run: Run): void {
    const cost = this.costs.seatMicros(run.verb, resourceOf(run));
    if (cost === 0) {
      this.admitToHandler(run);
      return;
    }
    run.park(
      "seated",
      this.clock.after(cost, () => {
        run.unpark("executing");
        run.stage(() => this.admitToHandler(run));
      }),
    );
  }

  /** 4. Authorization. */
  private admitToHandler(run: Run): void {
    run.state = "executing";
    if (run.flow !== undefined) run.flow.dispatchedCount++;
    // Where nobody is ever refused, there is nothing to ask.
    if (this.authorize === alwaysAllow) {
      this.handle(run);
      return;
    }
    const attributes = attributesOf(run);
    run.await<Decision>(
      (done) => this.permits(run, attributes, done),
      (decision) => {
        if (decision.allowed) this.handle(run);
        else if (decision.error === undefined) throw refusal(run.user, attributes, decision.reason);
        else this.undecided(run, decision.error);
      },
    );
  }

  /** Nobody could say: that is no refusal. Source: the facts, section 1, errors of authorizers. */
  private undecided(run: Run, error: string): void {
    const { path, query } = run.request;
    const target = goQuote(escapeHtml(query === "" ? path : `${path}?${query}`));
    respondText(this.context, run, 500, `Internal Server Error: ${target}: ${error}\n`);
  }

  private handle(run: Run): void {
    if (!run.isLarge) {
      this.carryOut(run);
      return;
    }
    run.next(() => {
      const { body, headers } = run.request;
      const type = headers["content-type"] ?? "";
      if (!(body instanceof Uint8Array)) {
        this.carryOut(run);
        return;
      }
      run.await<void>(
        (begin) => this.largeRequests.enter(run, body.length, begin),
        () => {
          run.leaveLine = () => this.largeRequests.leave(run);
          if (/cbor|protobuf/i.test(type)) this.carryOut(run);
          else run.steps(bodySteps(run, body, type), () => run.next(() => this.carryOut(run)));
        },
      );
    });
  }

  /** 5. What is asked for is carried out. */
  private carryOut(run: Run): void {
    const { place } = run;
    if (place.is === "noResource") throw noSuchResource();
    if (place.is === "noSubresource") throw notFound(place.resourceName, place.name);
    if (place.is !== "resource") {
      this.nonResources.answer(run);
      return;
    }
    const { verb } = run;
    if (place.place.row.custom) {
      if (!isCustomPlace(place.place, verb)) {
        this.nonResources.respondNotFound(run);
        return;
      }
      requireCustomVerb(place.place, verb, run.request.method);
    } else requireVerb(place.place, verb);
    this.verbs.carryOut(run, verb);
  }

  /** Watches of a definition that changed or went end; their clients begin again with what there is now. */
  private closeStreamsOf(definition: string): void {
    const torn = [...this.runs].filter(
      ({ verb, place }) =>
        verb === "watch" && place.is === "resource" && this.context.custom.ownerOf(place.place.row) === definition,
    );
    if (torn.length === 0) return;
    // Not within the write that tore them down: their clients may answer at once.
    this.clock.after(0, () => {
      for (const run of torn) {
        if (run.state === "responding") run.close();
        else run.fail(new ApiError(503, "ServiceUnavailable", "the definition of the resource has changed"));
      }
    });
  }

  private tooMany(run: Run): void {
    const headers = { "retry-after": "1" };
    run.isTerminated = true;
    if (run.flow !== undefined) run.flow.rejectedCount++;
    respondText(this.context, run, 429, "Too many requests, please try again later.\n", headers);
  }

  /** What a scrape of its metrics shows now. */
  metricsText(): string {
    return drained(this.metricsPieces()).join("");
  }

  private metricsPieces(): Generator<void, readonly string[]> {
    const { reads, mutations } = this;
    return this.metrics.pieces({
      reads,
      mutations,
      watches: [...this.runs].filter(({ state }) => state === "responding"),
      flows: this.flowControl.flows,
      ...this.verbs.figures(),
      build: versionDocument(this.profile.release),
      startedUnixSeconds: this.startedUnixSeconds,
      process: this.processFigures?.(),
    });
  }

  broke(run: Run, error: unknown): void {
    const { method, path } = run.request;
    this.process.caught(`request ${this.idOf(run)} ${method} ${path}`, error);
  }

  idOf(run: Run): string {
    return auditIdOf(run);
  }

  refuse(run: Run, error: ApiError): void {
    respondError(this.context, run, error);
  }

  /** Delay between a request's effect and its answer; 0 when there is none. */
  answerDelayMicros(run: Run, payload: Payload): Micros {
    return this.costs.answerMicros(run.verb, resourceOf(run), run, payload);
  }

  ended(run: Run): void {
    this.runs.delete(run);
    run.span?.end(
      { "http.response.status_code": run.answered, "audit-id": auditIdOf(run) },
      run.answered >= 500 ? `status ${run.answered}` : undefined,
      `${run.request.method} ${routeOf(run.place)}`,
    );
    const { seat } = run;
    run.seat = "none";
    try {
      this.metrics.requests.ended(run, this.clock.nowMicros());
    } finally {
      this.largeRequests.leave(run);
      this.writersInTurn.leave(run);
      if (seat !== "none" && this.process.alive) this[seat].release();
    }
  }

  abandoned(run: Run): void {
    this.context.meter?.abandoned(run);
  }

  sent(run: Run, payload: Payload): void {
    this.context.meter?.answered(run, payload);
    this.metrics.requests.sent(run, payload);
  }

  /** The process crashed: nobody hears anything any more. */
  private abandon(): void {
    for (const run of [...this.runs]) run.cancel();
  }
}

const connections: ReadonlySet<string> = new Set(["proxy", "log", "exec", "attach", "portforward"]);
const isConnection = ({ subresource }: ResourcePlace): boolean =>
  subresource !== undefined && connections.has(subresource.subresource);

function isMutation(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

function resourceOf(run: Run): string {
  return run.place.is === "resource" ? run.place.place.row.resource : "";
}

/** Reads a large body, for whoever reads it then. */
function bodySteps({ request, place }: Run, body: Uint8Array, type: string): Generator<void, void> {
  if (!/yaml/i.test(type)) {
    const isObject = request.method === "POST" || request.method === "PUT";
    const isCustom = place.is === "resource" && place.place.row.custom === true;
    return jsonBodySteps(body, isObject ? jsonReadings.objects(isCustom) : jsonReadings.plainly);
  }
  return type.includes("apply") ? configurationSteps(body) : yamlBodySteps(body);
}
