/**
 * Reads a configuration file of the server: which kind it is, then its fields, then its rules. All that is wrong with it
 * comes at once, each with its path.
 */
import type { z } from "zod";
import { firstLines } from "../../wire/first-lines.ts";
import { goQuote } from "../../wire/go-strings.ts";
import type { Cause } from "../contract/errors.ts";
import { authenticationShape, type AuthenticationSettings, checkAuthentication } from "./authentication.ts";
import { authorizationShape, type AuthorizerSettings, checkAuthorization } from "./authorization.ts";
import { decode, readDocument } from "./document.ts";
import { checkEgress, egressShape, type EgressSettings } from "./egress.ts";
import type { ConfigurationRules, ServerKind } from "./rules.ts";
import type { Setting } from "./setting.ts";
import { checkTracing, tracingShape, type TracingSettings } from "./tracing.ts";

/** What a file of each kind comes to. */
export interface Settings {
  readonly AuthenticationConfiguration: AuthenticationSettings;
  readonly AuthorizationConfiguration: readonly AuthorizerSettings[];
  readonly EgressSelectorConfiguration: EgressSettings;
  readonly TracingConfiguration: TracingSettings;
}

export type Read<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export interface Problem {
  /** Its path in the file; empty for what concerns all of it. */
  readonly field: string;
  readonly message: string;
}

interface Reader<Value, Shape extends z.ZodType> {
  readonly shape: Shape;
  check(file: z.infer<Shape>, setting: Setting, problems: Cause[]): Value;
}

const reader = <Value, Shape extends z.ZodType>(
  shape: Shape,
  check: Reader<Value, Shape>["check"],
): Reader<Value, Shape> => ({ shape, check });

function readers({ dialect }: ConfigurationRules) {
  return {
    AuthenticationConfiguration: reader(authenticationShape, checkAuthentication),
    AuthorizationConfiguration: reader(authorizationShape(dialect), checkAuthorization),
    EgressSelectorConfiguration: reader(egressShape, checkEgress),
    TracingConfiguration: reader(tracingShape, checkTracing),
  } satisfies { readonly [Kind in ServerKind]: unknown };
}

/** The shape of a kind's files, for whoever tells editors about it. */
export const shapeOf = (kind: ServerKind, rules: ConfigurationRules): z.ZodType => readers(rules)[kind].shape;

/** A file that must be of this kind. */
export function readConfiguration<Kind extends ServerKind>(
  kind: Kind,
  text: string,
  setting: Setting,
): Read<Settings[Kind]> {
  const { fields, problems } = readDocument(text);
  if (problems.some(({ field }) => field === "")) return refused(problems);
  const wrongHeader = headerProblem(kind, fields, setting.rules);
  // Of a file for something else all fields would be wrong.
  if (wrongHeader !== undefined && fields["kind"] !== kind) return refused([wrongHeader, ...problems]);
  if (wrongHeader !== undefined) problems.unshift(wrongHeader);
  const { shape, check } = readers(setting.rules)[kind] as unknown as Reader<Settings[Kind], z.ZodType>;
  const value = check(decode(fields, shape, problems), setting, problems);
  return problems.length === 0 ? { ok: true, value } : refused(problems);
}

const refused = (causes: readonly Cause[]): { readonly ok: false; readonly problems: readonly Problem[] } => ({
  ok: false,
  problems: causes.map(({ field = "", message }) => ({ field, message })),
});

/** `jwt[0].issuer.url: Required value: URL is required`. */
export const problemText = ({ field, message }: Problem): string => (field === "" ? message : `${field}: ${message}`);

/** Of one file, as lines below its name: the first twenty, since nobody reads more at once. */
export const problemLines = (problems: readonly Problem[]): readonly string[] =>
  firstLines(problems.map(problemText), problemsMax).map((line) => `  ${line.replaceAll("\n", "\n  ")}`);

const problemsMax = 20;

function headerProblem(
  kind: ServerKind,
  { apiVersion, kind: written }: Readonly<Record<string, unknown>>,
  { apiVersions }: ConfigurationRules,
): Cause | undefined {
  const known = apiVersions[kind];
  const problem = (field: string, message: string): Cause => ({ reason: "FieldValueInvalid", message, field });
  if (typeof apiVersion !== "string" || apiVersion === "") {
    return problem("apiVersion", `Required value: must be ${known.join(" or ")}`);
  }
  if (typeof written !== "string" || written === "") return problem("kind", `Required value: must be ${kind}`);
  if (written !== kind) {
    return problem(
      "kind",
      `no kind ${goQuote(written)} is registered for version ${goQuote(apiVersion)}: must be ${kind}`,
    );
  }
  if (known.includes(apiVersion)) return undefined;
  const why = `no kind ${goQuote(written)} is registered for version ${goQuote(apiVersion)}: must be ${known.join(" or ")}`;
  return problem("apiVersion", why);
}
