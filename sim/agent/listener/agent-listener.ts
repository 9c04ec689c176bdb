/**
 * What an agent serves: who it is for, and which paths there are. One class for its three listeners: the one over TLS, which
 * asks who is calling; the read-only one, which does not; and the one that says whether the agent is well.
 * Source: document 3, Endpoints; the facts, HTTP.
 */
import type { ApiHandler, ApiRequest, JsonObject, Responder } from "../../contract/http-message.ts";
import type { Cancel, Micros } from "../../kernel/types.ts";
import type { ReadPathResponse } from "../../../wire/cri-messages.ts";
import type { HeldPod } from "../pods/held-pod.ts";
import { labels } from "../runtime/runtime-pod.ts";
import { kept, piece } from "../piece.ts";
import { run, type Task, wait } from "../task.ts";
import type { AccessOutcome, AgentAccess } from "./access.ts";
import type { AgentView, NodeView } from "./agent-view.ts";
import { answerJson, answerText, bytesPayload, plainText } from "./answers.ts";
import { type LogSink, readContainerLog } from "./container-logs.ts";
import { readLogOptions } from "./log-options.ts";
import { containerSeries, metricsText, resourceSeries, type Series } from "./metrics-text.ts";
import { answerProfile, type ProgramProfiles } from "./profiles.ts";
import { OneResponse } from "./one-response.ts";
import { decoded, readQuery } from "./query.ts";
import { openStream, runCommand, type StreamRequest } from "./streams.ts";

export interface AgentListenerOptions {
  readonly kind: "serving" | "readOnly" | "health";
  readonly agent: AgentView;
  readonly node: NodeView;
  readonly configz: () => JsonObject;
  /** Logs, commands, ports; not on the read-only listener. */
  readonly hasDebugging: boolean;
  /** Undefined: everybody may call. */
  readonly access?: Pick<AgentAccess, "check">;
  /** Of streams; 0: none. */
  readonly idleMillisMax: number;
  readonly syncFrequencyMicros: Micros;
  /** Default: there is no program to tell of. */
  readonly profiles?: ProgramProfiles | undefined;
  /** Shared by all listeners of an agent. */
  readonly counts: RequestCounts;
  /** Exceptions that were caught and logged, by component. Default: nobody counts them. */
  readonly exceptions?: () => Iterable<readonly [component: string, count: number]>;
}

/** Requests by listener, method and first part of the path. */
export class RequestCounts {
  readonly rows = new Map<string, { readonly labels: Readonly<Record<string, string>>; count: number }>();

  /** Methods that a client has made up are one, however many there are. */
  add(server: string, method: string, path: string): void {
    const labels = { method: methods.has(method) ? method : "other", path, server_type: server };
    const key = JSON.stringify(labels);
    const row = this.rows.get(key) ?? { labels, count: 0 };
    row.count++;
    this.rows.set(key, row);
  }
}

interface Asked {
  readonly request: ApiRequest;
  readonly responder: Responder;
  /** Decoded parts of the path behind the first. */
  readonly rest: readonly string[];
}

interface Route {
  readonly on: readonly AgentListenerOptions["kind"][];
  readonly methods: readonly string[];
  /** Answered 405 where debugging is off; a word of its own where that is a 404. */
  readonly debugging?: "405" | "404";
  readonly serve: (listener: AgentListener, asked: Asked) => Cancel | void;
}

const anywhere = ["serving", "readOnly", "health"] as const;
const both = ["serving", "readOnly"] as const;
const reads = ["GET", "HEAD"];
const streams = ["GET", "POST"];

/** By the first part of the path. */
const routes: Readonly<Record<string, Route>> = {
  healthz: { on: anywhere, methods: reads, serve: (listener, asked) => listener.health(asked) },
  pods: { on: both, methods: reads, serve: (listener, { responder }) => answerJson(responder, listener.pods()) },
  stats: { on: both, methods: streams, serve: (listener, asked) => listener.summary(asked) },
  metrics: { on: both, methods: reads, serve: (listener, asked) => listener.metrics(asked) },
  configz: {
    on: both,
    methods: reads,
    debugging: "404",
    serve: (listener, { responder }) => answerJson(responder, listener.options.configz()),
  },
  runningpods: { on: both, methods: reads, debugging: "405", serve: (listener, asked) => listener.runningPods(asked) },
  containerLogs: {
    on: both,
    methods: reads,
    debugging: "405",
    serve: (listener, asked) => listener.containerLog(asked),
  },
  logs: { on: both, methods: reads, debugging: "405", serve: (listener, asked) => listener.machineLogs(asked) },
  debug: { on: both, methods: reads, debugging: "405", serve: (listener, asked) => listener.profile(asked) },
  run: { on: both, methods: ["POST"], debugging: "405", serve: (listener, asked) => listener.stream(asked, "run") },
  exec: { on: both, methods: streams, debugging: "405", serve: (listener, asked) => listener.stream(asked, "Exec") },
  attach: {
    on: both,
    methods: streams,
    debugging: "405",
    serve: (listener, asked) => listener.stream(asked, "Attach"),
  },
  portForward: {
    on: both,
    methods: streams,
    debugging: "405",
    serve: (listener, asked) => listener.stream(asked, "PortForward"),
  },
};

