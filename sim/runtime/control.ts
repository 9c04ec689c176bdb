/** Changes of a runtime that runs, as one JSON text: what `touchstone runtime set` sends. */
import { z } from "zod";
import { type FigureLie, parseFigureLie } from "../../wire/figure-lie.ts";
import { inPlainWords } from "../../wire/plain-words.ts";
import { parseCallFault } from "./call-fault-text.ts";
import { machineFigures } from "./figure-lies.ts";
import type { SimulatedRuntime } from "./runtime.ts";
import { parseUsage, UsageTextError } from "./usage-text.ts";

const usage = z.string();
const podUsage = z.strictObject({
  memory: usage.optional(),
  cpu: usage.optional(),
  pids: usage.optional(),
  layerBytes: usage.optional(),
  layerInodes: usage.optional(),
  volumeBytes: usage.optional(),
  volumeInodes: usage.optional(),
  hidden: z.boolean().optional(),
});
/** What figures do; null: they are as things are. */
const figures = z.string().nullable().optional();
const machineUsage = z.strictObject({
  memory: usage.nullable().optional(),
  cpu: usage.optional(),
  pids: usage.nullable().optional(),
  swap: usage.optional(),
  rootBytes: usage.nullable().optional(),
  rootInodes: usage.optional(),
  imageBytes: usage.nullable().optional(),
  imageInodes: usage.optional(),
});
const control = z.strictObject({
  /** `namespace/name`, or `namespace/name/container`; null takes back what was set. */
  pods: z.record(z.string(), podUsage.nullable()).optional(),
  machine: machineUsage.optional(),
  conditions: z.strictObject({ runtimeReady: z.boolean().optional(), networkReady: z.boolean().optional() }).optional(),
  /** Of the machine, and of pods by `namespace/name`. */
  figures: z.strictObject({ machine: figures, pods: z.record(z.string(), figures).optional() }).optional(),
  /** Calls that go wrong from now on, beside those that do already; null: none does any more. */
  calls: z.array(z.string()).nullable().optional(),
});

export type Control = z.infer<typeof control>;

/** Throws with what is wrong; nothing has then changed. */
export function applyControl(runtime: SimulatedRuntime, text: string): void {
  const parsed = control.safeParse(JSON.parse(text), { error: inPlainWords });
  if (!parsed.success) throw new UsageTextError(z.prettifyError(parsed.error));
  const { pods = {}, machine, conditions, calls, figures = {} } = parsed.data;
  const settings = Object.entries(pods).map(
    ([name, setting]) => [name, setting === null ? undefined : models(setting)] as const,
  );
  const machineModels = machine === undefined ? undefined : models(machine);
  const faults = calls?.map(parseCallFault) ?? [];
  const told = [[machineFigures, figures.machine] as const, ...Object.entries(figures.pods ?? {})];
  const lies = told.flatMap(([about, said]) =>
    said === undefined ? [] : [[about, said === null ? undefined : figureLie(said)] as const],
  );
  for (const [name, setting] of settings) runtime.use(name, setting);
  if (machineModels !== undefined) runtime.useMachine(machineModels);
  if (conditions !== undefined) runtime.setConditions(definedOf(conditions));
  if (calls === null) runtime.failNothing();
  for (const fault of faults) runtime.fail(fault);
  for (const [about, lie] of lies) runtime.lie(about, lie);
}

/** Texts made models; what is left out stays as it is. */
function models(setting: Readonly<Record<string, string | boolean | null | undefined>>): object {
  const entries = Object.entries(setting).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [[key, typeof value === "string" ? parseUsage(value, key === "cpu" ? -9 : 0) : value] as const];
  });
  return Object.fromEntries(entries);
}

const definedOf = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

function figureLie(text: string): FigureLie {
  const lie = parseFigureLie(text);
  if ("error" in lie) throw new UsageTextError(lie.error);
  return lie;
}
