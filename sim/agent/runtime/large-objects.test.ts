/** What a pod takes from large objects is taken in turns: none holds up the process that the agent lives in. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { podOf } from "../pods/pod-types.ts";
import type { ApiCaller } from "../ports.ts";
import { run, type Task } from "../task.ts";
import { environment } from "./environment.ts";
import { ProcessWords } from "./process-words.ts";
import { filesOf, newOrigin } from "./volume-files.ts";

const many = <Item>(count: number, item: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => item(at));
const object: JsonObject = { data: Object.fromEntries(many(20_000, (at) => [`k${at}`, "v"])) };
const configMap = { name: "large" };
const pod = podOf({ metadata: { name: "p", namespace: "default", uid: "u" }, spec: { containers: [] } });

/** What comes of a task whose requests are answered at once, and how often it has waited for its next turn. */
function turnsOf<Result>(task: (context: Parameters<typeof environment>[0]) => Task<Result>) {
  const waiting: (() => void)[] = [];
  const clock = {
    nowMicros: () => 0,
    epochUnixMillis: 0,
    after: (_: number, fire: () => void) => {
      waiting.push(fire);
      return () => {};
    },
  };
  const api = { call: (_: object, done: (answer: object) => void) => done({ status: 200, object }) };
  const context = { clock, api: api as ApiCaller, nodeName: "n", podIps: [], hostIps: [], allocatable: {} };
  let result: Result | undefined;
  run(task(context), (made) => (result = made));
  let turns = 0;
  for (; turns < waiting.length; turns++) waiting[turns]?.();
  return { turns, result };
}

it("variables of one config map that is named fifty times", () => {
  const container = { name: "c", image: "i", envFrom: many(50, () => ({ configMapRef: configMap })) };
  const { turns, result } = turnsOf((context) => environment(context, pod, container, new ProcessWords()));
  expect([...(result as { envs: Iterable<object> }).envs]).toHaveLength(20_000);
  expect(turns).toBe(20); // a million variables, 50,000 a turn
});

it("files of one config map that is projected fifty times", () => {
  const volume = { projected: { sources: many(50, () => ({ configMap })) } };
  const { turns, result } = turnsOf((context) => filesOf(context, pod, volume, newOrigin(), 1_000_000));
  expect((result as { files: ReadonlyMap<string, unknown> }).files.size).toBe(20_000);
  expect(turns).toBe(50); // each is more than one turn is for
});

it("files of one annotation that is told a hundred times", () => {
  const metadata = { name: "p", namespace: "default", uid: "u", annotations: { a: "x".repeat(200_000) } };
  const items = many(100, (at) => ({ path: `f${at}`, fieldRef: { fieldPath: "metadata.annotations['a']" } }));
  const told = podOf({ metadata, spec: { containers: [] } });
  const read = (bytesMax: number) =>
    turnsOf((context) => filesOf(context, told, { downwardAPI: { items } }, newOrigin(), bytesMax));
  expect(read(20_000_000).turns).toBeGreaterThanOrEqual(4); // four million bytes a turn
  expect(read(19_999_999).result).toHaveProperty("error");
});