const methods: ReadonlySet<string> = new Set([
  ...["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"],
]);

/** Of a path: deeper ones lead nowhere. */
const partsMax = 300;

/** Of a path, in the log. */
const pathCharactersMax = 200;

const hungMicrosMin: Micros = 300_000_000;

export class AgentListener implements ApiHandler {
  readonly options: AgentListenerOptions;
  private requestCount = 0;

  constructor(options: AgentListenerOptions) {
    this.options = options;
  }

  /** An exception ends this request alone: a 500 where there is no answer yet, else its stream. */
  start(request: ApiRequest, given: Responder): Cancel {
    const { process } = this.options.agent;
    const id = (++this.requestCount).toString();
    const responder = new OneResponse(given);
    let cancel: Cancel = () => {};
    const begin = (): void => {
      cancel = this.checked(request, responder);
    };
    const what = (): string => `request ${id} ${request.method} ${request.path.slice(0, pathCharactersMax)}`;
    piece(process, "http-server", what, begin, () => responder.broke(id));
    return () => cancel();
  }

  private checked(request: ApiRequest, responder: Responder): Cancel {
    const { access } = this.options;
    if (access === undefined) return this.route(request, responder);
    let isOver = false;
    let cancel: Cancel = () => {};
    const decided = kept((outcome: AccessOutcome): void => {
      if (isOver) return;
      if ("user" in outcome) cancel = this.route(request, responder);
      else answerText(responder, outcome.status, outcome.text);
    });
    access.check(request, decided);
    return () => {
      isOver = true;
      cancel();
    };
  }

  private route(request: ApiRequest, responder: Responder): Cancel {
    const { kind, hasDebugging, counts } = this.options;
    const parts = request.path.split("/", partsMax + 1).map(decoded);
    const [, first = "", ...rest] = parts.filter((part): part is string => part !== undefined);
    const route = Object.hasOwn(routes, first) ? routes[first] : undefined;
    counts.add(kind === "readOnly" ? "readonly" : "readwrite", request.method, route === undefined ? "other" : first);
    if (parts.length > partsMax || parts.includes(undefined) || route === undefined || !route.on.includes(kind))
      return this.notFound(responder);
    if (route.debugging !== undefined && (!hasDebugging || kind === "readOnly")) {
      if (route.debugging === "404") return this.notFound(responder);
      answerText(responder, 405, "Debug endpoints are disabled.\n");
      return nothing;
    }
    if (!route.methods.includes(request.method)) {
      responder.respond(
        405,
        { allow: route.methods.join(", ") },
        bytesPayload(encoder.encode("405: Method Not Allowed"), plainText),
      );
      return nothing;
    }
    return (
      route.serve(this, { request, responder, rest: rest.filter((part, at) => part !== "" || at < rest.length - 1) }) ??
      nothing
    );
  }

  private notFound(responder: Responder): Cancel {
    answerText(responder, 404, "404 page not found\n");
    return nothing;
  }

