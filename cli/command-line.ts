/**
 * The command line as data: every command, its flags, their help. Light on purpose: `--help`, `--version` and
 * completion load this and the parser library, and nothing of what the commands do.
 */
import { object, or } from "@optique/core/constructs";
import { lineBreak, type Message, message, text } from "@optique/core/message";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { argument, command, constant, flag, option } from "@optique/core/primitives";
import { choice, integer, string } from "@optique/core/valueparser";
import { path } from "@optique/run/valueparser";
import { topicNames } from "../conformance/diff/topic-names.ts";
import { connectionFlags, sideFlags } from "./flags/connection-flags.ts";
import { faults, file, gates, json, newFolder, profile, rarity, seed } from "./flags/common-flags.ts";
import {
  commaList,
  duration,
  faultList,
  hostAndPort,
  programPath,
  serverUrl,
  sideAddress,
  topicList,
} from "./flags/flag-values.ts";
import { config } from "./flags/configuration-flags.ts";
import { commit, seedRange, shard } from "./flags/hunt-seeds.ts";
import { runtime } from "./flags/runtime-flags.ts";
import { agent } from "./flags/agent-flags.ts";
import { capacity } from "./flags/capacity-flags.ts";
import { serve } from "./flags/serve-flags.ts";

const sideText = message`${text("The first server: a URL, svcconfig:FILE for a connection file, or embedded:svc, embedded:kubernetes for the simulated one.")}`;

