/**
 * The files that configure who comes into a served server, what they may, and how it reaches others: read before
 * anything is started, and again when they change. What is wrong with one is told whole.
 */
import { unwatchFile, watchFile } from "node:fs";
import process from "node:process";
import { absentAuthorizers, authorizersOf } from "../../sim/apiserver/access/modes.ts";
import type { AuthenticationSettings } from "../../sim/configuration/authentication.ts";
import type { AuthorizerSettings, AuthorizerWebhookSettings } from "../../sim/configuration/authorization.ts";
import { problemLines, readConfiguration, type Read, type Settings } from "../../sim/configuration/read.ts";
import type { ServerKind } from "../../sim/configuration/rules.ts";
import type { Setting } from "../../sim/configuration/setting.ts";
import type { Profile } from "../../sim/contract/profile.ts";
import { type Dialers, dialersOf } from "../../sim/http/egress/dialer.ts";
import type { ReviewTarget } from "../../sim/http/review-caller.ts";
import type { WallConfiguration, WallServer } from "../../sim/http/wall-server.ts";
import type { ServeOptions } from "../command-line.ts";
import { configurationSetting } from "../flags/configuration-setting.ts";
import { readConnectionFile } from "../flags/connection-file.ts";
import { inClusterTarget } from "../flags/in-cluster.ts";
import { fileText } from "../flags/file-text.ts";
import { UsageError } from "../flags/usage-error.ts";
import { logText } from "../output/line-log.ts";

/** What the flags and their files come to; undefined when no such flag is given. Throws `UsageError`. */
export function configurationOf(options: ServeOptions, profile: Profile): WallConfiguration | undefined {
  const { authenticationConfig, authorizationConfig, egressSelectorConfigFile, tracingConfigFile, authorizationMode } =
    options;
  const hasWebhook = authorizationMode?.includes("Webhook") === true;
  if (authorizationConfig !== undefined && authorizationMode !== undefined) {
    throw new UsageError("--authorization-config says who decides, and --authorization-mode too: leave one out.");
  }
  if (options.authorizationWebhookConfigFile !== undefined && !hasWebhook) {
    throw new UsageError("--authorization-webhook-config-file is for --authorization-mode Webhook: add that mode.");
  }
  const files = [authenticationConfig, authorizationConfig, egressSelectorConfigFile, tracingConfigFile];
  if (!hasWebhook && files.every((file) => file === undefined)) return undefined;
  const setting = settingOf(options, profile);
  const authorizers =
    authorizationConfig === undefined
      ? authorizersByFlags(options)
      : readAuthorizers(authorizationConfig, setting, undefined);
  const configuration: WallConfiguration = {
    rules: setting.rules,
    ...(authenticationConfig === undefined
      ? {}
      : { authentication: fileSettings("AuthenticationConfiguration", authenticationConfig, setting) }),
    ...(authorizers === undefined ? {} : { authorizers }),
    reviewTarget: (settings) => reviewTarget(settings, profile),
    egress: egressOf(egressSelectorConfigFile, setting),
    ...(tracingConfigFile === undefined
      ? {}
      : { tracing: fileSettings("TracingConfiguration", tracingConfigFile, setting) }),
  };
  for (const { webhook } of authorizers ?? []) if (webhook !== undefined) reviewTarget(webhook, profile);
  return configuration;
}

function settingOf({ anonymousAuth, serviceAccountIssuer }: ServeOptions, profile: Profile): Setting {
  const own = serviceAccountIssuer === undefined ? undefined : [serviceAccountIssuer];
  return configurationSetting(profile, anonymousAuth !== undefined, own);
}

const kindFlags: Readonly<Record<ServerKind, string>> = {
  AuthenticationConfiguration: "--authentication-config",
  AuthorizationConfiguration: "--authorization-config",
  EgressSelectorConfiguration: "--egress-selector-config-file",
  TracingConfiguration: "--tracing-config-file",
};

/** Of a file that must be good. Throws `UsageError` with all that is wrong with it. */
function fileSettings<Kind extends ServerKind>(kind: Kind, file: string, setting: Setting): Settings[Kind] {
  const read: Read<Settings[Kind]> = readConfiguration(kind, fileText(file, configurationMebibytesMax), setting);
  if (read.ok) return read.value;
  const lines = problemLines(read.problems).map((line) => `\n${line}`);
  const advice = `\nSee what the file means with: touchstone config check ${file}`;
  throw new UsageError(`${kindFlags[kind]} ${file}: the file is not valid:${lines.join("")}${advice}`);
}

/** `before`: what is in force. Only webhooks may come and go while the server runs. */
function readAuthorizers(
  file: string,
  setting: Setting,
  before: readonly AuthorizerSettings[] | undefined,
): readonly AuthorizerSettings[] {
  const rows = fileSettings("AuthorizationConfiguration", file, setting);
  const refuse = (at: string, why: string): never => {
    throw new UsageError(`--authorization-config ${file}: ${at}: ${why}.`);
  };
  rows.forEach(({ type }, index) => {
    const why = absentAuthorizers[type];
    if (why !== undefined) refuse(`authorizers[${index}].type`, `${type} is not simulated: ${why}`);
  });
  const others = (list: readonly AuthorizerSettings[]): string =>
    list
      .flatMap(({ type }) => (type === "Webhook" ? [] : [type]))
      .sort()
      .join(", ");
  if (before !== undefined && others(rows) !== others(before)) {
    refuse("authorizers", `types other than Webhook cannot change while the server runs: they are ${others(before)}`);
  }
  return rows;
}