  /** The listener of health only says that it is there; the others also whether pods are looked after. */
  health({ request, responder, rest }: Asked): void {
    const { agent, kind, syncFrequencyMicros } = this.options;
    const sinceMicros = agent.process.clock.nowMicros() - agent.lastLookMicros();
    const checks: Record<string, boolean> = { ping: true };
    if (kind !== "health") {
      checks["log"] = true;
      checks["syncloop"] = sinceMicros < Math.max(2 * syncFrequencyMicros, hungMicrosMin);
    }
    const [one] = rest;
    const asked =
      one === undefined ? checks : Object.fromEntries(Object.entries(checks).filter(([name]) => name === one));
    if (one !== undefined && !Object.hasOwn(checks, one)) {
      this.notFound(responder);
      return;
    }
    const isWell = Object.values(asked).every((is) => is);
    const lines = Object.entries(asked).map(([name, is]) =>
      is ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`,
    );
    if (isWell && !readQuery(request.query).flag("verbose")) answerText(responder, 200, "ok");
    else if (isWell) answerText(responder, 200, `${lines.join("")}healthz check passed\n`);
    else answerText(responder, 500, `${lines.join("")}healthz check failed\n`);
  }

  /** As their sources have them, with the status that was last told. */
  pods(): JsonObject {
    const items = [...this.options.agent.pods()].map(({ object, status, pushed }) => ({
      ...object,
      apiVersion: "v1",
      kind: "Pod",
      status: (status ?? pushed?.["status"] ?? object["status"] ?? {}) as JsonObject,
    }));
    return { kind: "PodList", apiVersion: "v1", metadata: {}, items };
  }

  summary({ request, responder, rest }: Asked): void {
    if (rest[0] !== "summary" || rest.length > 1) {
      this.notFound(responder);
      return;
    }
    this.options.node.summary(readQuery(request.query).flag("only_cpu_and_memory"), (summary) => {
      if (summary === undefined) answerText(responder, 500, "Internal Error: failed to get the machine's readings\n");
      else answerJson(responder, summary);
    });
  }

  metrics({ responder, rest: [which = ""] }: Asked): void {
    const tell = (series: readonly Series[]): void =>
      answerText(responder, 200, metricsText(series), "text/plain; version=0.0.4; charset=utf-8");
    if (which === "") tell(this.ownSeries());
    else if (which === "probes") tell(this.probeSeries());
    else if (which === "slis") tell(this.healthSeries());
    else if (which === "resource") this.options.node.readings((node, pods) => tell(resourceSeries(node, pods)));
    else if (which === "cadvisor") this.options.node.readings((node, pods) => tell(containerSeries(node, pods)));
    else this.notFound(responder);
  }

  private ownSeries(): readonly Series[] {
    const { agent, counts, exceptions } = this.options;
    const prefix = agent.dialect.name === "kubernetes" ? "kubelet" : "nodeagent";
    const pods = [...agent.pods()];
    const containers = new Map<string, number>();
    for (const { runtimePod } of pods) {
      for (const { state } of runtimePod.containers) containers.set(state, (containers.get(state) ?? 0) + 1);
    }
    const gauge = (name: string, help: string, rows: Series["rows"]): Series => ({ name, type: "gauge", help, rows });
    const running = pods.filter(({ runtimePod }) =>
      runtimePod.sandboxes.some(({ state }) => state === "SANDBOX_READY"),
    );
    const { epochUnixMillis } = agent.process.clock;
    return [
      gauge(`${prefix}_node_name`, "The node's name. The count is always 1.", [[{ node: agent.nodeName }, 1]]),
      gauge(`${prefix}_running_pods`, "Number of pods that have a running pod sandbox", [[{}, running.length]]),
      gauge(
        `${prefix}_running_containers`,
        "Number of containers currently running",
        [...containers].map(([state, count]) => [
          { container_state: state.replace("CONTAINER_", "").toLowerCase() },
          count,
        ]),
      ),
      gauge(`${prefix}_desired_pods`, "The number of pods the agent is being instructed to run", [
        [{ static: "" }, pods.filter(({ isStatic }) => !isStatic).length],
        [{ static: "true" }, pods.filter(({ isStatic }) => isStatic).length],
      ]),
      {
        name: `${prefix}_http_requests_total`,
        type: "counter",
        help: "Number of the http requests received since the server started",
        rows: [...counts.rows.values()].map(({ labels: own, count }) => [own, count]),
      },
      {
        name: "touchstone_exceptions_total",
        type: "counter",
        help: "Exceptions that were caught and logged, by component. Each is a bug, and ended what it happened in alone.",
        rows: [...(exceptions?.() ?? [])].map(([component, count]) => [{ component }, count]),
      },
      gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", [
        [{}, epochUnixMillis / 1000],
      ]),
    ];
  }

  private probeSeries(): readonly Series[] {
    const rows = [...this.options.agent.pods()].flatMap(({ probes = [], name, namespace, uid }) =>
      probes.map(({ kind, name: container, result }) => {
        const probe = kind.charAt(0).toUpperCase() + kind.slice(1);
        const own = { container, namespace, pod: name, pod_uid: uid, probe_type: probe };
        return [own, result === undefined ? undefined : result ? 1 : 0] as const;
      }),
    );
    return [{ name: "prober_probe_result", type: "gauge", help: "Whether a probe was last found good", rows }];
  }

  private healthSeries(): readonly Series[] {
    const rows = ["ping", "log", "syncloop"].map((name) => [{ name, type: "healthz" }, 1] as const);
    return [{ name: "kubernetes_healthcheck", type: "gauge", help: "The result of a single healthcheck.", rows }];
  }

  profile({ responder, rest: [what, name = "", ...more] }: Asked): void {
    const { profiles } = this.options;
    if (what !== "pprof" || profiles === undefined || more.length > 0) this.notFound(responder);
    else answerProfile(profiles, name, responder);
  }

  /** As the runtime has them, whoever wants them. */
  runningPods({ responder }: Asked): Cancel {
    const { cri } = this.options.agent;
    return run(runningPodList(cri), (list) => {
      if (list === undefined) answerText(responder, 500, "the runtime does not answer\n");
      else answerJson(responder, list);
    });
  }

  containerLog({ request, responder, rest }: Asked): Cancel | void {
    const [namespace = "", name = "", container = ""] = rest;
    if (rest.length !== 3) return this.notFound(responder);
    const { agent } = this.options;
    const { nowMicros } = agent.process.clock;
    const nowUnixMicros = agent.process.clock.epochUnixMillis * 1000 + nowMicros.call(agent.process.clock);
    const read = readLogOptions(readQuery(request.query), nowUnixMicros);
    if ("status" in read) {
      answerText(responder, read.status, `${read.text}\n`);
      return;
    }
    const held = this.held(namespace, name);
    if (held === undefined) {
      answerText(responder, 404, `pod "${name}" does not exist\n`);
      return;
    }
    const all = held.runtimePod.containers.filter((each) => each.name === container);
    const found = read.previous
      ? all.filter(({ state }) => state === "CONTAINER_EXITED").at(all[0]?.state === "CONTAINER_EXITED" ? 1 : 0)
      : all[0];
    if (found === undefined) {
      const specs = held.pod.spec;
      const isKnown = [specs.containers, specs.initContainers ?? []].some((list) =>
        list.some((each) => each.name === container),
      );
      const text = !isKnown
        ? `container "${container}" not found in pod "${name}"`
        : read.previous
          ? `previous terminated container "${container}" in pod "${name}" not found`
          : `container "${container}" in pod "${name}" is waiting to start: ContainerCreating`;
      answerText(responder, isKnown ? 400 : 404, `${text}\n`);
      return;
    }
    return this.streamLog(responder, held, found.id, found.logPath, read.options);
  }

  private streamLog(
    responder: Responder,
    held: HeldPod,
    id: string,
    path: string,
    options: Parameters<typeof readContainerLog>[2],
  ): Cancel {
    const { cri } = this.options.agent;
    let hasBegun = false;
    const frames = framesTo(responder);
    const sink = {
      ...frames,
      begin() {
        hasBegun = true;
        frames.begin();
      },
    };
    const isRunning = (): boolean =>
      held.runtimePod.containers.some((each) => each.id === id && each.state === "CONTAINER_RUNNING");
    return run(readContainerLog(cri, path, options, sink, isRunning), (problem) => {
      if (hasBegun) responder.close();
      else answerText(responder, 500, `${problem}\n`);
    });
  }

  /** `/var/log` of the machine, to look around in. */
  machineLogs({ request, responder, rest }: Asked): Cancel | void {
    if (rest.includes("..") || rest.includes(".")) return this.notFound(responder);
    const path = ["/var/log", ...rest].join("/");
    let cancel = nothing;
    const cancelFirst = run(this.machineFile(path), (found) => {
      if (found === undefined) this.notFound(responder);
      else if ("names" in found) {
        const links = found.names.map((name) => `<a href="${escapeHtml(encodeURI(name))}">${escapeHtml(name)}</a>\n`);
        answerText(responder, 200, `<pre>\n${links.join("")}</pre>\n`, "text/html; charset=utf-8");
      } else if (found.content.length >= found.size) responder.respond(200, {}, bytesPayload(found.content, plainText));
      else cancel = run(this.parts(path, found, responder, request.method === "HEAD"), () => responder.close());
    });
    return () => {
      cancelFirst();
      cancel();
    };
  }

  /** A file that no single read brings whole, at its reader's pace, as long as it was when somebody asked. */
  private *parts(
    path: string,
    { file, size, content: first }: ReadPathResponse,
    responder: Responder,
    isHead: boolean,
  ): Task<void> {
    const { cri } = this.options.agent;
    const frames = framesTo(responder);
    frames.begin();
    let part = first;
    for (let offset = 0; !isHead && part.length > 0; ) {
      frames.write(part.subarray(0, size - offset));
      offset += part.length;
      if (offset >= size) return;
      yield* frames.drained();
      const read = yield* cri.ask("ReadPath", { path, offset, limit: 0 });
      if (!read.ok || read.message.file !== file) return; // it has been moved away
      part = read.message.content;
    }
  }

  private *machineFile(path: string): Task<{ names: readonly string[] } | ReadPathResponse | undefined> {
    const { cri } = this.options.agent;
    const listed = yield* cri.ask("ListPath", { path });
    if (listed.ok)
      return { names: listed.message.entries.map(({ name, directory }) => (directory ? `${name}/` : name)) };
    const read = yield* cri.ask("ReadPath", { path, offset: 0, limit: 0 });
    return read.ok ? read.message : undefined;
  }

  /** Paths name a pod by namespace and name, and may say its uid before the container. */
  stream({ request, responder, rest }: Asked, what: "Exec" | "Attach" | "PortForward" | "run"): Cancel | void {
    const [namespace = "", name = "", ...more] = rest;
    const [uid, container] =
      what === "PortForward" ? [more[0], ""] : more.length > 1 ? [more[0], more[1]] : [undefined, more[0]];
    if (container === undefined || name === "" || more.length > 2) return this.notFound(responder);
    const held = this.held(namespace, name);
    if (held === undefined || (uid !== undefined && uid !== held.uid)) {
      answerText(responder, 404, "pod does not exist\n");
      return;
    }
    const { agent, idleMillisMax } = this.options;
    const asked: StreamRequest = { agent, request, responder, held, idleMillisMax };
    return what === "run" ? runCommand(asked, container) : openStream(asked, what, container);
  }

  /** By its name; of two, the one that still has something to do. */
  private held(namespace: string, name: string): HeldPod | undefined {
    let found: HeldPod | undefined;
    for (const held of this.options.agent.pods()) {
      if (held.namespace === namespace && held.name === name && (found === undefined || found.isFinished)) found = held;
    }
    return found;
  }
}

/** An answer in parts, at its reader's pace. */
function framesTo(responder: Responder): LogSink {
  let isWaiting = false;
  let taken: (() => void) | undefined;
  return {
    begin: () => responder.open(200, { "content-type": "text/plain" }),
    write(bytes) {
      const waiting = responder.frame(bytesPayload(bytes, "text/plain"));
      if (waiting < waitingBytesMax || responder.whenTaken === undefined) return;
      isWaiting = true;
      responder.whenTaken(
        kept(() => {
          isWaiting = false;
          taken?.();
        }),
      );
    },
    *drained() {
      if (!isWaiting) return;
      yield* wait<undefined>((resume) => {
        taken = () => resume(undefined);
        return () => {
          taken = undefined;
        };
      });
    },
  };
}

const nothing: Cancel = () => {};
const encoder = new TextEncoder();
const waitingBytesMax = 1 << 20;

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

function* runningPodList(cri: AgentView["cri"]): Task<JsonObject | undefined> {
  const sandboxes = yield* cri.ask("ListPodSandbox", {});
  const containers = yield* cri.ask("ListContainers", { filter: {} });
  if (!sandboxes.ok || !containers.ok) return undefined;
  const running = containers.message.containers.filter(({ state }) => state === "CONTAINER_RUNNING");
  const items = sandboxes.message.items.flatMap(({ id, state, labels: own }) => {
    const uid = own[labels.podUid];
    if (uid === undefined || state !== "SANDBOX_READY") return [];
    const metadata = { name: own[labels.podName] ?? "", namespace: own[labels.podNamespace] ?? "", uid };
    const inside = running.filter(({ podSandboxId }) => podSandboxId === id);
    const specs = inside.map(({ metadata: named, image }) => ({
      name: named?.name ?? "",
      image: image?.image ?? "",
      resources: {},
    }));
    return [{ metadata: { ...metadata, creationTimestamp: null }, spec: { containers: specs }, status: {} }];
  });
  return { kind: "PodList", apiVersion: "v1", metadata: {}, items };
}
