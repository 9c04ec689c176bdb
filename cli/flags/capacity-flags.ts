/** The flags of `touchstone capacity`. */
import { object, or } from "@optique/core/constructs";
import { message, text } from "@optique/core/message";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { argument, command, constant, flag, option } from "@optique/core/primitives";
import { integer, string, type ValueParser } from "@optique/core/valueparser";
import { path } from "@optique/run/valueparser";
import { commandOrFlags } from "./command-or-flags.ts";
import { file, json, newFolder } from "./common-flags.ts";
import { duration } from "./flag-values.ts";
import { shard } from "./hunt-seeds.ts";

/** `cluster.nodes=200`: a path in the experiment, and what stands there then, as YAML. */
function setting(): ValueParser<"sync", readonly [string, string]> {
  return {
    mode: "sync",
    metavar: "PATH=VALUE",
    placeholder: ["cluster.nodes", "10"],
    parse(input) {
      const equals = input.indexOf("=");
      if (equals < 1)
        return {
          success: false,
          error: message`Expected a parameter and its value such as cluster.nodes=200, but got ${input}.`,
        };
      return { success: true, value: [input.slice(0, equals), input.slice(equals + 1)] };
    },
    format: ([name, value]) => `${name}=${value}`,
  };
}

function experimentName(): ValueParser<"sync", string> {
  return {
    mode: "sync",
    metavar: "NAME",
    placeholder: "imported",
    parse: (input) =>
      /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(input)
        ? { success: true, value: input }
        : {
            success: false,
            error: message`Expected a name of lower-case letters, digits and hyphens, but got ${input}.`,
          },
    format: (value) => value,
  };
}

const experiment = argument(file("FILE"), { description: message`An experiment's file.` });

const forms = {
  quick: withDefault(
    flag("--quick", { description: message`${text("The experiment's quick form: minutes.")}` }),
    false,
  ),
  tiny: withDefault(
    flag("--tiny", { description: message`${text("Its tiny form: a second or so, for tests.")}` }),
    false,
  ),
  set: multiple(
    option("--set", setting(), { description: message`Another value of any parameter. May be given more than once.` }),
  ),
  costModel: optional(
    option("--cost-model", file("FILE"), {
      description: message`${text("Constants of the latency model, in YAML; those left out are the published ones.")}`,
    }),
  ),
  seed: optional(
    option("--seed", integer({ min: 0, max: 4_294_967_295, metavar: "N" }), {
      description: message`Seed. Default: the experiment's own.`,
    }),
  ),
  jobs: optional(
    option("--jobs", integer({ min: 1, max: 64, metavar: "N" }), {
      description: message`Threads. Default: one for each core, up to 4.`,
    }),
  ),
  json,
} as const;

const play = object({
  command: constant("capacity"),
  action: constant("run"),
  file: optional(experiment),
  ...forms,
  arms: multiple(
    option("--arm", string({ metavar: "NAME" }), { description: message`Only this arm. May be given more than once.` }),
  ),
  repetitions: optional(
    option("--repetitions", integer({ min: 1, max: 10_000, metavar: "N" }), {
      description: message`How often each arm is played.`,
    }),
  ),
  shard: optional(
    option("--shard", shard(), {
      description: message`${text("Play this part of the runs, as 2/3; --merge puts the reports together.")}`,
    }),
  ),
  queue: optional(
    option("--queue", string({ metavar: "URL" }), {
      description: message`${text("Hand the runs out through the Redis server at redis://HOST:PORT, to workers of the same build.")}`,
    }),
  ),
  worker: withDefault(flag("--worker", { description: message`Be a worker of the queue.` }), false),
  merge: multiple(
    option("--merge", file("FILE"), {
      description: message`Put reports of parts together into one, and play nothing. May be given more than once.`,
    }),
  ),
  metricsAt: optional(
    option("--metrics-at", duration(), {
      description: message`${text("When the server's metrics are scraped for metrics.prom, from the start of the measurement. Default: at its end.")}`,
    }),
  ),
  output: optional(
    option("--output", newFolder, {
      description: message`${text("Where the report goes in every form. Default out/capacity/NAME; with --merge, nowhere.")}`,
    }),
  ),
});

const compare = object({
  command: constant("capacity"),
  action: constant("compare"),
  files: multiple(
    argument(path({ metavar: "REPORT", type: "file" }), {
      description: message`Reports; of one, its arms are compared, of several, arms of the same name.`,
    }),
    { min: 1, errors: { tooFew: message`capacity compare needs a report of two arms, or several reports.` } },
  ),
  threshold: withDefault(
    option("--threshold", integer({ min: 0, max: 1000, metavar: "PERCENT" }), {
      description: message`Differences below this are no regression.`,
    }),
    1,
  ),
  gate: multiple(
    option("--gate", string({ metavar: "FIGURE" }), {
      description: message`${text("Only these figures can fail the gate, by their names in the table; all by default.")}`,
    }),
  ),
  json,
});

const find = object({
  command: constant("capacity"),
  action: constant("find"),
  file: experiment,
  ...forms,
  parameter: optional(
    option("--parameter", string({ metavar: "PATH" }), {
      description: message`What is bisected, as cluster.nodes. Default: as the experiment says.`,
    }),
  ),
  arm: optional(
    option("--arm", string({ metavar: "NAME" }), {
      description: message`${text("The arm that is played, of an experiment with arms. Default: the first one.")}`,
    }),
  ),
  from: optional(option("--from", integer({ min: 0, metavar: "N" }), { description: message`The smallest value.` })),
  to: optional(option("--to", integer({ min: 1, metavar: "N" }), { description: message`The largest.` })),
  output: optional(
    option("--output", newFolder, {
      description: message`${text("Where find.txt and find.json go. Default out/capacity/NAME.")}`,
    }),
  ),
});

const importing = object({
  command: constant("capacity"),
  action: constant("import"),
  dumps: multiple(
    argument(string({ metavar: "DUMP" }), {
      description: message`${text("What `kubectl get nodes,pods,pdb,priorityclasses -A -o json` has printed; - for standard input.")}`,
    }),
  ),
  svcconfig: optional(
    option("--svcconfig", file("FILE"), {
      description: message`${text("A connection file in the form of kubeconfig, instead of dumps: the cluster is read, page by page.")}`,
    }),
  ),
  context: optional(
    option("--context", string({ metavar: "NAME" }), { description: message`Context of the connection file.` }),
  ),
  anonymise: withDefault(
    flag("--anonymise", {
      description: message`${text("Put numbers in the place of names of namespaces, workloads, labels and resources.")}`,
    }),
    false,
  ),
  auditLog: optional(
    option("--audit-log", file("FILE"), {
      description: message`${text("Replay this recorded audit log, JSON lines, as the workload.")}`,
    }),
  ),
  name: withDefault(
    option("--name", experimentName(), { description: message`Name of the experiment. Default imported.` }),
    "imported",
  ),
  output: optional(
    option("--output", path({ metavar: "FILE", type: "file" }), {
      description: message`${text("Where the experiment goes. Default: standard output.")}`,
    }),
  ),
});

export const capacity = commandOrFlags(
  or(
    command("import", importing, {
      brief: message`${text("Make an experiment that begins with the shape of a cluster that is there.")}`,
    }),
    command("find", find, {
      brief: message`${text("Find the value of a parameter at which an objective is first broken, and what binds there.")}`,
    }),
    command("compare", compare, {
      brief: message`${text("Compare arms, with intervals of confidence; exit code 1 for a regression.")}`,
    }),
  ),
  play,
);
