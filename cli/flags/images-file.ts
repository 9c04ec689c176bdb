/** `--images`: which images there are and how they behave, as YAML. */
import { z } from "zod";
import { parsedAs, ScenarioError } from "../../scenarios/load.ts";
import { microsOf } from "./amounts.ts";
import type { ImageRow } from "../../sim/runtime/images.ts";
import { parseUsage } from "../../sim/runtime/usage-text.ts";
import { UsageError } from "./usage-error.ts";

/** A text that `read` does not throw for. */
const readBy = (read: (text: string) => unknown) =>
  z.string().superRefine((text, context) => {
    try {
      read(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: (error as Error).message });
    }
  });

const duration = readBy(microsOf);
const usage = readBy((text) => parseUsage(text));
const bytes = readBy((text) => {
  if (parseUsage(text).is !== "constant")
    throw new Error(`"${text}" changes with time: write an amount, such as 120Mi`);
});

const row = z.strictObject({
  name: z.string().min(1),
  size: bytes.optional(),
  present: z.boolean().optional(),
  pinned: z.boolean().optional(),
  pullError: z.string().optional(),
  pullTime: duration.optional(),
  /** Who may pull it. */
  credentials: z.strictObject({ username: z.string(), password: z.string() }).optional(),
  shell: z.boolean().optional(),
  ownPrograms: z.boolean().optional(),
  command: z.array(z.string()).optional(),
  user: z.int().min(0).optional(),
  runs: z
    .strictObject({
      after: duration.optional(),
      status: z.int().min(0).max(255).optional(),
      /** null: it takes no notice of TERM. */
      stop: duration.nullable().optional(),
      stopStatus: z.int().min(0).max(255).optional(),
      memory: usage.optional(),
      cpu: usage.optional(),
      says: z.string().optional(),
      ports: z
        .union([
          z.literal("any"),
          z.array(
            z.strictObject({
              port: z.int().min(1).max(65_535),
              status: z.int().min(100).max(599).optional(),
              body: z.string().optional(),
            }),
          ),
        ])
        .optional(),
    })
    .optional(),
});
const imagesFile = z.strictObject({ images: z.array(row) });

/** Throws `UsageError` with the places that are wrong. */
export function parseImages(text: string, where: string): readonly ImageRow[] {
  try {
    return parsedAs(imagesFile, text, `--images ${where}`).images.map(rowOf);
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
}

function rowOf({ size, pullTime, runs, ...plain }: z.infer<typeof row>): ImageRow {
  const service = runs === undefined ? undefined : serviceOf(runs);
  const amount = size === undefined ? undefined : parseUsage(size);
  return defined({
    ...plain,
    sizeBytes: amount?.is === "constant" ? amount.amount : undefined,
    pullMicros: pullTime === undefined ? undefined : microsOf(pullTime),
    runs: service,
  }) as unknown as ImageRow;
}

function serviceOf({ after, stop, memory, cpu, ports, ...plain }: NonNullable<z.infer<typeof row>["runs"]>): object {
  return defined({
    ...plain,
    afterMicros: after === undefined ? undefined : microsOf(after),
    stopMicros: stop === null || stop === undefined ? stop : microsOf(stop),
    memory: memory === undefined ? undefined : parseUsage(memory),
    cpu: cpu === undefined ? undefined : parseUsage(cpu, -9),
    ports: ports === "any" ? ports : ports?.map(defined),
  });
}

const defined = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
