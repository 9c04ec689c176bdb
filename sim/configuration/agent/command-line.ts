/**
 * An agent's whole command line: flags, files, checks. What it comes to is one of help, a version, settings, or all that
 * is wrong, in the order in which the published agent looks: flags, gates, labels, files, fields.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import { tryParseCidr } from "../../expressions/library/ip-address.ts";
import { agentFileKind, type FileFields, mergeFields, readAgentDocument, readAgentFields } from "./agent-file.ts";
import { type AgentRules, agentRules, hardOfFile } from "./agent-rules.ts";
import { configurationProblems } from "./checks.ts";
import { gateProblem } from "./feature-gates.ts";
import { flagRow, parseFlags } from "./flag-parsing.ts";
import { agentVersion } from "./flag-values.ts";
import { nodeLabelProblem } from "./node-labels.ts";
import { type AgentSettings, settle } from "./settings.ts";
import { startProblems } from "./start-checks.ts";

export interface AgentFiles {
  /** The text of a file, or why it cannot be read: `no such file or directory`. */
  read(path: string): { readonly text: string } | { readonly error: string };
  /** Paths of all files below a directory, in the order of their names. */
  list(path: string): { readonly paths: readonly string[] } | { readonly error: string };
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export type AgentCommand =
  | { readonly is: "help" }
  | { readonly is: "version"; readonly text: string }
  | { readonly is: "settings"; readonly settings: AgentSettings; readonly warnings: readonly string[] }
  | {
      readonly is: "refused";
      readonly problems: readonly string[];
      readonly warnings: readonly string[];
      /** `start`: the settings are valid, and what they are for refuses them. */
      readonly by: "parsing" | "validation" | "start";
    };

/** The steps by which one is read: a wrong one can be put in the place of each (`planted/`). */
export interface AgentReading {
  readonly parseFlags: typeof parseFlags;
  readonly mergeFields: typeof mergeFields;
  readonly settle: typeof settle;
  readonly configurationProblems: typeof configurationProblems;
  readonly startProblems: typeof startProblems;
}

export const agentReading: AgentReading = { parseFlags, mergeFields, settle, configurationProblems, startProblems };

export function readAgentCommand(
  args: readonly string[],
  dialect: Dialect,
  files: AgentFiles,
  reading = agentReading,
): AgentCommand {
  const rules = agentRules[dialect.name];
  const parsed = reading.parseFlags(args, rules.missingFlags);
  const refused = (
    by: "parsing" | "validation" | "start",
    problems: readonly string[],
    warnings: readonly string[] = [],
  ): AgentCommand => ({
    is: "refused",
    by,
    problems,
    warnings,
  });
  if ("error" in parsed) return refused("parsing", [parsed.error]);
  const { values, warnings } = parsed;
  if (values.get("help") === true) return { is: "help" };
  const version = values.get("version");
  if (version === true || version === "raw")
    return { is: "version", text: `${dialect.name === "svc" ? "NodeAgent" : "Kubernetes"} ${agentVersion}` };

  const early = earlyProblems(values, dialect);
  const read = readFiles(values, dialect, files, reading);
  if ("problems" in read)
    return refused("validation", [...early, ...read.problems], [...warnings, ...(read.warnings ?? [])]);
  const settings = reading.settle(values, read.file, rules, (values.get("config") ?? "") !== "");
  const said = [...warnings, ...(read.file?.warnings ?? []), ...keptWarnings(settings), ...podBlockWarnings(settings)];
  const gate = early.length > 0 ? undefined : gateProblem(settings.gates());
  const problems = [...(gate === undefined ? [] : [gate]), ...reading.configurationProblems(settings)];
  const atStart = reading.startProblems(settings);
  if (early.length + problems.length > 0) {
    const whole = `failed to validate nodeagent configuration, error: [${problems.join(", ")}]`;
    return refused("validation", [...early, ...(problems.length > 0 ? [whole] : []), ...atStart], said);
  }
  return atStart.length > 0 ? refused("start", atStart, said) : { is: "settings", settings, warnings: said };
}

/** The published agent ends at the first of these; here what else is wrong is told with them. */
function earlyProblems(values: ReadonlyMap<string, unknown>, dialect: Dialect): readonly string[] {
  const gate = gateProblem((values.get("feature-gates") ?? {}) as Readonly<Record<string, boolean>>);
  const labels = nodeLabelProblem((values.get("node-labels") ?? {}) as Readonly<Record<string, string>>, dialect);
  return [
    ...(gate === undefined ? [] : [`failed to set feature gates from initial flags-based config: ${gate}`]),
    ...(labels === undefined ? [] : [`failed to validate nodeagent flags: ${labels}`]),
  ];
}

