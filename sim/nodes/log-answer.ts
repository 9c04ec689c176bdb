/** What a light node answers when it is asked for a container's log. Source: the facts on the agent, section 8. */
import { parseTime } from "../../wire/time.ts";
import type { LightPod, LogLine } from "./light-pod.ts";

export interface NodeAnswer {
  readonly status: number;
  readonly text: string;
}

/** `target` is a path and a query. */
export function logAnswer(
  target: string,
  nowSeconds: number,
  find: (namespace: string, name: string) => LightPod | undefined,
): NodeAnswer {
  const [path = "", query = ""] = target.split("?");
  const [, first, namespace = "", name = "", container = "", ...more] = path.split("/").map(decodeURIComponent);
  if (first === "healthz") return { status: 200, text: "ok" };
  if (first !== "containerLogs" || container === "" || more.length > 0) {
    return { status: 404, text: "404 page not found" };
  }
  const options = new Map(
    query.split("&").map((pair) => pair.split("=", 2).map(decodeURIComponent) as [string, string]),
  );
  const pod = find(namespace, name);
  if (pod === undefined) return { status: 404, text: `pod ${JSON.stringify(`${name}_${namespace}`)} not found` };
  const lines = pod.logOf(container, options.get("previous") === "true");
  if (lines === undefined) {
    return { status: 404, text: `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}` };
  }
  return { status: 200, text: textOf(lines, options, nowSeconds) };
}

function textOf(lines: readonly LogLine[], options: ReadonlyMap<string, string>, nowSeconds: number): string {
  const since = parseTime(options.get("sinceTime") ?? "");
  const seconds = options.get("sinceSeconds");
  const from = "seconds" in since ? since.seconds : seconds === undefined ? 0 : nowSeconds - Number(seconds);
  const late = lines.filter((line) => line.seconds >= from);
  const tail = options.get("tailLines");
  const shown = tail === undefined ? late : late.slice(Math.max(0, late.length - Number(tail)));
  const stamped = options.get("timestamps") === "true";
  const text = shown.map((line) => `${stamped ? `${line.time} ` : ""}${line.text}\n`).join("");
  const limit = options.get("limitBytes");
  return limit === undefined ? text : text.slice(0, Number(limit));
}
