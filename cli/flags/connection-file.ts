/**
 * A connection file in the form of kubeconfig: clusters, users, and contexts that pair them. Only what is needed to
 * reach a server is read; what would change how, and is not supported, is refused and never skipped.
 */
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { inPlainWords } from "../../wire/plain-words.ts";
import { parseYaml } from "../../wire/yaml-text.ts";
import { requireToken } from "./bearer-token.ts";
import { readText, type KeyPair, requireCertificates, requirePair } from "./pem-files.ts";
import { UsageError } from "./usage-error.ts";

/** Everything read and looked at; nothing is left to fail later but the connection itself. */
export interface Reached {
  /** With its path prefix, without a trailing slash. */
  readonly url: string;
  readonly authority: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
  readonly tlsServerName: string | undefined;
  readonly token: string | undefined;
  readonly clientCertificate: KeyPair | undefined;
  /** Headers that say as whom to act; undefined for nobody else. */
  readonly impersonation: Impersonation | undefined;
}

export type Impersonation = Readonly<Record<string, string | string[]>>;

/** What is not chosen may be anything: only its name is read. An empty list is often written as null. */
const list = z
  .array(z.looseObject({ name: z.string().min(1) }))
  .nullish()
  .transform((rows) => rows ?? []);

const base64 = z.base64("must be base64").optional();

const cluster = z.object({
  server: z.url({ protocol: /^https?$/, error: "must be an absolute http or https URL" }),
  "certificate-authority": z.string().optional(),
  "certificate-authority-data": base64,
  "insecure-skip-tls-verify": z.boolean().default(false),
  "tls-server-name": z.string().optional(),
  "proxy-url": z.undefined("is not supported: connect without a proxy").optional(),
});

const refused = (what: string) =>
  z
    .undefined(`is not supported: ${what} is not run or asked; put a token or a client certificate here instead`)
    .optional();

const user = z
  .object({
    token: z.string().min(1, "must not be empty").optional(),
    tokenFile: z.string().optional(),
    "client-certificate": z.string().optional(),
    "client-certificate-data": base64,
    "client-key": z.string().optional(),
    "client-key-data": base64,
    exec: refused("a plugin"),
    "auth-provider": refused("a provider"),
    username: refused("a user name with a password"),
    password: refused("a user name with a password"),
    as: z.string().default(""),
    "as-uid": z.string().default(""),
    "as-groups": z.array(z.string()).default([]),
    "as-user-extra": z.record(z.string(), z.array(z.string())).default({}),
  })
  .refine((fields) => fields.as !== "" || Object.keys(impersonation(fields)).length === 0, {
    path: ["as"],
    error: "must name a user when as-uid, as-groups or as-user-extra is given",
  });

/** Source: the published clients: the facts' names are percent-encoded, since headers hold few characters. */
function impersonation({
  as: name,
  "as-uid": uid,
  "as-groups": groups,
  "as-user-extra": extra,
}: {
  readonly as: string;
  readonly "as-uid": string;
  readonly "as-groups": readonly string[];
  readonly "as-user-extra": Readonly<Record<string, readonly string[]>>;
}): Impersonation {
  return {
    ...(name === "" ? {} : { "impersonate-user": name }),
    ...(uid === "" ? {} : { "impersonate-uid": uid }),
    ...(groups.length === 0 ? {} : { "impersonate-group": [...groups] }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, [...values]]),
    ),
  };
}

const context = z.object({ cluster: z.string(), user: z.string().default("") });

const file = z.object({
  clusters: list,
  users: list,
  contexts: list,
  "current-context": z.string().default(""),
});

type User = z.infer<typeof user>;
type Cluster = z.infer<typeof cluster>;

/**
 * `contextName` defaults to the file's current one. Paths in the file are relative to it. `named` is how errors call the
 * file. Throws `UsageError`.
 */
