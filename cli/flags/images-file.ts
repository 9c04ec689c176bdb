/** `--images`: which images there are and how they behave, as YAML. */
import { z } from "zod";
import { microsOf } from "./amounts.ts";
import type { ImageRow } from "../../sim/runtime/images.ts";
import { parseUsage } from "../../sim/runtime/usage-text.ts";
import { parseYaml } from "../../wire/yaml-text.ts";
import { UsageError } from "./usage-error.ts";

const duration = z.string();
const row = z.strictObject({
  name: z.string().min(1),
  size: z.string().optional(),
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
      memory: z.string().optional(),
      cpu: z.string().optional(),
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

/** Throws `UsageError` with every place that is wrong. */
export function parseImages(text: string, where: string): readonly ImageRow[] {
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (error) {
    throw new UsageError(`--images ${where}: not YAML: ${(error as Error).message}.`);
  }
  const parsed = imagesFile.safeParse(document);
  if (!parsed.success) throw new UsageError(`--images ${where}: ${z.prettifyError(parsed.error)}`);
  try {
    return parsed.data.images.map(rowOf);
  } catch (error) {
    throw new UsageError(`--images ${where}: ${(error as Error).message}`);
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
