/** What a node answers when it is asked for a container's log. Source: the facts on the agent, section 8. */
import { goQuote } from "../../wire/go-strings.ts";
import { parseTime } from "../../wire/time.ts";
import type { Agent } from "../agent/agent.ts";
import type { RuntimeContainer } from "../agent/runtime/runtime-pod.ts";
import type { CriRuntime } from "../cri/cri-port.ts";

export interface NodeAnswer {
  readonly status: number;
  readonly text: string;
}

/** `target` is a path and a query. */
export function logAnswer(target: string, nowSeconds: number, agent: Agent, runtime: CriRuntime): NodeAnswer {
  const [path = "", query = ""] = target.split("?");
  const [, first, namespace = "", name = "", container = "", ...more] = path.split("/").map(decoded);
  if (first === "healthz") return { status: 200, text: "ok" };
  if (first !== "containerLogs" || container === "" || more.length > 0) {
    return { status: 404, text: "404 page not found" };
  }
  const options = new Map(query.split("&").map((pair) => pair.split("=", 2).map(decoded) as [string, string]));
  const held = [...agent.pods.held.values()].find((each) => each.namespace === namespace && each.name === name);
  if (held === undefined) return { status: 404, text: `pod ${goQuote(`${name}_${namespace}`)} not found` };
  const { containers, initContainers = [], ephemeralContainers = [] } = held.pod.spec;
  if (![...containers, ...initContainers, ...ephemeralContainers].some((each) => each.name === container)) {
    return { status: 404, text: `container ${goQuote(container)} not found in pod ${goQuote(name)}` };
  }
  const [newest, older] = held.runtimePod.containers.filter((each) => each.name === container);
  const wanted = options.get("previous") === "true" ? older : newest;
  if (wanted !== undefined) return { status: 200, text: textOf(linesOf(runtime, wanted), options, nowSeconds) };
  const why =
    newest === undefined
      ? `container ${goQuote(container)} in pod ${goQuote(name)} is waiting to start: ContainerCreating`
      : `previous terminated container ${goQuote(container)} in pod ${goQuote(name)} not found`;
  return { status: 400, text: why };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface LogLine {
  readonly time: string;
  readonly text: string;
}

/** Of a file of lines `time stream F|P text`; what was split is one line again. */
function linesOf(runtime: CriRuntime, { logPath }: RuntimeContainer): readonly LogLine[] {
  const lines: LogLine[] = [];
  let rest = "";
  for (const line of fileText(runtime, logPath).split("\n")) {
    const [time, , tag, ...words] = line.split(" ");
    if (time === undefined || tag === undefined) continue;
    rest += words.join(" ");
    if (tag === "P") continue;
    lines.push({ time, text: rest });
    rest = "";
  }
  return lines;
}

const chunkBytes = 1 << 20;

function fileText(runtime: CriRuntime, path: string): string {
  const decoder = new TextDecoder();
  let text = "";
  for (let offset = 0, size = 1; offset < size; offset += chunkBytes) {
    let read = 0;
    const message = { path, offset, limit: chunkBytes };
    runtime.start(
      { method: "ReadPath", message },
      (answer) => {
        if (!answer.ok || !("content" in answer.message)) return;
        read = answer.message.size;
        text += decoder.decode(answer.message.content, { stream: true });
      },
      () => {},
    );
    size = read;
  }
  return text + decoder.decode();
}

function textOf(lines: readonly LogLine[], options: ReadonlyMap<string, string>, nowSeconds: number): string {
  const since = parseTime(options.get("sinceTime") ?? "");
  const seconds = options.get("sinceSeconds");
  const from = "seconds" in since ? since.seconds : seconds === undefined ? 0 : nowSeconds - Number(seconds);
  const late = from === 0 ? lines : lines.filter(({ time }) => secondsOf(time) >= from);
  const tail = options.get("tailLines");
  const shown = tail === undefined ? late : late.slice(Math.max(0, late.length - Number(tail)));
  const stamped = options.get("timestamps") === "true";
  const text = shown.map((line) => `${stamped ? `${line.time} ` : ""}${line.text}\n`).join("");
  const limit = options.get("limitBytes");
  return limit === undefined ? text : text.slice(0, Number(limit));
}

function secondsOf(time: string): number {
  const read = parseTime(time);
  return "error" in read ? 0 : read.seconds;
}
