/** A node agent in real time: what `touchstone agent` runs. */
import { Kernel } from "../../sim/kernel/kernel.ts";
import { WallDriver } from "../../sim/kernel/wall-driver.ts";
import type { HostDns } from "../../sim/agent/runtime/pod-dns.ts";
import type { EvictionRules } from "../../wire/eviction-thresholds.ts";
import { Agent } from "../../sim/agent/agent.ts";
import {
  CertificateKeeper,
  type CertificateKeeperOptions,
  type HeldCertificate,
} from "../../sim/agent/certificates/certificate-keeper.ts";
import type { HeldPod } from "../../sim/agent/pods/held-pod.ts";
import { AgentApi } from "../../sim/agent/client/agent-api.ts";
import { turns } from "../../sim/agent/piece.ts";
import { run } from "../../sim/agent/task.ts";
import { certificateMaker } from "../../sim/http/certificates/certificate-maker.ts";
import type { CredentialsReader } from "../../sim/agent/runtime/image-pulls.ts";
import { credentialPlugins, type PluginsOptions } from "../../sim/http/credential-plugins.ts";
import { readText } from "../flags/pem-files.ts";
import { UsageError } from "../flags/usage-error.ts";
import { goOnAfterUncaught } from "../last-resort.ts";
import { Exceptions } from "../output/exceptions.ts";
import type { AgentLog } from "../output/agent-log.ts";
import { programProfiles } from "./program-profiles.ts";
import { loggedRuntime, loggedServer } from "./logged-calls.ts";
import type { PairFile } from "./pair-file.ts";
import { AgentNode } from "../../sim/agent/node/node-side.ts";
import type { AgentOptions } from "../../sim/agent/ports.ts";
import { certificateOptionsWith } from "../../sim/agent/planted/certificate-bugs.ts";
import { accessWith, listenerWith } from "../../sim/agent/planted/listener-bugs.ts";
import { accessSettingsOf } from "../../sim/agent/options-of-settings.ts";
import { configzOf } from "../../sim/configuration/agent/configz.ts";
import type { AgentSettings } from "../../sim/configuration/agent/settings.ts";
import { type AgentSockets, openAgentSockets } from "../../sim/http/agent-sockets.ts";
import type { TlsOptions } from "../../sim/http/http-server.ts";
import type { Profile } from "../../sim/contract/profile.ts";
import { GrpcRuntime } from "../../sim/grpc/cri-client.ts";
import { type StartedAgentBugs, startedAgentBugsOn } from "../../sim/planted/started-agent-bugs.ts";
import { agentBugsOn } from "../../sim/planted/agent-bugs.ts";
import { fileWatcher, machineFiles, urlFetcher } from "../../sim/http/manifests.ts";
import { remoteServer, type RemoteServerOptions } from "../../sim/http/remote-server.ts";
import { wallPorts } from "../../sim/http/wall.ts";

export interface WallAgentOptions {
  readonly profile: Profile;
  readonly settings: AgentSettings;
  readonly options: AgentOptions;
  /** Planted bugs, by name. */
  readonly faults: readonly string[];
  /** Of the serving listener; undefined where there is none. */
  readonly tls: TlsOptions | undefined;
  readonly rules: EvictionRules;
  /** Undefined: standalone, without an API server. */
  readonly server: Omit<RemoteServerOptions, "dialect" | "turn"> | undefined;
  /** Certificates that the cluster is asked for, and asked for anew before they end. */
  readonly certificates?: AgentCertificates;
  /** Sent with every request: who the agent is. */
  readonly headers: Readonly<Record<string, string>>;
  /** `unix:///path` or `HOST:PORT`. */
  readonly runtimeEndpoint: string;
  readonly agentVersion: string;
  /** Where the machine's resolver is described; undefined: containers have none. */
  readonly hostDns: () => HostDns | undefined;
  /** Of everything drawn: agents that begin together do not go in step. */
  readonly seed: string;
  readonly warn: (line: string) => void;
  readonly log: AgentLog;
  /** The agent cannot go on as it is configured. */
  readonly fail: (why: string) => void;
}

