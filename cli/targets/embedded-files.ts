/** The suite's own configuration files, for an embedded server that is judged by them. */
import { authenticationFile, authorizationFile } from "../../conformance/model/access-files.ts";
import type { CheckInfo } from "../../conformance/runner/define-check.ts";
import { readConfiguration } from "../../sim/configuration/read.ts";
import { configurationRules } from "../../sim/configuration/rules.ts";
import { bareSetting } from "../../sim/configuration/setting.ts";
import type { Profile } from "../../sim/contract/profile.ts";
import { type EmbeddedServerOptions, issuerUrl } from "../../sim/http/embedded-server.ts";

/** Checks that need these are run on a server that is started with the files. */
const featuresOfFiles: ReadonlySet<string> = new Set(["token-issuer", "authorizer-webhooks"]);

export const needsFiles = ({ features }: CheckInfo): boolean =>
  features.some((feature) => featuresOfFiles.has(feature));

/** One that nobody shows: its issuer cannot be trusted. */
const otherCertificate = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n";

export interface SuiteDocuments {
  readonly AuthenticationConfiguration: object;
  readonly AuthorizationConfiguration: object;
}

export function suiteDocuments({ dialect }: Profile): SuiteDocuments {
  const address = { url: issuerUrl, certificate: undefined, otherCertificate };
  return {
    AuthenticationConfiguration: authenticationFile(dialect, address),
    AuthorizationConfiguration: authorizationFile(dialect, { first: "/first", second: "/second" }),
  };
}

/** Throws for a file that is not valid: it is ours. */
export function settingsOf(
  { dialect }: Profile,
  documents: SuiteDocuments,
): NonNullable<EmbeddedServerOptions["files"]> {
  const rules = configurationRules[dialect.name];
  const read = <Kind extends keyof SuiteDocuments>(kind: Kind) => {
    const found = readConfiguration(kind, JSON.stringify(documents[kind]), bareSetting(rules));
    if (!found.ok) throw new Error(`the suite's own ${kind} is not valid: ${JSON.stringify(found.problems)}`);
    return found.value;
  };
  return {
    rules,
    authentication: read("AuthenticationConfiguration"),
    authorizers: read("AuthorizationConfiguration"),
  };
}