const conform = object({
  command: constant("conform"),
  url: optional(
    argument(serverUrl(), {
      description: message`The server to judge. Without it: the embedded server, on virtual time.`,
    }),
  ),
  profile,
  agent: optional(
    option("--agent", string({ metavar: "COMMAND" }), {
      description: message`${text("Judge a node agent instead: a shell's command, started many times with flags of document 3, such as nodeagent or a kubelet with what it always needs.")}`,
    }),
  ),
  ...connectionFlags(),
  only: multiple(
    option("--only", commaList("NAMES"), {
      description: message`Only these checks, requirements or areas, joined by commas; * stands for any characters.`,
    }),
  ),
  skip: multiple(option("--skip", commaList("NAMES"), { description: message`All but these.` })),
  list: withDefault(
    flag("--list", {
      description: message`Run nothing; print requirements and checks, those that --only and --skip leave, with why some have no check.`,
    }),
    false,
  ),
  law: withDefault(
    option("--law", choice(["must", "observed"], { metavar: "LAW" }), {
      description: message`${text("must: only what the documents promise. observed: the whole law of the profile.")}`,
    }),
    "observed" as const,
  ),
  level: withDefault(
    option("--level", choice(["quick", "full"], { metavar: "LEVEL" }), {
      description: message`${text("quick: fewer programs embedded, by URL nothing that waits until the server forgets. full: all.")}`,
    }),
    "full" as const,
  ),
  seed: seed("Seed of all random programs."),
  path: optional(
    option("--path", programPath(), {
      description: message`One program below the seed, as a failure names it. Needs --only with one check.`,
    }),
  ),
  runs: optional(
    option("--runs", integer({ min: 1, max: 1_000_000, metavar: "N" }), {
      description: message`Programs for each property. Default 100 embedded, 20 by URL and at the level quick; by URL, by default, a check that has taken half a minute skips further random ones, and after two minutes all that remain.`,
    }),
  ),
  jobs: optional(
    option("--jobs", integer({ min: 1, max: 64, metavar: "N" }), {
      description: message`Checks at a time: embedded on threads, by default one for each core up to 4; by URL 8.`,
    }),
  ),
  shard: optional(
    option("--shard", shard(), {
      description: message`Only the i-th of n shares of the checks, as 1/3; view --merge makes one report of all shares.`,
    }),
  ),
  maxTime: optional(
    option("--max-time", duration(), {
      description: message`End the run in order when this time is over: what is not judged by then is inconclusive.`,
    }),
  ),
  maxWait: withDefault(
    option("--max-wait", duration(), { description: message`How long an expiry may take before it is inconclusive.` }),
    900_000_000,
  ),
  webhookAddress: optional(
    option("--webhook-address", hostAndPort("HOST"), {
      description: message`${text("How the server at the URL reaches this machine, as HOST or HOST:PORT: webhooks of the suite listen there over HTTPS. Default: nowhere, and checks that need one are unsupported.")}`,
    }),
  ),
  joinNodes: withDefault(
    flag("--join-nodes", {
      description: message`Let nodes of the suite join the cluster at the URL, tainted for the suite's pods alone, to judge evictions under pressure and what becomes of pods. They are agents in this process, and make the run some fifteen minutes long. Default: none joins, and these checks are unsupported.`,
    }),
    false,
  ),
  tokenIssuer: optional(
    option("--token-issuer", hostAndPort("HOST:PORT"), {
      description: message`${text("How the server at the URL reaches the suite as an issuer of tokens, as the files of --print-config say it. Default: not at all, and checks of tokens are unsupported.")}`,
    }),
  ),
  authorizerAddress: optional(
    option("--authorizer-address", hostAndPort("HOST:PORT"), {
      description: message`${text("How it reaches the suite's authorization webhooks. Default: not at all, and checks of them are unsupported.")}`,
    }),
  ),
  accessFiles: optional(
    option("--access-files", newFolder, {
      description: message`The folder of the files that --print-config makes, and of the suite's own certificate and key.`,
    }),
  ),
  printConfig: withDefault(
    flag("--print-config", {
      description: message`Run nothing; write and print the configuration files that a server needs so that its tokens and authorizers can be judged.`,
    }),
    false,
  ),
  compactHook: optional(
    option("--compact-hook", string({ metavar: "CMD" }), {
      description: message`Run this in a shell, once all else is judged, to make the server at the URL forget its history; instead of waiting for that.`,
    }),
  ),
  report: optional(
    option("--report", newFolder, {
      description: message`Write the report in every form into this folder: report.json, .html, .md, .txt, junit.xml, a badge, the evidence of failures.`,
    }),
  ),
  format: optional(
    option("--format", choice(["text", "json", "junit", "html", "markdown", "ndjson"], { metavar: "FORMAT" }), {
      description: message`What to print: text (default), json, junit, html, markdown, or ndjson: one event a line while the run goes on.`,
    }),
  ),
  events: optional(
    option("--events", path({ metavar: "FILE", type: "file", allowCreate: true }), {
      description: message`Write one JSON event a line into this file while the run goes on.`,
    }),
  ),
  baseline: optional(
    option("--baseline", file("FILE"), {
      description: message`Findings that are expected, with reasons: they do not fail the run; one that is gone does.`,
    }),
  ),
  writeBaseline: optional(
    option("--write-baseline", path({ metavar: "FILE", type: "file", allowCreate: true }), {
      description: message`Write what was found as a baseline, with the reasons of --baseline kept.`,
    }),
  ),
  json,
  faultHunt: optional(
    option("--faults", faultList(), {
      description: message`Try the suite itself: plant each of these bugs in turn (or all), and tell which check finds it.`,
    }),
  ),
  seeds: optional(
    option("--seeds", integer({ min: 1, max: 10_000, metavar: "N" }), {
      description: message`Try the suite itself: judge a server without any planted bug over N seeds; nothing may be found.`,
    }),
  ),
  faults: faults("embedded server"),
  rarity,
  featureGates: gates,
});

const runMode = optional(
  option("--mode", choice(["lite", "swarm", "performance"], { metavar: "MODE" }), {
    description: message`${text("lite: faults at the rates that are written. swarm: every rate drawn from the seed, some faults left out. performance: no faults. Default: the scenario's own.")}`,
  }),
);

const plantedBugNames = multiple(
  option("--fault", string({ metavar: "NAME" }), {
    description: message`${text("Plant this bug in the run: one of docs/simulated-bugs.md or docs/faults.md. May be given more than once.")}`,
  }),
);

