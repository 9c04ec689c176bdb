/**
 * Commands, terminals and ports of containers: the runtime is asked where it streams them, and the caller's connection is
 * handed on to there. Source: the facts, HTTP; the published parameters.
 */
import type { ApiRequest, Responder } from "../../contract/http-message.ts";
import type { Cancel } from "../../kernel/types.ts";
import type { HeldPod } from "../pods/held-pod.ts";
import { type CriFailure, failureWords } from "../runtime/cri-caller.ts";
import { containerNamed, type RuntimeContainer } from "../runtime/runtime-pod.ts";
import { run, type Task } from "../task.ts";
import type { AgentView } from "./agent-view.ts";
import { answerText } from "./answers.ts";
import { readQuery } from "./query.ts";

/** However busy it is, a stream ends after this. Source: document 3, --streaming-connection-idle-timeout. */
const streamMillisMax = 4 * 3600 * 1000;

export interface StreamRequest {
  readonly agent: AgentView;
  readonly request: ApiRequest;
  readonly responder: Responder;
  readonly held: HeldPod;
  /** 0: streams may be silent for as long as they last. */
  readonly idleMillisMax: number;
}

type StreamMethod = "Exec" | "Attach" | "PortForward";

export function openStream(stream: StreamRequest, method: StreamMethod, container: string): Cancel {
  const { request, responder, held } = stream;
  const found = method === "PortForward" ? undefined : runningContainer(held, container);
  if (method !== "PortForward" && found === undefined) {
    answerText(responder, 404, `container not found ("${container}")\n`);
    return () => {};
  }
  const { upgrade = "", connection = "" } = request.headers;
  if (upgrade === "" || !/(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection)) {
    answerText(responder, 400, "Upgrade request required\n");
    return () => {};
  }
  if (responder.tunnel === undefined) {
    answerText(responder, 400, "this connection cannot change its protocol\n");
    return () => {};
  }
  const query = readQuery(request.query);
  const [stdin, stdout, tty] = [query.flag("input"), query.flag("output"), query.flag("tty")];
  const stderr = query.flag("error") && !tty;
  if (method !== "PortForward" && !stdin && !stdout && !stderr) {
    answerText(responder, 400, "you must specify at least 1 of stdin, stdout, stderr\n");
    return () => {};
  }
  const channels = { containerId: found?.id ?? "", stdin, stdout, stderr, tty };
  let cancel: Cancel = () => {};
  const task = run(addressOf(stream, method, channels, query.all("command"), portsOf(query.all("port"))), (address) => {
    if ("failure" in address) answerText(responder, 500, `${failureWords(address.failure)}\n`);
    else cancel = handOn(stream, address.url);
  });
  return () => {
    task();
    cancel();
  };
}

type Address = { readonly url: string } | { readonly failure: CriFailure };

function* addressOf(
  { agent, held }: StreamRequest,
  method: StreamMethod,
  channels: {
    readonly containerId: string;
    readonly stdin: boolean;
    readonly stdout: boolean;
    readonly stderr: boolean;
    readonly tty: boolean;
  },
  cmd: readonly string[],
  port: readonly number[],
): Task<Address> {
  const { cri } = agent;
  const [sandbox] = held.runtimePod.sandboxes;
  const answer =
    method === "Exec"
      ? yield* cri.ask("Exec", { ...channels, cmd })
      : method === "Attach"
        ? yield* cri.ask("Attach", channels)
        : yield* cri.ask("PortForward", { podSandboxId: sandbox?.id ?? "", port });
  return answer.ok ? { url: answer.message.url } : { failure: answer };
}

function handOn({ request, responder, idleMillisMax }: StreamRequest, url: string): Cancel {
  const [, scheme, bracketed, name, port = "", path = ""] =
    /^(https?):\/\/(?:\[([^\]]+)\]|([^/:]+))(?::(\d+))?(\/.*)?$/.exec(url) ?? [];
  const host = bracketed ?? name;
  if (host === undefined || responder.tunnel === undefined) {
    answerText(responder, 500, `the runtime streams at ${JSON.stringify(url)}, which is no address\n`);
    return () => {};
  }
  const { authorization: _, ...headers } = request.headers;
  const target = {
    scheme: scheme === "https" ? ("https" as const) : ("http" as const),
    host,
    port,
    method: request.method,
    target: path === "" ? "/" : path,
    headers: { ...headers, host: port === "" ? host : `${host}:${port}` },
    idleMillisMax,
    millisMax: streamMillisMax,
  };
  return responder.tunnel(target, (outcome) => {
    if ("error" in outcome) answerText(responder, 502, `error dialing the runtime: ${outcome.error}\n`);
  });
}

function runningContainer({ runtimePod }: HeldPod, name: string): RuntimeContainer | undefined {
  const found = containerNamed(runtimePod, name);
  return found?.state === "CONTAINER_RUNNING" ? found : undefined;
}

const portsOf = (texts: readonly string[]): readonly number[] =>
  texts
    .flatMap((text) => text.split(","))
    .map(Number)
    .filter((port) => Number.isInteger(port) && port > 0 && port < 65_536);

/** `/run/…`: a command without streams, answered with what it wrote. */
export function runCommand({ agent, request, responder, held }: StreamRequest, container: string): Cancel {
  const found = runningContainer(held, container);
  if (found === undefined) {
    answerText(responder, 404, `container not found ("${container}")\n`);
    return () => {};
  }
  const query = readQuery(request.query);
  const cmd = [...query.all("cmd").flatMap((text) => text.split(" ")), ...query.all("command")];
  return run(agent.cri.ask("ExecSync", { containerId: found.id, cmd }), (answer) => {
    if (!answer.ok) {
      answerText(responder, 500, `${failureWords(answer)}\n`);
      return;
    }
    const { stdout, stderr, exitCode } = answer.message;
    const decoder = new TextDecoder();
    const text = decoder.decode(stdout) + decoder.decode(stderr);
    if (exitCode === 0) answerText(responder, 200, text);
    else answerText(responder, 500, `command '${cmd.join(" ")}' exited with ${exitCode}: ${text}`);
  });
}
