/** What probes and hooks do to a container: a command in it, or a connection to it through the machine's network. */
import { noDeadlineMicros } from "../../cri/cri-port.ts";
import type { Micros } from "../../kernel/types.ts";
import type { Container, ProbeAction } from "../pods/pod-types.ts";
import { microsOfSeconds } from "../seconds.ts";
import { sleep, type Task } from "../task.ts";
import { type CriCaller, failureWords } from "./cri-caller.ts";

export type Handled =
  | { readonly outcome: "success" }
  /** It worked out, and somebody should know how. */
  | { readonly outcome: "warning"; readonly output: string }
  | { readonly outcome: "failure"; readonly output: string }
  /** It could not be tried: nothing is known. */
  | { readonly outcome: "error"; readonly output: string };

export interface HandlerPlace {
  readonly cri: CriCaller;
  readonly container: Container;
  readonly containerId: string;
  readonly podIp: string;
}

const outputCharactersMax = 10_240;

/**
 * What a hook does. An answer over HTTP counts, whatever its status is; connections alone are no hooks. The message of a failure is the
 * one that the container waits with. Source: the published agent's texts.
 */
export function* runHook(place: HandlerPlace, hook: ProbeAction, pod: string): Task<Handled> {
  const { container } = place;
  const where = `for Container ${JSON.stringify(container.name)} in Pod ${JSON.stringify(pod)} failed - error:`;
  if (hook.exec !== undefined) {
    const cmd = hook.exec.command ?? [];
    const answer = yield* place.cri.ask("ExecSync", { containerId: place.containerId, cmd }, noDeadlineMicros);
    if (answer.ok && answer.message.exitCode === 0) return { outcome: "success" };
    const decoder = new TextDecoder();
    const stderr = answer.ok ? decoder.decode(answer.message.stderr) : "";
    const output = answer.ok ? decoder.decode(answer.message.stdout) + stderr : "";
    const error = answer.ok
      ? `command '${cmd.join(" ")}' exited with ${answer.message.exitCode}: ${stderr}`
      : failureWords(answer);
    const message = `Exec lifecycle hook ([${cmd.join(" ")}]) ${where} ${error}, message: ${JSON.stringify(output)}`;
    return { outcome: "failure", output: message };
  }
  if (hook.httpGet === undefined && hook.sleep === undefined)
    return { outcome: "failure", output: `Cannot run handler: ${JSON.stringify(hook)}` };
  const handled = yield* handle(place, hook, 0);
  if (!("output" in handled) || handled.outcome === "warning" || handled.output.startsWith("HTTP probe failed"))
    return { outcome: "success" };
  const path = hook.httpGet?.path ?? "";
  return { outcome: "failure", output: `HTTP lifecycle hook (${path}) ${where} ${handled.output}` };
}

/** `timeoutSeconds` 0: as long as it takes. */
export function* handle(place: HandlerPlace, action: ProbeAction, timeoutSeconds: number): Task<Handled> {
  if (action.exec !== undefined) return yield* execute(place, action.exec.command ?? [], timeoutSeconds);
  if (action.sleep !== undefined) {
    yield* sleep(place.cri.process.clock, microsOfSeconds(action.sleep.seconds));
    return { outcome: "success" };
  }
  return yield* connect(place, action, timeoutSeconds);
}

function* execute({ cri, containerId }: HandlerPlace, cmd: readonly string[], timeoutSeconds: number): Task<Handled> {
  const deadline = timeoutSeconds === 0 ? noDeadlineMicros : cri.timeoutMicros + microsOfSeconds(timeoutSeconds);
  const request = timeoutSeconds === 0 ? { containerId, cmd } : { containerId, cmd, timeout: timeoutSeconds };
  const answer = yield* cri.ask("ExecSync", request, deadline);
  if (!answer.ok) {
    // Source: the published agent takes a command that took too long for a failure, and says so in these words.
    if (/timed out|timeout|exceeded/.test(answer.text)) {
      return {
        outcome: "failure",
        output: `command timed out: ${JSON.stringify(cmd.join(" "))} timed out after ${timeoutSeconds}s`,
      };
    }
    return { outcome: "error", output: failureWords(answer) };
  }
  const { exitCode, stdout, stderr } = answer.message;
  if (exitCode === 0) return { outcome: "success" };
  const decoder = new TextDecoder();
  return {
    outcome: "failure",
    output: (decoder.decode(stdout) + decoder.decode(stderr)).slice(0, outputCharactersMax),
  };
}

