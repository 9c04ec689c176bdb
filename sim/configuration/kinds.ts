/** Every kind of file that `config check` explains and editors have a schema of: a row each. */
import { z } from "zod";
import { type Dialect, kubernetesDialect, svcDialect } from "../../wire/dialect.ts";
import { agentFileKind } from "./agent/agent-file.ts";
import { explainAgentFile } from "./agent/explain-file.ts";
import { agentFileSchema } from "./agent/file-schema.ts";
import { readDocument } from "./document.ts";
import { type Problem, type Read, readConfiguration, type Settings, shapeOf } from "./read.ts";
import { type ConfigurationRules, type ServerKind, serverKinds } from "./rules.ts";
import {
  explainAuthentication,
  explainAuthorization,
  explainEgress,
  explainTracing,
  type Sentence,
} from "./sentences.ts";
import type { Setting } from "./setting.ts";

export interface FileKind {
  /** As the file's `kind` has it. */
  readonly kind: string;
  /** The flag that takes such a file. */
  readonly flag: string;
  /** Never throws for what the text says. */
  explain(text: string, setting: Setting): Explained;
  /** JSON Schema 2020-12. */
  schema(rules: ConfigurationRules): object;
}

export type Explained =
  | { readonly ok: true; readonly sentences: readonly Sentence[] }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly warnings?: readonly Sentence[] };

type Explain<Kind extends ServerKind> = (settings: Settings[Kind], rules: ConfigurationRules) => readonly Sentence[];

const explanations: { readonly [Kind in ServerKind]: Explain<Kind> } = {
  AuthenticationConfiguration: explainAuthentication,
  AuthorizationConfiguration: explainAuthorization,
  EgressSelectorConfiguration: explainEgress,
  TracingConfiguration: explainTracing,
};

const flags: Readonly<Record<ServerKind, string>> = {
  AuthenticationConfiguration: "serve --authentication-config",
  AuthorizationConfiguration: "serve --authorization-config",
  EgressSelectorConfiguration: "serve --egress-selector-config-file",
  TracingConfiguration: "serve --tracing-config-file",
};

export const fileKinds: readonly FileKind[] = [
  ...serverKinds.map((kind) => serverFile(kind)),
  ...[svcDialect, kubernetesDialect].map((dialect) => agentFile(dialect)),
];

function serverFile<Kind extends ServerKind>(kind: Kind): FileKind {
  return {
    kind,
    flag: flags[kind],
    explain(text, setting) {
      const read: Read<Settings[Kind]> = readConfiguration(kind, text, setting);
      return read.ok ? { ok: true, sentences: explanations[kind](read.value, setting.rules) } : read;
    },
    schema(rules) {
      const schema = z.toJSONSchema(shapeOf(kind, rules), { io: "input" }) as { readonly properties?: object };
      const header = { apiVersion: { enum: rules.apiVersions[kind] }, kind: { const: kind } };
      return { title: kind, ...schema, properties: { ...schema.properties, ...header } };
    },
  };
}

/** An agent's file has another name in each dialect, which is why its schema is the same under every profile. */
function agentFile(dialect: Dialect): FileKind {
  return {
    kind: agentFileKind(dialect).kind,
    flag: "agent --config",
    explain(text, { rules }) {
      const explained = explainAgentFile(text, rules.dialect);
      const warnings = explained.warnings.map((sentence): Sentence => ({ text: sentence, isWarning: true }));
      if (!explained.ok)
        return { ok: false, problems: explained.problems, ...(warnings.length === 0 ? {} : { warnings }) };
      return { ok: true, sentences: [...explained.said.map((sentence) => ({ text: sentence })), ...warnings] };
    },
    schema: () => agentFileSchema(dialect),
  };
}

/** The row for a file, by its `kind`; or what is wrong with it. */
export function kindOfFile(text: string): FileKind | Problem {
  const { fields, problems } = readDocument(text);
  const [whole] = problems.filter(({ field }) => field === "");
  if (whole !== undefined) return { field: "", message: whole.message };
  const { kind } = fields;
  const known = fileKinds.find((row) => row.kind === kind);
  if (known !== undefined) return known;
  const names = fileKinds.map((row) => row.kind).join(", ");
  const given = typeof kind === "string" ? `${JSON.stringify(kind)} is no kind that is known` : "is required";
  return { field: "kind", message: `${given}: must be one of ${names}` };
}