type ReadFiles =
  | { readonly file: ReturnType<typeof readAgentFields> | undefined }
  | { readonly problems: readonly string[]; readonly warnings?: readonly string[] };

/** The file first, then those of the directory over it, in the order of their names. */
function readFiles(
  values: ReadonlyMap<string, unknown>,
  dialect: Dialect,
  files: AgentFiles,
  reading: AgentReading,
): ReadFiles {
  const rules = agentRules[dialect.name];
  const [path, flagged] = [values.get("config") ?? "", values.get("config-dir") ?? ""] as [string, string];
  const { dropInVariable } = rules;
  const selected = dropInVariable === undefined ? "" : (files.environment[dropInVariable] ?? "");
  // A value that is no path, such as `1`, selects none: it only lets the flag do so.
  const directory = flagged === "" && selected.includes("/") ? selected : flagged;
  let fields: FileFields | undefined;
  const ofDirectory = directory === flagged ? "--config-dir" : dropInVariable;
  const lay = (from: string, isFirst: boolean): readonly string[] => {
    const flag = isFirst ? "--config" : ofDirectory;
    const failed = (why: string): readonly string[] => [
      `failed to load nodeagent config file (${flag}), path: ${from}, error: ${why}`,
    ];
    const text = files.read(from);
    if ("error" in text) {
      return failed(
        `failed to load NodeAgent config file ${from}, error failed to read nodeagent config file "${from}", error: open ${from}: ${text.error}`,
      );
    }
    if (text.text.trim() === "") return failed(`nodeagent config file "${from}" was empty`);
    const document = readAgentDocument(text.text, agentFileKind(dialect));
    if (document.problems.length > 0)
      return failed(
        document.problems.map(({ field, message }) => `${field}${field === "" ? "" : ": "}${message}`).join(", "),
      );
    fields = isFirst ? withHard(document.fields, rules) : reading.mergeFields(fields ?? {}, document.fields);
    return [];
  };
  if (path !== "") {
    const problems = lay(path, true);
    if (problems.length > 0) return { problems };
  }
  if (directory !== "") {
    if (dropInVariable !== undefined && files.environment[dropInVariable] === undefined) {
      return { problems: [`--config-dir needs the environment variable ${dropInVariable} to be set`] };
    }
    const listed = files.list(directory);
    if ("error" in listed)
      return { problems: [`failed to merge nodeagent configs: open ${directory}: ${listed.error}`] };
    for (const each of listed.paths.filter((name) => name.endsWith(".conf"))) {
      const problems = lay(each, false);
      if (problems.length > 0) return { problems };
    }
  }
  if (fields === undefined) return { file: undefined };
  const file = readAgentFields(fields);
  if (file.problems.length > 0) {
    return {
      problems: file.problems.map(
        ({ field, message }) =>
          `failed to load nodeagent config file (${path === "" ? ofDirectory : "--config"}), path: ${path || directory}, error: ${field}: ${message}`,
      ),
      warnings: file.warnings,
    };
  }
  return { file };
}

/** Default thresholds are below what the files of the directory say, key by key; where there is only a directory, there are none. */
export function withHard(fields: FileFields, rules: AgentRules): FileFields {
  const { evictionHard } = fields;
  if (evictionHard !== undefined && evictionHard !== null && typeof evictionHard !== "object") return fields;
  const given = (evictionHard ?? undefined) as Readonly<Record<string, string>> | undefined;
  return { ...fields, evictionHard: hardOfFile(given, fields["mergeDefaultEvictionSettings"] === true, rules) };
}

/** The published agent passes anything on, and goes on when its runtime takes it for nothing. */
function podBlockWarnings(settings: AgentSettings): readonly string[] {
  const text = settings.text("pod-cidr");
  const wrong = text === "" ? [] : text.split(",").filter((part) => tryParseCidr(part.trim()) === undefined);
  return wrong.map(
    (part) =>
      `--pod-cidr: ${goQuote(part.slice(0, shownMax))} is no block of addresses such as 10.88.0.0/16: no pod has an address of it.`,
  );
}

const shownMax = 100;

/** What was asked for and leads to nothing is said. */
function keptWarnings(settings: AgentSettings): readonly string[] {
  return [...settings.given].flatMap((name) => {
    const effect = flagRow(name)?.effect;
    return effect !== undefined && "kernelAlone" in effect
      ? [`Flag --${name} is checked and kept, and nothing else follows from it: ${effect.kernelAlone}.`]
      : [];
  });
}
