/**
 * How an agent that knows only --bootstrap-svcconfig gets a connection file of its own: with the credentials of the one it
 * asks the cluster for a client certificate, and writes it into --cert-dir and the other to --svcconfig.
 * Source: document 3, --bootstrap-svcconfig.
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { stringify } from "yaml";
import { Kernel } from "../../sim/kernel/kernel.ts";
import { WallDriver } from "../../sim/kernel/wall-driver.ts";
import { CertificateKeeper, type HeldCertificate } from "../../sim/agent/certificates/certificate-keeper.ts";
import { AgentApi } from "../../sim/agent/client/agent-api.ts";
import { run } from "../../sim/agent/task.ts";
import type { AgentSettings } from "../../sim/configuration/agent/settings.ts";
import type { Profile } from "../../sim/contract/profile.ts";
import { certificateMaker } from "../../sim/http/certificates/certificate-maker.ts";
import { remoteServer } from "../../sim/http/remote-server.ts";
import { wallPorts } from "../../sim/http/wall.ts";
import { type Reached, readConnectionFile } from "../flags/connection-file.ts";
import { UsageError } from "../flags/usage-error.ts";
import { PairFile } from "./pair-file.ts";

export interface AgentConnectionOptions {
  readonly settings: AgentSettings;
  readonly profile: Profile;
  /** Of the connection file; undefined: its current one. */
  readonly context: string | undefined;
  readonly nodeName: string;
  readonly warn: (line: string) => void;
  /** Ends the wait for a certificate. */
  readonly interruption: Promise<unknown>;
}

/** Of the client certificates of an agent, below --cert-dir. */
export const clientPairs = (settings: AgentSettings): PairFile =>
  new PairFile(settings.text("cert-dir"), "nodeagent-client");

/** Where the API server is, and who the agent is there. Undefined: it stands alone, or was told to end while it waited. */
export async function agentConnection(options: AgentConnectionOptions): Promise<Reached | "alone" | "interrupted"> {
  const { settings, context, warn } = options;
  const [file, bootstrap] = [settings.text("svcconfig"), settings.text("bootstrap-svcconfig")];
  if (file === "") {
    if (bootstrap !== "")
      warn("--bootstrap-svcconfig is without use: no --svcconfig says where the connection file is to be written.");
    return "alone";
  }
  if (bootstrap === "") return readConnectionFile(file, context);
  const known = existsSync(file) ? stillGood(file, context, warn) : undefined;
  if (known !== undefined) return known;
  const first = readConnectionFile(bootstrap, undefined, "--bootstrap-svcconfig");
  const made = await certificateFrom(first, options);
  if (made === undefined) return "interrupted";
  const pairs = clientPairs(settings);
  pairs.write(made, Date.now());
  writeConnection(file, first, pairs.path, context ?? "default");
  return readConnectionFile(file, context);
}

/** What a file says, unless the certificate that it leads to has ended or is gone. */
function stillGood(file: string, context: string | undefined, warn: (line: string) => void): Reached | undefined {
  try {
    const reached = readConnectionFile(file, context);
    const { clientCertificate: pair } = reached;
    if (pair === undefined) return reached;
    const held = certificateMaker.read(pair.certificate, pair.key);
    if (held !== undefined && held.notAfterUnixMillis > Date.now()) return reached;
    warn(`--svcconfig ${file}: its client certificate has ended; asking for a new one.`);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    warn(`${error.message} Asking for a new client certificate.`);
  }
  return undefined;
}

/** Undefined: interrupted. */
async function certificateFrom(
  reached: Reached,
  { profile, nodeName, warn, interruption }: AgentConnectionOptions,
): Promise<HeldCertificate | undefined> {
  const kernel = new Kernel({
    seed: `bootstrap ${nodeName} ${process.pid} ${Date.now()}`,
    epochUnixMillis: Date.now(),
  });
  let broke: (error: unknown) => void = () => {};
  const driver = new WallDriver(kernel, wallPorts, { onError: (error) => broke(error) });
  const simulated = kernel.process(`bootstrap ${nodeName}`);
  const { dialect } = profile;
  const server = remoteServer({
    ...reached,
    dialect,
    usesProtobuf: false,
    turn: (work) => driver.enter(simulated, work),
  });
  const headers: Record<string, string> = {
    accept: "application/json",
    "user-agent": "nodeagent/bootstrap",
    ...(reached.token === undefined ? {} : { authorization: `Bearer ${reached.token}` }),
  };
  const made = new Promise<HeldCertificate>((resolve, reject) => {
    broke = reject;
    driver.enter(simulated, () => {
      const api = new AgentApi({ process: simulated, server, headers });
      const maker = certificateMaker;
      const keeper = new CertificateKeeper({
        process: simulated,
        api,
        dialect,
        maker,
        purpose: "client",
        nodeName,
        hosts: [],
        warn,
      });
      run(keeper.obtain(), resolve);
    });
  });
  try {
    return await Promise.race([made, interruption.then(() => undefined)]);
  } finally {
    driver.stop();
    server.close();
  }
}

/** The same server, and the certificate as who the agent is. */
function writeConnection(file: string, { url, ...server }: Reached, pairPath: string, context: string): void {
  const authority =
    server.authority === undefined
      ? {}
      : { "certificate-authority-data": Buffer.from(server.authority).toString("base64") };
  const document = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "default",
        cluster: {
          server: url,
          ...authority,
          ...(server.insecureSkipTlsVerify ? { "insecure-skip-tls-verify": true } : {}),
          ...(server.tlsServerName === undefined ? {} : { "tls-server-name": server.tlsServerName }),
        },
      },
    ],
    users: [{ name: "default", user: { "client-certificate": pairPath, "client-key": pairPath } }],
    contexts: [{ name: context, context: { cluster: "default", user: "default" } }],
    "current-context": context,
  };
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, stringify(document), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new UsageError(`--svcconfig ${file}: ${(error as Error).message}. Name a file that this user may write to.`);
  }
}
