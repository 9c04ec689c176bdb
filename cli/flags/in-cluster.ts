/** The way from a pod to its cluster's server: what is mounted into it, and what its environment says. */
import process from "node:process";
import { type Dialect, groupInDialect } from "../../wire/dialect.ts";
import type { ReviewTarget } from "../../sim/http/review-caller.ts";
import { readCertificates } from "./pem-files.ts";
import { fileText } from "./file-text.ts";
import { UsageError } from "./usage-error.ts";

/** What surrounds a program. */
interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** In front of the paths of what is mounted. Empty in a pod. */
  readonly root: string;
}

/** Reviews of authorization go to that server. Throws `UsageError` where this is no pod. */
export function inClusterTarget(
  dialect: Dialect,
  version: string,
  { environment, root }: Surroundings = { environment: process.env, root: "" },
): ReviewTarget {
  const prefix = dialect.name.toUpperCase();
  const host = environment[`${prefix}_SERVICE_HOST`];
  const port = environment[`${prefix}_SERVICE_PORT`];
  if (host === undefined || port === undefined) {
    throw new UsageError(
      `connectionInfo InClusterConfig: ${prefix}_SERVICE_HOST and ${prefix}_SERVICE_PORT are not set, as they are in a pod. Give a connection file instead.`,
    );
  }
  const folder = `${root}/var/run/secrets/${dialect.labelSuffix}/serviceaccount`;
  const group = groupInDialect(dialect, "authorization.svc.io");
  return {
    url: `https://${host.includes(":") ? `[${host}]` : host}:${port}/apis/${group}/${version}/subjectaccessreviews`,
    authority: readCertificates(`${folder}/ca.crt`, "connectionInfo InClusterConfig:"),
    insecureSkipTlsVerify: false,
    tlsServerName: undefined,
    token: tokenIn(`${folder}/token`),
    clientCertificate: undefined,
  };
}

function tokenIn(file: string): string {
  try {
    return fileText(file).trim();
  } catch (error) {
    throw new UsageError(`connectionInfo InClusterConfig: ${file}: ${(error as Error).message}.`);
  }
}