const run = object({
  command: constant("run"),
  scenario: argument(file("SCENARIO"), { description: message`A scenario file.` }),
  seed: optional(
    option("--seed", integer({ min: 0, max: 4_294_967_295, metavar: "N" }), {
      description: message`Seed of the run. Default: the scenario's own.`,
    }),
  ),
  seeds: optional(
    option("--seeds", integer({ min: 1, max: 10_000, metavar: "N" }), {
      description: message`Play so many seeds, from --seed on, and tell which fail.`,
    }),
  ),
  profile: optional(
    option("--profile", choice(["svc", "kubernetes"], { metavar: "PROFILE" }), {
      description: message`svc or kubernetes. Default: the scenario's own.`,
    }),
  ),
  mode: runMode,
  faults: plantedBugNames,
  trace: optional(
    option("--trace", path({ metavar: "FILE", type: "file", allowCreate: true }), {
      description: message`Write down what happened, a line a change, with a legend; as JSON, for ${text("`touchstone view`")}, when the name ends in .json.`,
    }),
  ),
  checkDeterminism: withDefault(
    flag("--check-determinism", {
      description: message`Run twice and show the first record of the trace that differs.`,
    }),
    false,
  ),
  reruns: optional(
    option("--reruns", integer({ min: 1, max: 10_000, metavar: "N" }), {
      description: message`With --check-determinism: so many times more, and as many in a thread of its own.`,
    }),
  ),
  json,
});

const hunt = object({
  command: constant("hunt"),
  scenario: optional(argument(file("SCENARIO"), { description: message`A scenario file.` })),
  seeds: optional(
    option("--seeds", seedRange(), {
      description: message`${text("Which seeds: 1..10000, or so many from 1 on. Default 1000.")}`,
    }),
  ),
  time: optional(option("--for", duration(), { description: message`Seeds from 1 on, for so long.` })),
  commit: optional(
    option("--commit", commit(), {
      description: message`Seeds that follow from this git commit: random, and the same for everybody who has it.`,
    }),
  ),
  mode: runMode,
  profile: optional(
    option("--profile", choice(["svc", "kubernetes"], { metavar: "PROFILE" }), {
      description: message`svc or kubernetes. Default: the scenario's own.`,
    }),
  ),
  faults: plantedBugNames,
  jobs: optional(
    option("--jobs", integer({ min: 1, max: 64, metavar: "N" }), {
      description: message`Threads. Default: one for each core, up to 4.`,
    }),
  ),
  shard: optional(
    option("--shard", shard(), {
      description: message`${text("Play this part of the seeds, as 2/3; --merge puts the reports together.")}`,
    }),
  ),
  queue: optional(
    option("--queue", string({ metavar: "URL" }), {
      description: message`${text("Hand the seeds out through the Redis server at redis://HOST:PORT, to workers of the same build.")}`,
    }),
  ),
  worker: withDefault(flag("--worker", { description: message`Be a worker of the queue.` }), false),
  merge: multiple(
    option("--merge", file("FILE"), {
      description: message`Put reports of parts together into one, and play nothing. May be given more than once.`,
    }),
  ),
  output: optional(
    option("--output", newFolder, {
      description: message`${text("Where report.json, capsules and hunt.sqlite go; a hunt that was stopped goes on there. Default out/hunts/NAME. Capsules of other hunts stay there; report.json is that of the last.")}`,
    }),
  ),
  json,
});

const shrink = object({
  command: constant("shrink"),
  file: argument(file("FILE"), { description: message`A capsule that hunt has written.` }),
  output: optional(
    option("--output", path({ metavar: "FILE", type: "file", allowCreate: true }), {
      description: message`Where the smaller capsule goes. Default: beside the given one, as .shrunk.json.`,
    }),
  ),
  attempts: withDefault(
    option("--attempts", integer({ min: 1, max: 100_000, metavar: "N" }), {
      description: message`Runs that may be tried.`,
    }),
    500,
  ),
  json,
});

