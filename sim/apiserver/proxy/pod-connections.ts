/**
 * What the agent of a pod's node does for its containers: logs are fetched from there; commands, terminals and ports need
 * a connection that changes its protocol.
 *
 * Simplification: a WebSocket stays one all the way to the agent; later versions of the real server speak SPDY with it.
 * Source: the published registry of pods and its options, their order and texts.
 */
import { parseTime, formatTime } from "../../../wire/time.ts";
import { ApiError, badRequest, type Cause, invalid, notFound, unmapped } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue } from "../../objects/causes.ts";
import { int64Of } from "../../objects/int64.ts";
import { baseHeaders } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import type { Query } from "../requests/url.ts";
import { TextPayload } from "../encodings/payload.ts";
import { type Location, locations } from "./locations.ts";
import { type ForwardedAnswer } from "./forward.ts";
import { asksForUpgrade, ForwardedPayload, type ProxyPorts, refuseUpgrade, upgradeHeaders } from "./proxy.ts";

/** By subresource; each answers through the run, now or later, or throws. */
export const podConnections: Readonly<Record<string, (ports: ProxyPorts, run: Run) => void>> = {
  log: readLog,
  exec: (ports, run) => openStream(ports, run, execOptions(run.query)),
  attach: (ports, run) => openStream(ports, run, attachOptions(run.query)),
  portforward: (ports, run) => openStream(ports, run, portOptions(run.query)),
};

/** Throws 400, 404, 422, and 500 for an agent that cannot be reached. */
function readLog(ports: ProxyPorts, run: Run): void {
  const { namespace, name } = run.resourcePlace;
  const options = logOptions(run.query, name);
  const pod = existingPod(ports, run);
  const container = containerOf(pod, run.query.first("container") ?? "");
  const location = agentOf(ports, pod);
  if (location === undefined) {
    run.respond(204, baseHeaders(run), new TextPayload("")); // on no node: nothing has run
    return;
  }
  const query =
    options.length === 0 ? "" : `?${options.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")}`;
  const target = `/containerLogs/${namespace}/${name}/${container}${query}`;
  const sent = { ...location, method: "GET", target, headers: {}, body: undefined };
  const span = run.span?.child("forward GET", "client", { "server.address": location.host });
  let isOver = false;
  const cancel = ports.forward(
    { ...sent, headers: { ...sent.headers, ...span?.headers } },
    (answer) => {
      isOver = true;
      span?.end({}, "error" in answer ? answer.error : undefined);
      if (run.state === "waiting") run.unpark("executing");
      run.stage(() => handBack(run, urlOf(location, target), answer));
    },
    {
      open() {
        if (run.state === "waiting") run.unpark("executing");
        run.hold(cancel);
        run.open(200, { ...baseHeaders(run), "content-type": "text/plain" });
      },
      chunk(bytes, resume) {
        if (run.state === "done") return true;
        const waiting = run.responder.frame(new ForwardedPayload({ body: bytes }, "text/plain"));
        if (waiting < waitingBytesMax || run.responder.whenTaken === undefined) return true;
        run.responder.whenTaken(resume);
        return false;
      },
      end() {
        span?.end();
        run.close();
      },
    },
  );
  if (!isOver) run.park("waiting", cancel, true);
}

/** Of a log that flows, before the agent has to wait for the client. */
const waitingBytesMax = 1 << 20;

type Pair = readonly [name: string, value: string];

