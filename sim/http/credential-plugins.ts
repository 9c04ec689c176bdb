/**
 * Programs that know credentials of registries: which of them is for which image, what it is asked and what it answers, and
 * for how long that is believed. Source: document 3, --image-credential-provider-config and -bin-dir; the published
 * configuration and messages of such plugins, version v1.
 */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { z } from "zod";
import { imageMatches } from "../agent/runtime/image-names.ts";
import type { CredentialsReader } from "../agent/runtime/image-pulls.ts";
import type { RegistryCredentials } from "../agent/runtime/pull-secrets.ts";
import type { Dialect } from "../../wire/dialect.ts";
import { parseYaml } from "../../wire/yaml-text.ts";
import { parseDuration } from "../../wire/durations.ts";
import { inPlainWords } from "../../wire/plain-words.ts";

const duration = z.string().refine((text) => millisOf(text) !== undefined, "must be a duration such as 12h");

const provider = z.object({
  name: z.string().regex(/^[^/\s]+$/, "must be the name of a program in the directory, without a slash"),
  matchImages: z.array(z.string().min(1)).min(1, "must name an image at least"),
  defaultCacheDuration: duration,
  apiVersion: z.string(),
  args: z.array(z.string()).default([]),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
});

const file = z.object({
  apiVersion: z.string(),
  kind: z.literal("CredentialProviderConfig"),
  providers: z.array(provider),
});

type Provider = z.infer<typeof provider>;

export interface PluginsOptions {
  /** Text of the file, and the directory of the programs. */
  readonly config: string;
  readonly binDir: string;
  readonly dialect: Dialect;
  /** Runs an answer as an event of the agent. */
  readonly turn: (work: () => void) => void;
  readonly nowMillis: () => number;
  readonly warn: (line: string) => void;
}

const answer = z.object({
  kind: z.literal("CredentialProviderResponse"),
  apiVersion: z.string(),
  cacheKeyType: z.enum(["Image", "Registry", "Global"]),
  cacheDuration: duration.optional(),
  auth: z
    .record(z.string(), z.object({ username: z.string().default(""), password: z.string().default("") }))
    .nullish(),
});

type Auth = Readonly<Record<string, RegistryCredentials>>;

const answerMillisMax = 60_000;
const answerBytesMax = 1 << 20;

/** Throws an error that says what is wrong with the file or the directory. */
export function credentialPlugins({
  config,
  binDir,
  dialect,
  turn,
  nowMillis,
  warn,
}: PluginsOptions): CredentialsReader {
  const brand = dialect.name === "svc" ? "nodeagent" : "kubelet";
  const group = `credentialprovider.${brand}.${dialect.groupSuffix}/v1`;
  const providers = readProviders(config, `${brand}.config.${dialect.groupSuffix}/v1`, group);
  for (const { name } of providers) requireProgram(binDir, name);
  const kept = new Map<string, { readonly untilMillis: number; readonly auth: Auth }>();

  const ask = (own: Provider, image: string, done: (auth: Auth) => void): void => {
    const known = [`Image ${image}`, `Registry ${registryOf(image)}`, "Global"].flatMap((key) => {
      const found = kept.get(`${own.name} ${key}`);
      return found !== undefined && found.untilMillis > nowMillis() ? [found.auth] : [];
    });
    if (known[0] !== undefined) {
      done(known[0]);
      return;
    }
    const env = { ...process.env, ...Object.fromEntries(own.env.map(({ name, value }) => [name, value])) };
    const options = { env, timeout: answerMillisMax, maxBuffer: answerBytesMax };
    const child = execFile(join(binDir, own.name), own.args, options, (error, stdout) => {
      const read = error === null ? readAnswer(stdout, group) : { error: error.message };
      if ("error" in read) {
        warn(`credential plugin ${own.name}: ${read.error}`);
        turn(() => done({}));
        return;
      }
      const { cacheKeyType, cacheDuration = own.defaultCacheDuration, auth } = read;
      const key =
        cacheKeyType === "Global"
          ? "Global"
          : `${cacheKeyType} ${cacheKeyType === "Image" ? image : registryOf(image)}`;
      const lasts = millisOf(cacheDuration) ?? 0;
      if (lasts > 0) kept.set(`${own.name} ${key}`, { untilMillis: nowMillis() + lasts, auth: auth ?? {} });
      turn(() => done(auth ?? {}));
    });
    child.stdin?.on("error", () => {}); // it may end before it has read what it is asked
    child.stdin?.end(`${JSON.stringify({ kind: "CredentialProviderRequest", apiVersion: group, image })}\n`);
  };

  return (image, done) => {
    const asked = providers.filter(({ matchImages }) => matchImages.some((pattern) => imageMatches(pattern, image)));
    const found: Auth[] = [];
    let isOver = asked.length === 0;
    if (isOver) done([]);
    let left = asked.length;
    asked.forEach((own, at) =>
      ask(own, image, (auth) => {
        found[at] = auth;
        if (--left > 0 || isOver) return;
        isOver = true;
        const rows = found.flatMap((each) => Object.entries(each));
        // The longest pattern knows best.
        const fitting = rows
          .filter(([pattern]) => imageMatches(pattern, image))
          .sort(([one], [other]) => other.length - one.length);
        done(fitting.map(([, credentials]) => credentials));
      }),
    );
    return () => {
      isOver = true;
    };
  };
}

function readProviders(text: string, fileVersion: string, pluginVersion: string): readonly Provider[] {
  const read = file.safeParse(parseYaml(text), { error: inPlainWords });
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${issue?.path.join(".") || "the document"}: ${issue?.message}`);
  }
  const { apiVersion, providers } = read.data;
  if (apiVersion !== fileVersion) throw new Error(`apiVersion: must be ${fileVersion}`);
  if (providers.length === 0) throw new Error("providers: at least 1 item in plugins is required");
  const names = new Set<string>();
  providers.forEach(({ name, apiVersion: own }, at) => {
    if (own !== pluginVersion) throw new Error(`providers.${at}.apiVersion: must be ${pluginVersion}`);
    if (names.has(name)) throw new Error(`providers.${at}.name: ${name} is there twice`);
    names.add(name);
  });
  return providers;
}

function requireProgram(binDir: string, name: string): void {
  try {
    accessSync(join(binDir, name), constants.X_OK);
  } catch (error) {
    throw new Error(
      `plugin binary executable ${join(binDir, name)} did not exist or cannot be run: ${(error as Error).message}`,
    );
  }
}

function readAnswer(stdout: string, group: string): z.infer<typeof answer> | { readonly error: string } {
  try {
    const read = answer.safeParse(JSON.parse(stdout), { error: inPlainWords });
    if (!read.success)
      return { error: `its answer is none: ${read.error.issues[0]?.path.join(".")}: ${read.error.issues[0]?.message}` };
    return read.data.apiVersion === group
      ? read.data
      : { error: `its answer is of ${read.data.apiVersion}, not of ${group}` };
  } catch {
    return { error: "its answer is no JSON" };
  }
}

const registryOf = (image: string): string => image.split("/", 1)[0] as string;

/** Undefined: it is no duration. */
function millisOf(text: string): number | undefined {
  const nanos = parseDuration(text);
  return typeof nanos === "bigint" ? Number(nanos / 1_000_000n) : undefined;
}