function* connect({ cri, container, podIp }: HandlerPlace, action: ProbeAction, timeoutSeconds: number): Task<Handled> {
  const { httpGet, tcpSocket, grpc } = action;
  const port = portOf(container, httpGet?.port ?? tcpSocket?.port ?? grpc?.port ?? 0);
  if (port === undefined)
    return { outcome: "error", output: `couldn't find port: ${String(httpGet?.port ?? tcpSocket?.port)}` };
  const ip = httpGet?.host ?? tcpSocket?.host ?? podIp;
  const timeoutMicros: Micros = microsOfSeconds(Math.max(1, timeoutSeconds || 30));
  const { scheme = "HTTP", path = "/", httpHeaders = [] } = httpGet ?? {};
  const address = ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
  const { clock } = cri.process;
  const beganMicros = clock.nowMicros();
  const url = `${scheme.toLowerCase()}://${address}${path.startsWith("/") ? "" : "/"}${path}`;
  const answer = yield* cri.ask(
    "Connect",
    {
      ip,
      port,
      ...(httpGet === undefined
        ? {}
        : {
            http: {
              scheme,
              method: "GET",
              path,
              host: ip,
              headers: httpHeaders.map(({ name, value }) => ({ key: name, value })),
            },
          }),
      ...(grpc === undefined ? {} : { grpc: true, grpcService: grpc.service ?? "" }),
    },
    timeoutMicros,
  );
  const where = httpGet === undefined ? `dial tcp ${address}` : `Get ${JSON.stringify(url)}: dial tcp ${address}`;
  if (grpc !== undefined && (answer.ok ? answer.message.outcome !== "OPEN" : answer.code === 4)) {
    // It is tried again and again until the time is over.
    yield* sleep(clock, Math.max(0, beganMicros + timeoutMicros - clock.nowMicros()));
    const within = `${timeoutMicros / 1_000_000}s: context deadline exceeded`;
    return {
      outcome: "failure",
      output: `timeout: failed to connect service ${JSON.stringify(address)} within ${within}`,
    };
  }
  if (!answer.ok) {
    const late =
      httpGet === undefined
        ? `${where}: i/o timeout`
        : `Get ${JSON.stringify(url)}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`;
    if (answer.code === 4) return { outcome: "failure", output: late };
    return { outcome: "error", output: failureWords(answer) };
  }
  const { outcome, status, body } = answer.message;
  if (outcome === "REFUSED") return { outcome: "failure", output: `${where}: connect: connection refused` };
  if (outcome === "SILENT") return { outcome: "failure", output: `${where}: i/o timeout` };
  if (httpGet !== undefined && (status < 200 || status >= 400)) {
    return { outcome: "failure", output: `HTTP probe failed with statuscode: ${status}` };
  }
  if (httpGet !== undefined && status >= 300)
    return {
      outcome: "warning",
      output: `Probe terminated redirects, Response body: ${new TextDecoder().decode(body)}`,
    };
  // Of a gRPC health check, the status is that of the service: 1 is serving.
  if (grpc !== undefined && status !== 1) {
    return {
      outcome: "failure",
      output: `service unhealthy (responded with ${JSON.stringify(status === 2 ? "NOT_SERVING" : "UNKNOWN")})`,
    };
  }
  return { outcome: "success" };
}

function portOf({ ports = [] }: Container, port: number | string): number | undefined {
  if (typeof port === "number") return port;
  return ports.find(({ name }) => name === port)?.containerPort ?? (/^\d+$/.test(port) ? Number(port) : undefined);
}
