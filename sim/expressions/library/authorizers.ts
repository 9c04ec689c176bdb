/**
 * Questions to the authorizer: `authorizer.group('apps').resource('deployments').check('get').allowed()`. A question is
 * put together step by step; `check` asks it.
 * Source: the published extension of the API server.
 */
import { fail } from "../failures.ts";
import { Opaque, type Question, type Value } from "../values.ts";
import { type FunctionRow, row } from "./function-row.ts";

/** Answers a question; the host binds it to one user and one server. Parts that were not named are "". */
export type Ask = (question: Readonly<Record<string, string>>) => {
  readonly allowed: boolean;
  readonly reason: string;
};

/** Who answers is part of the value, for it is what an expression is given. */
interface BoundQuestion extends Question {
  readonly ask: Ask;
}

const names = {
  authorizer: "kubernetes.authorization.Authorizer",
  path: "kubernetes.authorization.PathCheck",
  group: "kubernetes.authorization.GroupCheck",
  resource: "kubernetes.authorization.ResourceCheck",
  decision: "kubernetes.authorization.Decision",
} as const;

export const authorizerType = names.authorizer;
export const requestResourceType = names.resource;

export const authorizerValue = (ask: Ask): Value => opaque(names.authorizer, { is: "question", parts: {}, ask });

export const requestResourceValue = (ask: Ask, parts: Readonly<Record<string, string>>): Value =>
  opaque(names.resource, { is: "question", parts, ask });

const opaque = (type: string, question: BoundQuestion): Opaque => new Opaque(type, question);

/** The question with one more part. */
function more(type: string, part: string) {
  return (value: Opaque, text: string): Value => {
    const question = value.content as BoundQuestion;
    return opaque(type, { ...question, parts: { ...question.parts, [part]: text } });
  };
}

const costly = { cost: () => 350_000 };

function check(value: Opaque, verb: string): Value {
  const { ask, parts } = value.content as BoundQuestion;
  const { allowed, reason } = ask({ ...parts, verb });
  return opaque(names.decision, { is: "question", parts: { allowed: allowed ? "yes" : "", reason }, ask });
}

const partsOf = (value: Opaque): Readonly<Record<string, string>> => (value.content as Question).parts;

function serviceAccount(value: Opaque, namespace: string, name: string): Value {
  if (namespace === "" || name === "") return fail("invalid service account: a namespace and a name are needed");
  return more(names.authorizer, "user")(value, `system:serviceaccount:${namespace}:${name}`);
}

export const authorizers: readonly FunctionRow[] = [
  row(`${names.authorizer}.path(string): ${names.path}`, (value: Opaque, path: string) =>
    path === "" ? fail("path must not be empty") : more(names.path, "path")(value, path),
  ),
  row(`${names.authorizer}.group(string): ${names.group}`, more(names.group, "group")),
  row(`${names.authorizer}.serviceAccount(string, string): ${names.authorizer}`, serviceAccount),
  row(`${names.group}.resource(string): ${names.resource}`, more(names.resource, "resource")),
  row(`${names.resource}.subresource(string): ${names.resource}`, more(names.resource, "subresource")),
  row(`${names.resource}.namespace(string): ${names.resource}`, more(names.resource, "namespace")),
  row(`${names.resource}.name(string): ${names.resource}`, more(names.resource, "name")),
  row(`${names.path}.check(string): ${names.decision}`, check, costly),
  row(`${names.resource}.check(string): ${names.decision}`, check, costly),
  row(`${names.decision}.allowed(): bool`, (value: Opaque) => partsOf(value)["allowed"] === "yes"),
  row(`${names.decision}.reason(): string`, (value: Opaque) => partsOf(value)["reason"] ?? ""),
  row(`${names.decision}.errored(): bool`, () => false),
  row(`${names.decision}.error(): string`, () => ""),
];
