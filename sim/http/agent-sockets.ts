/** An agent's listeners on real sockets: which there are by its settings, where, and with which certificates. */
import type { SecureVersion } from "node:tls";
import { type AgentListener, type AgentListenerOptions, RequestCounts } from "../agent/listener/agent-listener.ts";
import type { AgentSettings } from "../configuration/agent/settings.ts";
import type { Listening } from "./http1-server.ts";
import { listenHttp, type TlsOptions } from "./http-server.ts";

export interface AgentSocketsOptions
  extends Pick<
    AgentListenerOptions,
    "agent" | "node" | "configz" | "idleMillisMax" | "syncFrequencyMicros" | "profiles" | "exceptions"
  > {
  readonly settings: AgentSettings;
  /** Of the serving listener; undefined where there is none. */
  readonly tls: TlsOptions | undefined;
  readonly access: NonNullable<AgentListenerOptions["access"]>;
  readonly listener: (options: AgentListenerOptions) => Pick<AgentListener, "start">;
  readonly turn: (work: () => void) => void;
}

export interface AgentSockets {
  /** By listener: `https://…`. Those that there are. */
  readonly urls: Readonly<Partial<Record<AgentListenerOptions["kind"], string>>>;
  /** Of the serving listener: connections from now on are shown this pair. */
  present(pair: Pick<TlsOptions, "certificate" | "privateKey">): void;
  close(): Promise<void>;
}

/** A listener could not be opened. */
export class CannotListen extends Error {
  readonly flag: string;

  constructor(flag: string, cause: Error) {
    super(cause.message, { cause });
    this.flag = flag;
  }
}

/** A stream's connection may be as old; a request's head and answer may take as long. Source: the facts, HTTP. */
const patience = { answerMillisMax: 4 * 3600 * 1000, idleMillisMax: 90_000 };

/** Paths whose connections may change their protocol. */
const streamPath = /^\/(?:exec|attach|portForward)\//;

/** Opens what the settings name; on failure what was opened is closed again, and `CannotListen` thrown. */
export async function openAgentSockets(options: AgentSocketsOptions): Promise<AgentSockets> {
  const { settings, tls, access, listener, turn } = options;
  const { flag, number, text } = settings;
  const counts = new RequestCounts();
  const common = { ...options, counts, hasDebugging: flag("enable-debugging-handlers") };
  const opened: [kind: AgentListenerOptions["kind"], listening: Listening][] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map(([, listening]) => listening.close(0)));
  };
  const open = async (
    kind: AgentListenerOptions["kind"],
    portFlag: string,
    address: string,
    more: Partial<AgentListenerOptions>,
    secure?: TlsOptions,
  ): Promise<void> => {
    const { agent, node, configz, idleMillisMax, syncFrequencyMicros, hasDebugging, profiles, exceptions } = common;
    const handler = listener({
      kind,
      agent,
      node,
      configz,
      idleMillisMax,
      syncFrequencyMicros,
      hasDebugging,
      profiles,
      ...(exceptions === undefined ? {} : { exceptions }),
      counts,
      ...more,
    });
    try {
      const upgrades = { path: streamPath, credentials: {} };
      const listening = await listenHttp({ handler, turn, patience, upgrades }, number(portFlag), address, secure);
      opened.push([kind, listening]);
    } catch (error) {
      await close();
      throw new CannotListen(portFlag, error as Error);
    }
  };
  if (tls !== undefined) await open("serving", "port", text("address"), { access }, tls);
  if (number("read-only-port") > 0) await open("readOnly", "read-only-port", text("address"), {});
  if (number("healthz-port") > 0) await open("health", "healthz-port", text("healthz-bind-address"), {});
  return {
    urls: Object.fromEntries(opened.map(([kind, { url }]) => [kind, url])),
    present: (pair) => opened.forEach(([, listening]) => listening.present?.(pair)),
    close,
  };
}

const versions: Readonly<Record<string, SecureVersion>> = {
  VersionTLS10: "TLSv1",
  VersionTLS11: "TLSv1.1",
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
};

export const tlsVersionOf = (name: string): SecureVersion => versions[name] ?? "TLSv1.2";
