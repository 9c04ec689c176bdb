/** The tables of limits in docs/serving.md, docs/agent.md, docs/runtime.md and docs/reports.md say what the code has: each row by its constants, or by its flags. */
import { describe, expect, it } from "vitest";
import { readTreeFile } from "./sources.ts";

/** A constant, `file name`, or a flag of `serve`; as the table writes its value. */
interface Source {
  readonly from: string;
  readonly as: (value: number) => string;
}

const counted = (value: number): string => value.toLocaleString("en-US");
const count = (from: string): Source => ({ from, as: counted });
const millis = (from: string): Source => ({ from, as: (value) => `${value / 1000} ms` });
const size = (from: string): Source => ({
  from,
  as: (value) => (value < 1 << 20 ? `${value / 1024} KiB` : `${value / (1 << 20)} MiB`),
});
const flag = (name: string): Source => ({ from: name, as: () => `\`${name}\`` });

const run = "sim/apiserver/requests/run.ts";
const values = "sim/objects/value-limit.ts";
const collection = "sim/apiserver/verbs/delete-collection.ts";
const recounts = "sim/apiserver/verbs/quota-recounts.ts";
const sums = "sim/apiserver/verbs/quota-sums.ts";
const cri = "sim/grpc/cri-server.ts";

/** By how a row begins. */
const rows: Readonly<Record<string, Readonly<Record<string, readonly Source[]>>>> = {
  "docs/serving.md": {
    "a body": [size("sim/apiserver/requests/body-size.ts bodyBytesMax")],
    "line and headers": [size("sim/http/http1-server.ts headBytesMax")],
    "segments of a path": [count("sim/apiserver/requests/url.ts segmentsMax")],
    "terms and values of a selector": [count("sim/apiserver/reads/options.ts selectorTermsMax")],
    "bodies that are not complete": [size("sim/http/http1-server.ts bodyRoomBytes")],
    "what a connection brings": [
      size("sim/http/paced-socket.ts parsedBytesMax"),
      size("sim/http/paced-socket.ts passedBytesMax"),
      size("sim/http/paced-socket.ts smallBytesMax"),
    ],
    "answers that nobody": [size("sim/http/http1-server.ts unreadRoomBytes")],
    "pieces of bodies": [count("sim/kernel/paced-sessions.ts piecesMax")],
    "answers of those": [
      size("sim/http/http-forwarder.ts wholeBytesMax"),
      size("sim/http/arriving-answers.ts sharedBytesMax"),
      size("sim/http/arriving-answers.ts measureBytes"),
      { from: "sim/http/arriving-answers.ts measureMillis", as: (value) => `in ${value / 1000} s` },
    ],
    "log lines for stderr": [size("cli/output/line-log.ts unreadBytesMax")],
    "values in one object": [count(`${values} valuesMax`)],
    "values in one body": [count(`${values} bodyValuesMax`)],
    "an object as JSON": [size(`${values} objectBytesMax`)],
    "large bodies whose requests": [size("sim/apiserver/requests/large-requests.ts togetherBytesMax")],
    "a request in one step": [
      size(`${run} largeBodyBytesMin`),
      count(`${run} denseSeparatorsMin`),
      size(`${run} largeQueryLengthMin`),
      count(`${values} largeValuesMin`),
    ],
    "statuses of quotas": [
      count(`${recounts} statusesPerTurn`),
      { from: `${recounts} amountsPerStatus`, as: (value) => `each of ${value} amounts` },
      { from: `${sums} countedPerTurn`, as: (value) => `${counted(value)} objects` },
      {
        from: `${sums} bytesPerCounted`,
        as: (value) => `${(value * valueOf(`${sums} countedPerTurn`)) / 1e6} MB of large ones`,
      },
    ],
    "a collection that is deleted": [
      count(`${collection} turnItemsMax`),
      {
        from: `${collection} bytesPerItem`,
        as: (value) => `${(value * valueOf(`${collection} turnItemsMax`)) / 1e6} MB of large ones`,
      },
      { from: `${collection} itemsPerJournaled`, as: (value) => `one in ${value} of that` },
      flag("--data-dir"),
    ],
    "requests that begin": [
      millis("sim/kernel/loop-share.ts turnMicrosMax"),
      size("sim/http/exchange.ts largeRequestBytesMin"),
      millis("sim/http/request-costs.ts longMicrosMin"),
      { from: "sim/http/request-costs.ts longTimesMin", as: (value) => `last ${value} times` },
    ],
    "an answer in one piece": [size("sim/http/sliced-body.ts wholeBytesMax")],
    "digits of a whole number": [count("wire/json-reader.ts digitsMax")],
    "nesting of an object": [count("sim/objects/walk-context.ts depthMax")],
    "nesting of YAML": [
      count("sim/objects/yaml-scanner.ts depthMax"),
      count("sim/objects/yaml-scanner.ts keyCharactersMax"),
      count("sim/objects/walk-context.ts depthMax"),
    ],
    "operations of a JSON patch": [
      count("sim/objects/json-patch.ts operationsMax"),
      size("sim/objects/json-patch.ts copiedBytesMax"),
      count(`${values} valuesMax`),
    ],
    "a request for a certificate": [size("sim/kinds/certificates/request.ts charactersMax")],
    annotations: [size("sim/objects/metadata.ts annotationBytesMax")],
    "causes in a refusal": [count("sim/contract/errors.ts toldCharactersMax")],
    "a custom object's row": [
      count("sim/kinds/custom/columns.ts rowStepsMax"),
      count("sim/kinds/custom/columns.ts rowCharactersMax"),
    ],
    "nesting of an expression": [count("sim/expressions/syntax.ts depthMax")],
    "one evaluation": [
      count("sim/expressions/expression.ts callCostMax"),
      count("sim/expressions/labour.ts labourMax"),
    ],
    "all expressions on one object": [
      count("sim/apiserver/admission/policies.ts policyCostMax"),
      count("sim/kinds/admission/match-conditions.ts costMax"),
      count("sim/apiserver/access/webhooks/webhook-authorizer.ts conditionsCostMax"),
    ],
    "expressions evaluated in one step": [
      count("sim/expressions/pace.ts turnCostMax"),
      count("sim/expressions/pace.ts beginCost"),
    ],
    "comparisons with": [count("sim/kinds/custom/validate-value.ts alternativeStepsMax")],
    "what defaults": [size("sim/kinds/custom/shape-value.ts defaultedMax")],
    "an answer of somebody": [
      { from: "sim/http/webhook-caller.ts answerBytesMax", as: (value) => `webhook's ${value / 2 ** 20} MiB` },
      { from: "sim/http/review-caller.ts answerBytesMax", as: (value) => `authorizer's ${value / 2 ** 20} MiB` },
      { from: "sim/http/issuer-caller.ts answerBytesMax", as: (value) => `issuer's ${value / 2 ** 20} MiB` },
      count(`${values} valuesMax`),
      count(`${values} bodyValuesMax`),
      count("wire/json-reader.ts jsonDepthMax"),
      size("sim/http/outside-answers.ts answerRoomBytes"),
    ],
    "calls of webhooks that begin": [
      size("sim/http/outside-line.ts turnBytesMax"),
      {
        from: "sim/http/webhook-caller.ts beginBytes",
        as: (value) => `${valueOf("sim/http/outside-line.ts turnBytesMax") / value} connections`,
      },
      size("sim/apiserver/admission/webhooks-review.ts longPatchCharactersMin"),
    ],
    "words of a webhook's answer": [
      count("sim/apiserver/admission/webhooks-review.ts wordCharactersMax"),
      count("sim/contract/errors.ts toldCharactersMax"),
    ],
    "rules told": [
      count("sim/apiserver/access/rbac/policy.ts rulesMax"),
      count("sim/apiserver/verbs/virtual-resources.ts ruleTextsMax"),
      count("sim/contract/errors.ts toldCharactersMax"),
    ],
    "comparisons of rules": [count("sim/apiserver/access/rbac/coverage.ts stepsMax")],
    "old versions": [
      flag("--history-window"),
      flag("--history-bytes-max"),
      size("cli/flags/serve-flags.ts historyBytesMax"),
    ],
    memory: [flag("--memory-max")],
    "deletions under way": [
      count("sim/http/exchange.ts lastDeletionsMax"),
      size("sim/http/exchange.ts largeRequestBytesMin"),
    ],
    "bytes that wait": [size("sim/streams/web-socket-streams.ts waitingBytesMax")],
    "a connection of SPDY": [
      size("sim/streams/spdy-connection.ts frameBytesMax"),
      size("sim/streams/spdy-connection.ts headerBytesMax"),
      count("sim/streams/spdy-connection.ts streamsMax"),
    ],
    "a file of access": [
      { from: "cli/commands/serve-access.ts configurationMebibytesMax", as: (value) => `${value} MiB` },
    ],
    "a file that a command": [
      { from: "cli/flags/file-text.ts defaultMebibytesMax", as: (value) => `${value} MiB` },
      count("cli/flags/file-text.ts fileValuesMax"),
    ],
    "a file that people write": [
      { from: "cli/flags/file-text.ts writtenMebibytesMax", as: (value) => `${value} MiB` },
      { from: "cli/flags/cluster-files.ts objectsMebibytesMax", as: (value) => `\`--objects\` ${value} MiB` },
      { from: "wire/yaml-text.ts marksMax", as: (value) => `${value.toLocaleString("en")} lines, commas and brackets` },
      { from: "wire/yaml-text.ts mistakesMax", as: (value) => `${value} mistakes` },
    ],
  },
  "docs/agent.md": {
    "words and variables": [count("sim/agent/runtime/process-words.ts wordsMax")],
    "files of a pod's volumes": [size("sim/agent/runtime/volume-files.ts filesBytesMax")],
    "an answer of the API server": [
      size("sim/http/remote-server.ts answerBytesMax"),
      count("wire/json-values.ts answerValuesMax"),
      size("sim/http/remote-server.ts heldBytesMax"),
    ],
    "an event of a watch": [size("sim/http/remote-server.ts frameBytesMax")],
    "a line of a container": [size("sim/agent/listener/container-logs.ts lineBytesMax")],
    "a manifest": [
      size("sim/agent/sources/file-source.ts manifestBytesMax"),
      count("sim/agent/sources/static-pod.ts marksMax"),
    ],
    "a directory of manifests": [
      count("sim/http/manifests.ts directoryFilesMax"),
      size("sim/http/manifests.ts directoryBytesMax"),
    ],
    "manifests that are read": [
      count("sim/agent/sources/file-source.ts filesPerTurn"),
      size("sim/agent/sources/file-source.ts bytesPerTurn"),
    ],
    "variables that are taken": [
      count("sim/agent/runtime/environment.ts variablesPerTurn"),
      size("sim/agent/runtime/volume-files.ts bytesPerTurn"),
    ],
  },
  "docs/reports.md": {
    "an answer": [
      size("conformance/client/answer-limits.ts bodyBytesMax"),
      size("conformance/client/answer-limits.ts writtenBytesMax"),
      count("conformance/client/answer-limits.ts piecesMax"),
      count("wire/json-values.ts answerValuesMax"),
      count("wire/json-values.ts answerDepthMax"),
    ],
    "all pages": [
      size("conformance/client/answer-limits.ts bodyBytesMax"),
      count("wire/json-values.ts answerValuesMax"),
    ],
    "events of one watch": [count("conformance/client/answer-limits.ts eventsMax")],
    "a request that": [
      size("conformance/client/answer-limits.ts pathLengthMax"),
      size("conformance/client/answer-limits.ts sentBytesMax"),
    ],
    "what discovery names": [
      count("conformance/client/discovery.ts versionsMax"),
      count("conformance/client/discovery.ts typesMax"),
      { from: "conformance/client/discovery.ts walkMinutesMax", as: (value) => `${value} minutes` },
    ],
    "answers and watches": [size("conformance/client/answer-room.ts heldBytesMax")],
    "what the target sends": [
      size("conformance/client/document-listener.ts documentBytesMax"),
      size("conformance/client/document-listener.ts arrivingBytesMax"),
    ],
    "a body in another encoding": [
      count("wire/json-values.ts answerValuesMax"),
      size("conformance/client/answer-limits.ts bodyBytesMax"),
      count("wire/yaml-text.ts marksMax"),
    ],
  },
  "docs/runtime.md": {
    "a call": [size(`${cri} requestBytesMax`)],
    "values in a call": [count(`${cri} requestValuesMax`)],
    "calls at one time": [count(`${cri} connectionCallsMax`)],
    "calls that begin": [{ from: "sim/grpc/wall-runtime.ts piecesMax", as: (value) => `some ${value / 5}` }],
    "calls that are not complete": [size(`${cri} arrivingBytesMax`), size("sim/grpc/arriving-calls.ts callBytes")],
    "answers and events": [size(`${cri} unreadBytesMax`)],
    "pods and containers that there are": [size(`${cri} configurationBytesMax`)],
    "names and contents": [
      size("sim/runtime/machine.ts heldBytesMax"),
      size("sim/runtime/file-tree.ts HELD_BYTES_MAX"),
      { from: "sim/runtime/file-tree.ts NODE_BYTES", as: (value) => `${value} bytes` },
    ],
    "output of": [size("sim/runtime/exec.ts OUTPUT_BYTES_MAX")],
    "why a call failed": [count(`${cri} detailsCharactersMax`)],
    "one word or variable": [count("sim/runtime/commands.ts WORD_CHARS_MAX")],
    "a script": [size("sim/runtime/shell/parse.ts SCRIPT_BYTES_MAX"), count("sim/runtime/shell/parse.ts PARTS_MAX")],
    "what of a new state file": [size("sim/grpc/journal.ts WRITTEN_AT_A_TIME")],
    "what a container does": [
      count("sim/runtime/processes/box.ts STEPS_MAX"),
      count("sim/runtime/processes/box.ts BYTES_IN_STEP"),
      count("sim/runtime/shell/pattern.ts comparedInStep"),
    ],
  },
};

