/** What probes and hooks do to a container: a command in it, or a connection to it through the machine's network. */
import { noDeadlineMicros } from "../../cri/cri-port.ts";
import type { Micros } from "../../kernel/types.ts";
import type { Container, ProbeAction } from "../pods/pod-types.ts";
import { sleep, type Task } from "../task.ts";
import { type CriCaller, failureWords } from "./cri-caller.ts";

export type Handled =
  | { readonly outcome: "success" }
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

/** `timeoutSeconds` 0: as long as it takes. */
export function* handle(place: HandlerPlace, action: ProbeAction, timeoutSeconds: number): Task<Handled> {
  if (action.exec !== undefined) return yield* execute(place, action.exec.command ?? [], timeoutSeconds);
  if (action.sleep !== undefined) {
    yield* sleep(place.cri.process.clock, action.sleep.seconds * 1_000_000);
    return { outcome: "success" };
  }
  return yield* connect(place, action, timeoutSeconds);
}

function* execute({ cri, containerId }: HandlerPlace, cmd: readonly string[], timeoutSeconds: number): Task<Handled> {
  const deadline = timeoutSeconds === 0 ? noDeadlineMicros : cri.timeoutMicros + timeoutSeconds * 1_000_000;
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
  const timeoutMicros: Micros = Math.max(1, timeoutSeconds || 30) * 1_000_000;
  const { scheme = "HTTP", path = "/", httpHeaders = [] } = httpGet ?? {};
  const url = `${scheme.toLowerCase()}://${ip}:${port}${path.startsWith("/") ? "" : "/"}${path}`;
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
      ...(grpc === undefined ? {} : { grpcService: grpc.service ?? "" }),
    },
    timeoutMicros,
  );
  const where = httpGet === undefined ? `dial tcp ${ip}:${port}` : `Get ${JSON.stringify(url)}: dial tcp ${ip}:${port}`;
  if (!answer.ok) {
    const late =
      httpGet === undefined
        ? `${where}: i/o timeout`
        : `Get ${JSON.stringify(url)}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`;
    if (answer.code === 4) return { outcome: "failure", output: late };
    return { outcome: "error", output: failureWords(answer) };
  }
  const { outcome, status } = answer.message;
  if (outcome === "REFUSED") return { outcome: "failure", output: `${where}: connect: connection refused` };
  if (outcome === "SILENT") return { outcome: "failure", output: `${where}: i/o timeout` };
  if (httpGet !== undefined && (status < 200 || status >= 400)) {
    return { outcome: "failure", output: `HTTP probe failed with statuscode: ${status}` };
  }
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