const diff = object({
  command: constant("diff"),
  addressA: argument(sideAddress("A"), { description: sideText }),
  addressB: argument(sideAddress("B"), { description: message`The other one, in the same forms.` }),
  a: object(sideFlags("a")),
  b: object(sideFlags("b")),
  only: multiple(
    option("--only", topicList(), {
      description: message`${text(`Only these topics, joined by commas: ${topicNames.join(", ")}.`)}`,
    }),
  ),
  seed: seed("Seed of all random programs, and of embedded servers."),
  runs: optional(
    option("--runs", integer({ min: 1, max: 100_000, metavar: "N" }), {
      description: message`Programs for each topic. Default 100 when both are embedded, 20 otherwise.`,
    }),
  ),
  report: optional(
    option("--report", newFolder, {
      description: message`Write diff.json and diff.txt into this folder.`,
    }),
  ),
  json,
});

const replay = object({
  command: constant("replay"),
  file: argument(file("FILE"), {
    description: message`A failure file that conform --report has written, or a capsule of hunt or shrink.`,
  }),
  judgeOnly: withDefault(
    flag("--judge-only", {
      description: message`Judge the history in the file again, and ask no server anything.`,
    }),
    false,
  ),
  ...connectionFlags(),
  json,
});

/** Forms of a report that can be made of its file alone. */
const suiteFormats = ["html", "text", "markdown", "json", "junit", "badge", "badge-json"] as const;
export type SuiteFormat = (typeof suiteFormats)[number];
const viewFormats = [...suiteFormats, "perfetto"] as const;
export type ViewFormat = (typeof viewFormats)[number];

const view = object({
  command: constant("view"),
  files: multiple(
    argument(path({ metavar: "FILE", mustExist: true }), {
      description: message`A report.json of conform --report, or its folder; several are put side by side. Or a trace of run --trace FILE.json, a capsule of hunt, or what a hunt has reported.`,
    }),
  ),
  merge: withDefault(
    flag("--merge", {
      description: message`Make one report of the reports of all shards of a run, and show that.`,
    }),
    false,
  ),
  format: optional(
    option("--format", choice(viewFormats, { metavar: "FORMAT" }), {
      description: message`html (default), text, markdown, json, junit, badge (SVG) or badge-json (for shields.io); of traces html, text, json or perfetto (for ui.perfetto.dev and chrome://tracing); of hunts text or json.`,
    }),
  ),
  output: optional(
    option("--output", path({ metavar: "FILE", type: "file", allowCreate: true }), {
      description: message`Where to write; - is standard output. Default: report.html for html, trace.html for that of a trace, else standard output.`,
    }),
  ),
  schema: optional(
    option("--schema", choice(["report", "failure", "event", "baseline", "diff", "faults"], { metavar: "KIND" }), {
      description: message`Print the JSON schema of this kind of document instead.`,
    }),
  ),
});

export type ConformOptions = InferValue<typeof conform>;
export type ServeOptions = InferValue<typeof serve>;
export type HuntOptions = InferValue<typeof hunt>;
export type ShrinkOptions = InferValue<typeof shrink>;
export type RunOptions = InferValue<typeof run>;
export type ReplayOptions = InferValue<typeof replay>;
export type DiffOptions = InferValue<typeof diff>;
export type ViewOptions = InferValue<typeof view>;
export type ConfigOptions = InferValue<typeof config>;
export type CapacityOptions = InferValue<typeof capacity>;
export type RuntimeCommandOptions = InferValue<typeof runtime>;

/** Examples as they are typed, one a line. */
function examples(...commands: readonly string[]): Message {
  return lines("Examples:", ...commands).slice(2);
}

/** A heading, and lines below it as they are. */
function lines(heading: string, ...rest: readonly string[]): Message {
  return [lineBreak(), lineBreak(), text(heading), ...rest.flatMap((line) => [lineBreak(), text(`  ${line}`)])];
}