const webhookTimeoutMicros = 30_000_000;

function authorizersByFlags(options: ServeOptions): readonly AuthorizerSettings[] | undefined {
  const { authorizationMode: modes, authorizationWebhookConfigFile: file } = options;
  if (modes === undefined || !modes.includes("Webhook")) return undefined;
  if (file === undefined) {
    throw new UsageError(
      "--authorization-mode Webhook needs --authorization-webhook-config-file: give a connection file.",
    );
  }
  const webhook: AuthorizerWebhookSettings = {
    authorizedMicros: options.authorizationWebhookCacheAuthorizedTtl,
    unauthorizedMicros: options.authorizationWebhookCacheUnauthorizedTtl,
    timeoutMicros: webhookTimeoutMicros,
    reviewVersion: options.authorizationWebhookVersion,
    failurePolicy: "NoOpinion",
    connectionFile: file,
    conditions: [],
  };
  return modes.map((type) => (type === "Webhook" ? { type, name: "default", webhook } : one(authorizersOf([type]))));
}

const one = (rows: readonly AuthorizerSettings[]): AuthorizerSettings => rows[0] as AuthorizerSettings;

function reviewTarget(
  { connectionFile, reviewVersion }: AuthorizerWebhookSettings,
  { dialect }: Profile,
): ReviewTarget {
  if (connectionFile === undefined) return inClusterTarget(dialect, reviewVersion);
  return readConnectionFile(connectionFile, undefined, "the connection file");
}

function egressOf(file: string | undefined, setting: Setting): Dialers {
  if (file === undefined) return {};
  const settings = fileSettings("EgressSelectorConfiguration", file, setting);
  if ((settings.get("etcd")?.is ?? "direct") !== "direct") {
    log("egress selection etcd has no effect: this server's store is in its own memory, and nothing is called");
  }
  try {
    return dialersOf(settings);
  } catch (error) {
    throw new UsageError(`--egress-selector-config-file ${file}: ${(error as Error).message}.`);
  }
}

const pollMillis = 500;

/** Of a file that is read while others are served. */
const configurationMebibytesMax = 3;

/** Takes changed files into `server`, and leaves what is in force where a file has become wrong. Ends with the returned function. */
export function watchFiles(options: ServeOptions, profile: Profile, server: WallServer): () => void {
  const setting = settingOf(options, profile);
  const { authenticationConfig, authorizationConfig } = options;
  const watched: { look(): void; stop(): void }[] = [];
  if (authenticationConfig !== undefined) {
    watched.push(
      onChange(authenticationConfig, () => {
        const read = (): AuthenticationSettings =>
          fileSettings("AuthenticationConfiguration", authenticationConfig, setting);
        reload("authentication", read, (settings) => server.configureAuthentication(settings), server);
      }),
    );
  }
  if (authorizationConfig !== undefined) {
    let current = readAuthorizers(authorizationConfig, setting, undefined);
    watched.push(
      onChange(authorizationConfig, () => {
        const read = (): readonly AuthorizerSettings[] => {
          const rows = readAuthorizers(authorizationConfig, setting, current);
          for (const { webhook } of rows) if (webhook !== undefined) reviewTarget(webhook, profile);
          return rows;
        };
        const take = (rows: readonly AuthorizerSettings[]): void => {
          server.configureAuthorizers(rows);
          current = rows;
        };
        reload("authorization", read, take, server);
      }),
    );
  }
  // Whoever hangs up asks for the files to be read at once. It ends nothing.
  const hangup = (): void => watched.forEach(({ look }) => look());
  process.on("SIGHUP", hangup);
  return () => {
    process.off("SIGHUP", hangup);
    watched.forEach(({ stop }) => stop());
  };
}

function reload<Value>(
  file: "authentication" | "authorization",
  read: () => Value,
  take: (value: Value) => void,
  server: WallServer,
): void {
  let value: Value;
  try {
    value = read();
  } catch (error) {
    server.refusedFile(file);
    log(`the ${file} file has changed and is not taken, the old one stays: ${(error as Error).message}`);
    return;
  }
  take(value);
  log(`the ${file} file has changed and is in force`);
}

/** The text decides: a file that was only touched has not changed. */
function onChange(file: string, changed: () => void): { look(): void; stop(): void } {
  const textOf = (): string | undefined => {
    try {
      return fileText(file, configurationMebibytesMax);
    } catch {
      return undefined;
    }
  };
  let last = textOf();
  const look = (): void => {
    const text = textOf();
    if (text === last) return;
    last = text;
    changed();
  };
  watchFile(file, { interval: pollMillis, persistent: false }, look);
  return { look, stop: () => unwatchFile(file, look) };
}

function log(line: string): void {
  logText(`${line}\n`);
}

const linesPerSecondMax = 20;

/** For what callers can make the server say as often as they like: what is too much is counted, and not said. */
export function limitedLog(): (line: string) => void {
  let second = 0;
  let said = 0;
  let unsaid = 0;
  return (line) => {
    const now = Math.floor(Date.now() / 1_000);
    if (now !== second) {
      if (unsaid > 0) log(`(${unsaid} lines more)`);
      [second, said, unsaid] = [now, 0, 0];
    }
    if (said < linesPerSecondMax) log(line);
    else unsaid++;
    said++;
  };
}