export interface AgentCertificates {
  /** Names and addresses that a serving certificate is for. */
  readonly hosts: readonly string[];
  /** Where they are kept; `given`: what the connection file leads to. */
  readonly client?: {
    readonly pairs: PairFile;
    readonly given: { readonly certificate: string; readonly key: string } | undefined;
  };
  readonly serving?: { readonly pairs: PairFile };
}

export interface WallAgent {
  /** Of its listeners, by their kind. */
  readonly urls: AgentSockets["urls"];
  /** Pods of files and of the URL that have not begun yet; undefined: these sources have not been read. */
  waitingPods(): readonly string[] | undefined;
  close(): void;
}

/** Begins, and listens; throws `CannotListen`. Containers go on when it is closed. */
export async function startWallAgent(given: WallAgentOptions): Promise<WallAgent> {
  const {
    hostDns,
    faults,
    settings,
    tls,
    profile,
    options,
    rules,
    server,
    certificates,
    headers,
    runtimeEndpoint,
    agentVersion,
    seed,
    log,
    warn,
    fail,
  } = given;
  const bugs = startedAgentBugsOn(faults);
  const agentBugs = agentBugsOn(faults);
  const exceptions = new Exceptions((line) => log.warning("agent", line));
  const kernel = new Kernel({
    seed,
    epochUnixMillis: Date.now(),
    caught: (failure, what, component = "event") => exceptions.tell(component, what, failure),
  });
  const driver = new WallDriver(kernel, wallPorts, {
    onError: (failure) => exceptions.tell("event", "an event", failure),
  });
  const process = kernel.process(`nodeagent ${options.nodeName}`);
  const turn = (work: () => void): void => {
    if (!process.alive) return;
    try {
      driver.enter(process, work);
    } catch (failure) {
      exceptions.tell("event", "what has come from outside", failure);
    }
  };
  const imageEndpoint = settings.text("image-service-endpoint");
  const grpc = new GrpcRuntime(
    runtimeEndpoint,
    driver,
    process,
    imageEndpoint === "" ? runtimeEndpoint : imageEndpoint,
  );
  const runtime = loggedRuntime(grpc, log);
  const { dialect } = profile;
  const plugins = pluginsOf(settings, { dialect, turn, warn, nowMillis: () => Date.now() });
  const client = server === undefined ? undefined : remoteServer({ ...server, dialect, turn });
  const remote = client === undefined ? undefined : { ...client, ...loggedServer(client, log) };
  let node!: AgentNode;
  const agent = driver.enter(process, () => {
    const made = new Agent(
      {
        process,
        dialect,
        server: remote,
        headers,
        runtime,
        bugs: agentBugs,
        readFiles: machineFiles((work) => process.clock.after(0, work)),
        ...(settings.rules.watchesManifests ? { watchFiles: fileWatcher(turn) } : {}),
        fetchUrl: urlFetcher(turn),
        hostDns,
        ...(plugins === undefined ? {} : { credentials: plugins }),
        warn,
        fail,
        nodeSide: (context) => {
          node = new AgentNode({
            context,
            runtime,
            rules,
            bugs: agentBugs,
            agentVersion,
            negativeGraceIsPods: settings.rules.negativeGraceIsPods,
            start: {
              failSwapOn: settings.flag("fail-swap-on"),
              failCgroupV1: settings.flag("fail-cgroupv1"),
              protectKernelDefaults: settings.flag("protect-kernel-defaults"),
            },
            volumeStatsMicros: settings.number("volume-stats-agg-period"),
            fail,
          });
          return node;
        },
      },
      options,
    );
    made.start();
    return made;
  });
  const { view } = agent;
  const profiles = programProfiles(settings);
  const end = (): void => {
    profiles.close();
    driver.stop();
    remote?.close();
    grpc.close();
  };
  const access = accessWith(bugs, view, accessSettingsOf(settings));
  const sockets = await openAgentSockets({
    settings,
    tls,
    agent: view,
    node,
    configz: () => configzOf(settings),
    exceptions: () => exceptions.counts,
    profiles,
    idleMillisMax: Math.floor(settings.number("streaming-connection-idle-timeout") / 1000),
    syncFrequencyMicros: options.pods.syncFrequencyMicros,
    access,
    listener: listenerWith(bugs, access),
    turn,
  }).catch((error: unknown) => {
    end();
    throw error;
  });
  if (certificates !== undefined && remote !== undefined) {
    const { nodeName } = options;
    const pieces = view.process;
    const api = new AgentApi({ process: pieces, server: remote, headers });
    driver.enter(process, () =>
      keepCertificates(bugs, { process: pieces, api, dialect, maker: certificateMaker, nodeName, warn }, certificates, {
        client: ({ certificate, privateKey }) => remote.present({ certificate, key: privateKey }),
        serving: (made) => sockets.present(made),
      }),
    );
  }
  goOnAfterUncaught((failure, from) => exceptions.tell("event", `a ${from}`, failure));
  return {
    urls: sockets.urls,
    waitingPods: () => (agent.pods.isSure ? [...agent.pods.held.values()].filter(isWaiting).map(nameOf) : undefined),
    close() {
      void sockets.close();
      end();
    },
  };
}

