/** `touchstone capacity import`: a cluster that is there, as an experiment that begins with its shape. */
import { dirname, relative, resolve } from "node:path";
import process from "node:process";
import {
  ClusterShape,
  ImportError,
  type Imported,
  WrongObjectError,
} from "../../scenarios/capacity/import/cluster-shape.ts";
import type { CapacityOptions } from "../command-line.ts";
import { readAuditLog } from "../flags/audit-log.ts";
import { dumpItems } from "../flags/dump-items.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { requireWritable, writeWhole } from "../output/written-files.ts";
import { clusterObjects } from "../targets/cluster-reader.ts";
import { transportTo } from "../targets/suite-target.ts";

type ImportFlags = Extract<CapacityOptions, { readonly action: "import" }>;

export async function importCapacity(options: ImportFlags): Promise<ExitCode> {
  const { dumps, svcconfig, context, output, anonymise, name, auditLog } = options;
  if (dumps.length > 0 === (svcconfig !== undefined))
    throw new UsageError(
      "say where the cluster is to be read: either give dumps of `kubectl get nodes,pods,pdb,priorityclasses -A -o json`, or a connection file with --svcconfig.",
    );
  if (context !== undefined && svcconfig === undefined)
    throw new UsageError("--context names a context of a connection file: give the file with --svcconfig as well.");
  if (anonymise && auditLog !== undefined)
    throw new UsageError(
      "--anonymise and --audit-log do not go together: the log is full of names. Leave one of them out.",
    );
  if (output !== undefined) requireWritable(output, "--output");
  const shape = new ClusterShape();
  const notes: string[] = [];
  if (svcconfig === undefined) for (const path of dumps) addDump(shape, path);
  else await addLive(shape, svcconfig, context, (note) => notes.push(note));
  const log = auditLog === undefined ? undefined : logOf(auditLog, output);
  const from = svcconfig === undefined ? "" : `--svcconfig ${svcconfig}: `;
  if (!shape.hasNodes)
    throw new UsageError(
      `${from}no nodes were found, and an experiment begins with them: ${svcconfig === undefined ? "give `kubectl get nodes,pods,pdb,priorityclasses -A -o json`" : "name another cluster with --context, or another file"}.`,
    );
  const imported = asUsage(from, () =>
    shape.experiment({ isAnonymous: anonymise, name, ...(log === undefined ? {} : { log }) }),
  );
  if (output === undefined) process.stdout.write(imported.text);
  else writeWhole(output, imported.text);
  process.stderr.write(summaryOf(imported, notes, output));
  return exitCodes.good;
}

function addDump(shape: ClusterShape, path: string): void {
  for (const { object, listKind, line } of dumpItems(path)) {
    const kind = typeof object["kind"] === "string" ? object["kind"] : listKind.replace(/List$/, "");
    const where = `${path === "-" ? "standard input" : path}:${line}`;
    if (kind === "")
      throw new UsageError(
        `${where}: an object without a kind, in a list that has not said its own yet: give the list as kubectl prints it.`,
      );
    asUsage(`${where}: `, () => shape.add(kind, object), "Mend it there, or leave the object out.");
  }
}

async function addLive(
  shape: ClusterShape,
  svcconfig: string,
  context: string | undefined,
  note: (text: string) => void,
): Promise<void> {
  const { transport } = transportTo(undefined, { svcconfig, context, insecureSkipTlsVerify: false });
  const flag = `--svcconfig ${svcconfig}`;
  try {
    for await (const { kind, object } of clusterObjects(transport, flag, note))
      asUsage(`${flag}: `, () => shape.add(kind, object), "Mend it there, or import a dump without the object.");
  } finally {
    await transport.close();
  }
}

/** How the experiment's file calls it: relative to itself. */
function logOf(path: string, output: string | undefined): { readonly path: string; readonly seconds: number } {
  const { requests } = readAuditLog(path);
  const last = requests.at(-1);
  if (last === undefined) throw new UsageError(`--audit-log ${path}: there is no request in it.`);
  return {
    path: relative(dirname(resolve(output ?? "imported.yaml")), resolve(path)),
    seconds: Math.ceil(last.atMicros / 1_000_000),
  };
}

/** `advice`: what to do about an object that is wrong. */
function asUsage<Result>(where: string, work: () => Result, advice = ""): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof WrongObjectError) throw new UsageError(`${where}${error.message}. ${advice}`);
    if (error instanceof ImportError) throw new UsageError(`${where}${error.message}.`);
    throw error;
  }
}

function summaryOf({ counts, notes }: Imported, ownNotes: readonly string[], output: string | undefined): string {
  const { nodes, pools, pods, rows, budgets, priorities } = counts;
  const head = `${counted(nodes, "node")} in ${counted(pools, "pool")}, ${counted(pods, "pod")} of ${counted(rows, "kind")}, ${counted(budgets, "budget")}, ${counted(priorities, "priority", "priorities")}`;
  const next = output === undefined ? [] : [`npx touchstone capacity ${output}`];
  return `${[head, ...notes, ...ownNotes, ...next].join("\n")}\n`;
}

const counted = (count: number, one: string, several = `${one}s`): string => `${count} ${count === 1 ? one : several}`;