export const commandLine = or(
  command("conform", conform, {
    brief: message`Judge a server by the conformance suite.`,
    footer: examples(
      "touchstone conform",
      "touchstone conform --profile kubernetes --report out/embedded",
      "touchstone conform http://127.0.0.1:8001 --only watch,lists --seed 7",
      "touchstone conform https://10.0.0.1:6443 --token-file token --ca-file ca.pem",
      "touchstone conform https://10.0.0.1:6443 --client-cert me.pem --client-key me.key --ca-file ca.pem --http 2",
      "touchstone conform --svcconfig config.yaml --context staging",
      "touchstone conform http://127.0.0.1:8001 --compact-hook ./compact.sh",
      "touchstone conform --list --only 'watch.*'",
      "touchstone conform --fault list-null-items",
      "touchstone conform --faults all --seeds 10 --runs 30",
      "touchstone conform --baseline known.yaml --report out/embedded",
    ).concat(
      lines(
        "Exit codes:",
        "0  every applicable requirement is proven or a declared deviation, or all that failed is in the baseline",
        "1  the target failed, or a declared deviation or an entry of the baseline is stale",
        "2  wrong usage; nothing was run",
        "3  inconclusive: not all was proven, nothing was, or the run was cut short",
        "4  Touchstone itself broke; this says nothing about the target",
      ),
    ),
  }),
  command("serve", serve, {
    brief: message`Serve the simulated API server on a real socket.`,
    footer: examples(
      "touchstone serve --profile kubernetes --port 8001",
      "touchstone serve --profile kubernetes --nodes 20 --speed 10 --data-dir here",
      "touchstone serve --port 0 --token-auth-file tokens.csv --history-window 30s",
      "touchstone serve --profile kubernetes --fault watch-start-inclusive --access-log",
      "touchstone serve --profile kubernetes --chaos scenarios/chaos/bad-day.yaml --seed 7 --chaos-log did.ndjson",
    ),
  }),
  command("agent", agent, {
    brief: message`Run one real node agent against any API server and container runtime.`,
    footer: examples(
      "touchstone agent --svcconfig agent.yaml --container-runtime-endpoint unix:///run/touchstone/runtime.sock",
      "touchstone agent --svcconfig agent.yaml --hostname-override node-2 --eviction-hard 'memory.available<1Gi'",
      "touchstone agent --pod-manifest-path manifests --container-runtime-endpoint unix:///run/touchstone/runtime.sock",
    ),
  }),
  command("run", run, {
    brief: message`Play one seeded simulation of a scenario.`,
    footer: examples(
      "touchstone run scenarios/one-broken-link.yaml",
      "touchstone run scenarios/one-broken-link.yaml --seed 7 --check-determinism --reruns 20",
      "touchstone run scenarios/one-broken-link.yaml --seeds 100 --mode swarm",
      "touchstone run scenarios/one-broken-link.yaml --fault client-relist-keeps-deleted --trace run.txt",
    ).concat(
      lines(
        "Exit codes:",
        "0  what was expected held",
        "1  an expectation or an invariant was broken",
        "2  wrong usage; nothing was run",
        "3  inconclusive: an expectation could not be judged, or --seeds was cut short: what was played is told; or the trace could not be written",
        "4  Touchstone itself broke, or a run differs from itself",
      ),
    ),
  }),
  command("hunt", hunt, {
    brief: message`Play a scenario over many seeds, and keep what fails.`,
    footer: examples(
      "touchstone hunt scenarios/one-broken-link.yaml --seeds 1..10000 --mode swarm",
      "touchstone hunt scenarios/one-broken-link.yaml --for 10m --jobs 2",
      "touchstone hunt scenarios/one-broken-link.yaml --seeds 3000 --shard 2/3 --output out/part-2",
      "touchstone hunt --merge out/part-1/report.json --merge out/part-2/report.json",
      "touchstone hunt scenarios/one-broken-link.yaml --queue redis://127.0.0.1:6379",
      "touchstone hunt --worker --queue redis://127.0.0.1:6379",
    ).concat(
      lines(
        "Exit codes:",
        "0  no seed failed, and all was seen that the scenario says is seen sometimes",
        "1  seeds failed: the report names their capsules",
        "2  wrong usage; nothing was run",
        "3  inconclusive: cut short, or something was never seen, or what was found could not be written",
        "4  Touchstone itself broke",
      ),
    ),
  }),
  command("capacity", capacity, {
    brief: message`Play experiments on capacity: how many nodes, what if all restart, what a flag costs.`,
    footer: examples(
      "touchstone capacity scenarios/capacity/restart-storm.yaml --quick",
      "touchstone capacity find scenarios/capacity/how-many-nodes.yaml --quick",
      "touchstone capacity compare out/capacity/before/report.json out/capacity/after/report.json",
      "touchstone capacity import cluster.json --anonymise --output imported.yaml",
      "touchstone capacity scenarios/capacity/churn.yaml --set cluster.nodes=200 --repetitions 5",
    ).concat(
      lines(
        "Exit codes:",
        "0  every objective is met; of compare: no figure is worse; of find: it came to its end, breach or none",
        "1  an objective is broken; of compare: a figure is worse, beyond the threshold and beyond chance",
        "2  wrong usage, or an experiment that cannot be played",
        "3  cut short: the report, or what find tells, has what was done; of compare: too few repetitions to prove it",
        "4  Touchstone itself broke",
      ),
    ),
  }),
  command("shrink", shrink, {
    brief: message`Make a failing run smaller.`,
    footer: examples("touchstone shrink out/hunts/informers/capsules/cluster.converges-seed-6-b3fe26.json").concat(
      lines(
        "Exit codes:",
        "0  nothing more is found to leave out, or all attempts were made",
        "2  wrong usage, or the failure does not come back",
        "3  cut short: the smallest that was found is written, or it could not be written",
        "4  Touchstone itself broke",
      ),
    ),
  }),
  command("diff", diff, {
    brief: message`Compare the answers of two servers to the same programs.`,
    footer: examples(
      "touchstone diff embedded:svc embedded:kubernetes",
      "touchstone diff http://127.0.0.1:8001 embedded:kubernetes --only watches,lists --seed 7",
      "touchstone diff https://10.0.0.1:6443 https://10.0.0.2:6443 --a-token-file one --b-token-file two",
      "touchstone diff embedded:svc embedded:svc --b-fault list-null-items",
    ).concat(
      lines(
        "Exit codes:",
        "0  no difference: every program was played on both, and answered alike",
        "1  there are differences",
        "2  wrong usage; nothing was run",
        "3  inconclusive: a server was not reached, a program was not played to its end, or the run was cut short",
        "4  Touchstone itself broke",
      ),
    ),
  }),
  command("replay", replay, {
    brief: message`Make a failure again, exactly, from its file.`,
    footer: examples("touchstone replay out/embedded/failures/watch-replays-to-list.json"),
  }),
  command("config", config, {
    brief: message`Explain configuration files without starting anything.`,
    footer: examples(
      "touchstone config check authentication.yaml authorization.yaml --profile kubernetes",
      "touchstone config check authentication.yaml --profile kubernetes --token token",
      "touchstone config check authorization.yaml --as jane --verb get --resource pods --namespace default",
      "touchstone config schema AuthenticationConfiguration > authentication.schema.json",
    ),
  }),
  command("runtime", runtime, {
    brief: message`Run a simulated container runtime on a socket, or change one that runs.`,
    footer: examples(
      "touchstone runtime --listen unix:///tmp/cri.sock --memory 8Gi --disk 50Gi",
      "touchstone runtime --listen unix:///tmp/cri.sock --images images.yaml --closed-registry",
      "touchstone runtime set --listen unix:///tmp/cri.sock --pod default/web --memory 'ramp 50Mi..2Gi over 60s'",
      "touchstone runtime set --listen unix:///tmp/cri.sock --disk 48Gi",
    ),
  }),
  command("view", view, {
    brief: message`Show saved reports: as a page, as Markdown, side by side.`,
    footer: examples(
      "touchstone view out/embedded",
      "touchstone view a.json b.json --output compared.html",
      "touchstone view out/embedded --format markdown",
      "touchstone view --schema report",
      "touchstone view run.json --output run.html",
      "touchstone view out/hunts/informers/capsules/cluster.converges-seed-6-b3fe26.json --format perfetto --output run.perfetto.json",
    ),
  }),
);

export type CommandLine = InferValue<typeof commandLine>;