/** Throws `UsageError`. */
function pluginsOf(
  settings: AgentSettings,
  common: Omit<PluginsOptions, "config" | "binDir">,
): CredentialsReader | undefined {
  const [path, binDir] = [
    settings.text("image-credential-provider-config"),
    settings.text("image-credential-provider-bin-dir"),
  ];
  if (path === "" && binDir === "") return undefined;
  if (path === "" || binDir === "") {
    throw new UsageError("--image-credential-provider-config and --image-credential-provider-bin-dir need each other.");
  }
  const config = readText(path, "--image-credential-provider-config");
  try {
    return credentialPlugins({ ...common, config, binDir });
  } catch (error) {
    throw new UsageError(`--image-credential-provider-config ${path}: ${(error as Error).message}.`);
  }
}

/** Until a certificate that an exception has ended is asked for again. */
const certificateMicros = 30_000_000;

const nameOf = ({ namespace, name }: HeldPod): string => `${namespace}/${name}`;

/** A container of its own has neither run nor ended, and it has not been refused. */
function isWaiting({ isStatic, pod, runtimePod, status }: HeldPod): boolean {
  if (!isStatic || status?.phase === "Failed" || status?.phase === "Succeeded") return false;
  const begun = new Set(
    runtimePod.containers
      .filter(({ state }) => state === "CONTAINER_RUNNING" || state === "CONTAINER_EXITED")
      .map(({ name }) => name),
  );
  return pod.spec.containers.some(({ name }) => !begun.has(name));
}

/** Asks for what is to be asked for, keeps what comes on the disk and tells whoever shows it. */
function keepCertificates(
  bugs: StartedAgentBugs,
  common: Omit<CertificateKeeperOptions, "purpose" | "hosts">,
  { client, serving, hosts }: AgentCertificates,
  present: Readonly<Record<"client" | "serving", (made: HeldCertificate) => void>>,
): void {
  const keep = (purpose: "client" | "serving", pairs: PairFile, held: HeldCertificate | undefined): void => {
    const keeper = new CertificateKeeper(certificateOptionsWith(bugs, { ...common, purpose, hosts }));
    let current = held;
    const renewed = (made: HeldCertificate): void => {
      pairs.write(made, Date.now());
      present[purpose](made);
      current = made;
      common.warn(`${purpose} certificate: a new one, good until ${new Date(made.notAfterUnixMillis).toISOString()}.`);
    };
    // One that throws begins anew a while later, with what it has.
    turns(common.process, "certificates", `${purpose} certificate`, certificateMicros, () =>
      run(keeper.keep(current, renewed), () => {}),
    );
  };
  if (client !== undefined) {
    const { pairs, given } = client;
    const kept = pairs.read(Date.now());
    if (kept !== undefined) present.client(kept);
    keep(
      "client",
      pairs,
      kept ?? (given === undefined ? undefined : certificateMaker.read(given.certificate, given.key)),
    );
  }
  if (serving !== undefined) keep("serving", serving.pairs, serving.pairs.read(Date.now()));
}