/** What the text of a file gives a name: a product, a shift or a plain number, also by another name of that file. */
function valueOf(source: string): number {
  const [file = "", name = ""] = source.split(" ");
  const text = readTreeFile(file);
  const known =
    new RegExp(`(?:const ${name} =|${name}:) ([^;,\\n]+)[;,]`).exec(text)?.[1] ??
    new RegExp(`${name}: withDefault\\([^]*?\\n {4}([\\d_]+),\\n`).exec(text)?.[1];
  if (known === undefined) throw new Error(`${file} has no ${name}`);
  return known
    .replaceAll("_", "")
    .split(" * ")
    .map((factor) => factorOf(file, factor))
    .reduce((one, other) => one * other);
}

function factorOf(file: string, factor: string): number {
  const [base = "", shift] = factor.split(" << ");
  if (shift !== undefined) return Number(base) * 2 ** Number(shift);
  return /^\d/.test(base) ? Number(base) : valueOf(`${file} ${base}`);
}

/** The rows of the table whose head says so: what, how much, and what happens beyond. */
function tableOf(document: string, text = readTreeFile(document)): readonly (readonly string[])[] {
  const [, below = ""] = text.split("| what | limit | beyond it |\n|---|---|---|\n");
  const lines = below.slice(0, below.indexOf("\n\n")).split("\n");
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe.each(Object.entries(rows))("the limits of %s", (document, known) => {
  const table = tableOf(document);
  const beginning = (what: string): string | undefined =>
    Object.keys(known)
      .filter((begin) => what.startsWith(begin))
      .toSorted((one, other) => other.length - one.length)[0];

  it.each(table.map(([what = "", limit = "", beyond = ""]) => [what, limit, beyond]))(
    "%s: %s",
    (what, limit, beyond) => {
      const sources = known[beginning(what) ?? ""] ?? [];
      expect(sources).not.toEqual([]);
      expect(beyond).not.toBe("");
      for (const { from, as } of sources) expect(limit).toContain(as(from.startsWith("--") ? 0 : valueOf(from)));
    },
  );

  it("are all there", () => {
    expect(new Set(table.map(([what = ""]) => beginning(what)))).toEqual(new Set(Object.keys(known)));
    expect(table).toHaveLength(Object.keys(known).length);
  });
});

it("reads a constant as the code does", () => {
  expect(valueOf("sim/objects/value-limit.ts bodyValuesMax")).toBe(300_000);
  expect(valueOf("sim/grpc/cri-server.ts requestBytesMax")).toBe(4 * 1024 * 1024);
  expect(() => valueOf("sim/grpc/cri-server.ts none")).toThrow("has no none");
});

it("has flags that serve has", () => {
  const flags = readTreeFile("cli/flags/serve-flags.ts");
  for (const { from } of Object.values(rows["docs/serving.md"] ?? {}).flat())
    if (from.startsWith("--")) expect(flags).toContain(`option("${from}"`);
});
