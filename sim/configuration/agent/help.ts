/** An agent's help and the reference of its options, both of the one table. */
import type { AgentRules } from "./agent-rules.ts";
import { agentRules } from "./agent-rules.ts";
import { fileFields } from "./file-fields.ts";
import type { FlagRow, FlagType } from "./flag-row.ts";
import { flagTable } from "./flag-table.ts";

const typeNames: Readonly<Record<FlagType, string>> = {
  bool: "",
  help: "",
  version: "version[=true]",
  int32: "int32",
  int: "int",
  level: "Level",
  duration: "duration",
  string: "string",
  strings: "strings",
  ip: "ip",
  bytes: "quantity",
  gates: "name=true|false,...",
  labels: "key=value,...",
  pairs: "name=value,...",
  thresholds: "signal<value,...",
  headers: "name:value,...",
  taints: "key=value:effect,...",
  reservedMemory: "numa:type=quantity,...",
  vmodule: "pattern=N,...",
};

/** Lines of at most 120 columns. */
export function agentHelp(rules: AgentRules): string {
  const rows = flagTable.filter(({ name }) => !rules.missingFlags.has(name));
  const flags = rows.map((row) => `${nameOf(row)}\n${wrapped(describe(row, rules))}`);
  return [
    "Usage:\n  nodeagent [flags]\n",
    "Runs pods on this machine, from an API server (--svcconfig), from files and from a URL.\n",
    "Examples:\n  nodeagent --svcconfig=connection.yaml --container-runtime-endpoint=unix:///run/runtime.sock",
    "  nodeagent --pod-manifest-path=pods/ --config=agent.yaml\n",
    "Flags:",
    ...flags,
    "",
  ].join("\n");
}

function nameOf({ name, shorthand, type }: FlagRow): string {
  const short = shorthand === undefined ? "      " : `  -${shorthand}, `;
  return `${short}--${name}${typeNames[type] === "" ? "" : ` ${typeNames[type]}`}`;
}

function describe(row: FlagRow, rules: AgentRules): string {
  const standard = defaultOf(row, rules);
  const shown = standard === "" || row.type === "help" || row.type === "version" ? "" : ` (default ${standard})`;
  const old =
    row.deprecated === undefined ? "" : row.deprecated === "C" ? " (DEPRECATED: set it in --config)" : " (DEPRECATED)";
  return `${row.help}${shown}${old}`;
}

const defaultOf = (row: FlagRow, rules: AgentRules): string =>
  typeof row.default === "string" ? row.default : row.default[rules.defaults];

function wrapped(text: string): string {
  const lines: string[] = [];
  let line = "         ";
  for (const word of text.split(" ")) {
    if (line.length + word.length + 1 > 118) {
      lines.push(line);
      line = "         ";
    }
    line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}

/** `docs/agent-options.md`. */
export function optionsReference(): string {
  const rows = flagTable.map((row) => {
    const standards = (["svc", "kubernetes"] as const).map((name) => defaultOf(row, agentRules[name]));
    const [documented = "", observed = ""] = standards;
    const standard =
      documented === observed ? code(documented) : `${code(documented)}; kubernetes: ${code(observed) || "none"}`;
    const effect = "acts" in row.effect ? row.effect.acts : `a kernel alone: ${row.effect.kernelAlone}`;
    const names = `\`${row.shorthand === undefined ? "" : `-${row.shorthand}, `}--${row.name}\``;
    const type = typeNames[row.type] === "" ? "bool" : typeNames[row.type].replaceAll("|", "\\|");
    return `| ${names} | ${code(type)} | ${standard} | ${row.deprecated ?? ""} | ${code(row.field ?? "")} | ${row.help} | ${effect} |`;
  });
  const closed = flagTable.filter(({ effect }) => "kernelAlone" in effect).map(({ name }) => `\`--${name}\``);
  const only = fileFields.filter(({ flag }) => flag === undefined).map(({ field }) => `\`${field}\``);
  const inert = fileFields.filter((row) => row.inert !== undefined).map(({ field }) => `\`${field}\``);
  return `# Options of the node agent

Every flag of \`nodeagent\`, made of the table in \`sim/configuration/agent/flag-table.ts\`. Flags come before drop-in files,
those before \`--config\`, and that before defaults. C: deprecated, set it in the file. R: will be removed.

The last column says what a flag does here. ${flagTable.length - closed.length} of ${flagTable.length} act. On the others only a real kernel could act, and this is the whole list of them:
${closed.join(", ")}. They are read and checked like the rest, \`/configz\` shows those that have a field, and an agent that is given one says at its
start why nothing else follows.

| flag | type | default | | field of the file | meaning | acts on |
|---|---|---|---|---|---|---|
${rows.join("\n")}

Fields that only the file has: ${only.join(", ")}.

Of these, nothing but a check follows from ${inert.join(", ")}; an agent whose file has one says at its start why.
`;
}

const code = (text: string): string => (text === "" ? "" : `\`${text}\``);