export function readConnectionFile(path: string, contextName: string | undefined, named = "--svcconfig"): Reached {
  const flag = `${named} ${path}`;
  const document = parsed(readText(path, named), flag);
  const wanted = contextName ?? document["current-context"];
  if (wanted === "") throw new UsageError(`${flag}: current-context: is not set: name one with --context.`);
  const pick = <Shape extends z.ZodType>(called: List, field: string, name: string, shape: Shape): z.infer<Shape> =>
    chosen({ flag, rows: document[called], place: called }, field, name, shape);
  const pair = pick("contexts", "context", wanted, context);
  const server = pick("clusters", "cluster", pair.cluster, cluster);
  const credentials = pair.user === "" ? undefined : (pick("users", "user", pair.user, user.nullish()) ?? undefined);
  const place = { flag, folder: dirname(resolve(path)) };
  return {
    url: server.server.replace(/\/+$/, ""),
    insecureSkipTlsVerify: server["insecure-skip-tls-verify"],
    tlsServerName: server["tls-server-name"],
    authority: authorityOf(server, place, pair.cluster),
    token: credentials === undefined ? undefined : tokenOf(credentials, place, pair.user),
    impersonation: credentials === undefined || credentials.as === "" ? undefined : impersonation(credentials),
    clientCertificate: credentials === undefined ? undefined : pairOf(credentials, place, pair.user),
  };
}

type List = "contexts" | "clusters" | "users";

function parsed(source: string, flag: string): z.infer<typeof file> {
  let document: unknown;
  try {
    document = parseYaml(source);
  } catch (error) {
    throw new UsageError(`${flag}: not YAML: ${(error as Error).message}.`);
  }
  const result = file.safeParse(document, { error: inPlainWords });
  if (result.success && !isConnectionFile(document))
    throw new UsageError(
      `${flag}: this is no connection file: it has no clusters, contexts and users. Give one in the form of kubeconfig.`,
    );
  if (result.success) return result.data;
  throw wrong(flag, "", result.error);
}

const isConnectionFile = (document: unknown): boolean =>
  Object.keys(file.shape).some((field) => Object.hasOwn(document as object, field));

/** The row of this name, read as what it must be. */
function chosen<Shape extends z.ZodType>(
  { flag, rows, place }: { readonly flag: string; readonly rows: z.infer<typeof list>; readonly place: List },
  field: string,
  name: string,
  shape: Shape,
): z.infer<Shape> {
  const index = rows.findIndex((row) => row.name === name);
  if (index < 0) {
    const known = rows.length === 0 ? "there are none" : `there are ${rows.map((each) => each.name).join(", ")}`;
    throw new UsageError(`${flag}: ${place}: none is called ${JSON.stringify(name)}; ${known}.`);
  }
  const result = shape.safeParse(rows[index]?.[field], { error: inPlainWords });
  if (result.success) return result.data;
  throw wrong(flag, `${place}.${index}.${field}`, result.error);
}

function wrong(flag: string, place: string, { issues: [issue] }: z.ZodError): UsageError {
  const where = [place, ...(issue?.path ?? [])].filter((part) => part !== "").join(".");
  return new UsageError(`${flag}: ${where === "" ? "the document" : where}: ${issue?.message ?? "is wrong"}.`);
}

interface Place {
  readonly flag: string;
  readonly folder: string;
}

/** What is given in the file itself goes before what a path names. */
function textOf(data: string | undefined, path: string | undefined, { flag, folder }: Place, where: string) {
  if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
  return path === undefined ? undefined : readText(resolve(folder, path), `${flag}: ${where}:`);
}

function authorityOf(cluster: Cluster, place: Place, name: string): string | undefined {
  const where = `clusters.${name}.certificate-authority`;
  const pem = textOf(cluster["certificate-authority-data"], cluster["certificate-authority"], place, where);
  return pem === undefined ? undefined : requireCertificates(pem, `${place.flag}: ${where}`);
}

function tokenOf({ token, tokenFile }: User, place: Place, name: string): string | undefined {
  const where = `${place.flag}: users.${name}`;
  if (tokenFile === undefined) return token === undefined ? undefined : requireToken(token, `${where}.token`);
  const read = readText(resolve(place.folder, tokenFile), `${where}.tokenFile:`).trim();
  return requireToken(read, `${where}.tokenFile`);
}

function pairOf(user: User, place: Place, name: string): KeyPair | undefined {
  const where = `users.${name}.client-certificate`;
  const certificate = textOf(user["client-certificate-data"], user["client-certificate"], place, where);
  const key = textOf(user["client-key-data"], user["client-key"], place, `users.${name}.client-key`);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) {
    throw new UsageError(`${place.flag}: ${where}: a client certificate and its key go together: give both.`);
  }
  return requirePair({ certificate, key }, `${place.flag}: ${where}`);
}