/** What the agent is asked for, by name. Throws 400 for what cannot be read, and 422 for what makes no sense. */
function logOptions(query: Query, name: string): readonly Pair[] {
  const numbers = numbersOf(query, ["limitBytes", "sinceSeconds", "tailLines"]);
  const since = query.first("sinceTime") ?? "";
  const read = since === "" ? undefined : parseTime(since);
  if (read !== undefined && "error" in read) throw badRequest(read.error);
  const causes: Cause[] = [];
  const atLeast = (field: string, least: 0 | 1): void => {
    const value = numbers[field];
    const text = least === 0 ? "must be greater than or equal to 0" : "must be greater than 0";
    if (value !== undefined && value < least) causes.push(invalidValue(field, value, text));
  };
  atLeast("tailLines", 0);
  atLeast("limitBytes", 1);
  if (read !== undefined && numbers["sinceSeconds"] !== undefined) {
    causes.push(forbiddenField("", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else atLeast("sinceSeconds", 1);
  if (query.has("stream")) causes.push(forbiddenField("stream", "may not be specified"));
  if (causes.length > 0) throw invalid("PodLogOptions", "", name, causes);
  const flags = ["follow", "previous", "timestamps"].filter((flag) => query.flag(flag));
  const pairs: Pair[] = [
    ...flags.map((flag): Pair => [flag, "true"]),
    ...Object.entries(numbers).map(([field, value]): Pair => [field, String(value)]),
    ...(read === undefined ? [] : [["sinceTime", formatTime(read.seconds)] as const]),
  ];
  return pairs.sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Those that are there. Throws 400. */
function numbersOf(query: Query, names: readonly string[]): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const name of names) {
    const text = query.first(name) ?? "";
    if (text === "") continue;
    const value = /^[-+]?\d+$/.test(text) ? int64Of(BigInt(text.replace("+", ""))) : undefined;
    if (value === undefined) {
      const why = /^[-+]?\d+$/.test(text) ? "value out of range" : "invalid syntax";
      throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
    }
    found[name] = value;
  }
  return found;
}

function handBack(run: Run, url: string, answer: ForwardedAnswer): void {
  if ("error" in answer) throw unmapped(`Get "${url}": ${answer.error}`);
  const { status } = answer;
  if (status < 200 || status > 299)
    throw agentsRefusal(run, status, new TextDecoder().decode(answer.body.subarray(0, 50_000)));
  run.respond(200, baseHeaders(run), new ForwardedPayload(answer, "text/plain"));
}

/** What the agent would not do, in the words for answers that are no Status. */
function agentsRefusal(run: Run, status: number, text: string): ApiError {
  if (status === 400) return badRequest(text);
  if (status === 500) {
    return new ApiError(500, "InternalError", `Internal error occurred: ${text}`, { causes: [{ message: text }] });
  }
  const { resourceName, name } = run.resourcePlace;
  const [reason, words] = refusals[status] ?? [
    status > 500 ? "InternalError" : undefined,
    status > 500
      ? `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`
      : `the server responded with the status code ${status} but did not return more information`,
  ];
  return new ApiError(status, reason, `${words} ( ${resourceName.resource}/log ${name})`, {
    name,
    kind: `${resourceName.resource}/log`,
  });
}

const refusals: Readonly<Record<number, readonly [reason: string, words: string]>> = {
  401: ["Unauthorized", "the server has asked for the client to provide credentials"],
  403: ["Forbidden", "the server does not allow access to the requested resource"],
  404: ["NotFound", "the server could not find the requested resource"],
  405: ["MethodNotAllowed", "the server does not allow this method on the requested resource"],
};

/** Throws 400 for whoever does not ask for another protocol, or whose connection can have none. */
function openStream(ports: ProxyPorts, run: Run, options: JsonObject): void {
  const { subresource, namespace, name } = run.resourcePlace;
  const { kind = "", version = "" } = subresource ?? {};
  ports.admitted(run, { kind, apiVersion: version, ...options }, (admitted) => {
    const pod = existingPod(ports, run);
    const what = subresource?.subresource ?? "";
    const container = what === "portforward" ? "" : `/${containerOf(pod, String(admitted["container"] ?? ""))}`;
    const location = agentOf(ports, pod);
    if (location === undefined) throw badRequest(`pod ${name} does not have a host assigned`);
    if (!asksForUpgrade(run)) throw badRequest("Upgrade request required");
    if (!run.canHandOver) refuseUpgrade(run);
    const path = `/${what === "portforward" ? "portForward" : what}/${namespace}/${name}${container}`;
    const target = `${path}?${agentQuery(admitted)}`;
    const headers = upgradeHeaders(run.request.headers, location);
    run.handOver({ ...location, method: run.request.method, target, headers }, (why) =>
      unmapped(`error dialing backend: ${why}`),
    );
  });
}

/** What an agent calls the streams of a command, and the ports. */
function agentQuery(options: JsonObject): string {
  const pairs: Pair[] = [];
  for (const word of (options["command"] ?? []) as readonly string[]) pairs.push(["command", word]);
  for (const [option, name] of [
    ["stdin", "input"],
    ["stdout", "output"],
    ["stderr", "error"],
    ["tty", "tty"],
  ] as const) {
    if (options[option] === true) pairs.push([name, "1"]);
  }
  const ports = (options["ports"] ?? []) as readonly number[];
  if (ports.length > 0) pairs.push(["port", ports.join(",")]);
  return pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
}

function execOptions(query: Query): JsonObject {
  const command = query.all("command");
  return { ...attachOptions(query), ...(command.length === 0 ? {} : { command }) };
}

function attachOptions(query: Query): JsonObject {
  const flags = ["stdin", "stdout", "stderr", "tty"].filter((flag) => query.flag(flag));
  const container = query.first("container") ?? "";
  return { ...Object.fromEntries(flags.map((flag) => [flag, true])), ...(container === "" ? {} : { container }) };
}

function portOptions(query: Query): JsonObject {
  const ports = query
    .all("ports")
    .flatMap((text) => text.split(","))
    .map(Number);
  return ports.length === 0 ? {} : { ports };
}

function existingPod({ stored }: ProxyPorts, { resourcePlace }: Run): JsonObject {
  const { namespace, name, resourceName } = resourcePlace;
  const pod = stored("pods", namespace, name);
  if (pod === undefined) throw notFound(resourceName, name);
  return pod;
}

/** The one that is asked for, or the only one there is. Throws 400. */
function containerOf(pod: JsonObject, asked: string): string {
  const { name } = pod["metadata"] as { readonly name: string };
  const spec = (pod["spec"] ?? {}) as JsonObject;
  const namesOf = (field: string): readonly string[] =>
    ((spec[field] ?? []) as readonly JsonObject[]).map((container) => String(container["name"] as Json));
  const [all, first] = [namesOf("containers"), namesOf("initContainers")];
  if (asked !== "") {
    if ([...all, ...first, ...namesOf("ephemeralContainers")].includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only] = all;
  if (all.length === 1 && only !== undefined) return only;
  const others = first.length === 0 ? "" : ` or one of the init containers: [${first.join(" ")}]`;
  const choice = all.length === 0 ? "" : `, choose one of: [${all.join(" ")}]${others}`;
  throw badRequest(`a container name must be specified for pod ${name}${choice}`);
}

/** Undefined for a pod on no node. Throws 404 for a node that is not there. */
function agentOf(ports: ProxyPorts, { spec }: JsonObject): Location | undefined {
  const { nodeName = "" } = (spec ?? {}) as { readonly nodeName?: string };
  return nodeName === ""
    ? undefined
    : (locations["nodes"] as NonNullable<(typeof locations)[string]>)(ports, "", nodeName);
}

const urlOf = ({ scheme, host, port }: Location, target: string): string =>
  `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}${target}`;
