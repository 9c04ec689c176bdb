/** What a started agent does, beyond what it says of its flags: by requirement. Source: document 3. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentProcess } from "../client/agent-process.ts";
import { documentServer } from "../client/document-server.ts";
import { type Bench, type Finding, judged as found } from "./trial.ts";

type Behaviour = (bench: Bench) => Promise<Finding>;

/** Starts, and judges what is there then. */
const started =
  (
    what: string,
    flags: readonly string[] | ((folder: string) => readonly string[]),
    judge: (agent: AgentProcess) => Promise<readonly [isGood: boolean, evidence: string]>,
  ): Behaviour =>
  ({ with: run }) =>
    run(flags, async (agent, outcome) => {
      if (outcome.is !== "running")
        return { what, is: "bad", evidence: `it did not start: ${agent.output.slice(-1500)}` };
      const [isGood, evidence] = await judge(agent);
      return found(what, isGood, evidence);
    });

const ends =
  (what: string, flags: readonly string[], judge: (code: number | null, output: string) => boolean): Behaviour =>
  ({ with: run }) =>
    run(flags, async (agent, outcome) => {
      const text = `${flags.join(" ")}\n${agent.output.slice(0, 1500)}`;
      if (outcome.is !== "ended") return { what, is: "bad", evidence: `${text}\nit has not ended` };
      return found(what, judge(outcome.code, outcome.output), `${text}\nexit ${outcome.code}`);
    });

const pod = (name: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "c", image: "registry.example/c:1" }] },
});

const yaml = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - {name: c, image: "registry.example/c:1"}\n`;

/** Names of pods that the agent is to run, once it has some. */
async function podNames(agent: AgentProcess): Promise<readonly string[]> {
  for (let tries = 0; tries < 50; tries++) {
    const { status, body } = await agent.ask("readOnly", "/pods");
    const list = status === 200 ? (JSON.parse(body) as { items?: { metadata: { name: string } }[] | null }) : {};
    const names = (list.items ?? []).map(({ metadata }) => metadata.name);
    if (names.length > 0) return names;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return [];
}

const manifests = (folder: string): string => {
  const path = join(folder, "manifests");
  mkdirSync(path);
  writeFileSync(join(path, "a.yaml"), yaml("first"));
  writeFileSync(join(path, "b.json"), JSON.stringify(pod("second")));
  writeFileSync(join(path, ".hidden.yaml"), yaml("hidden"));
  return path;
};

const fromFiles = (what: string): Behaviour =>
  started(
    what,
    (folder) => [`--pod-manifest-path=${manifests(folder)}`],
    async (agent) => {
      const names = await podNames(agent);
      return [
        names.includes("first-judged") && names.includes("second-judged") && names.length === 2,
        `pods: ${names.join(", ")}`,
      ];
    },
  );

/** The self-signed pair that an agent has made: its certificate, then its key. */
const pairIn = (agent: AgentProcess): readonly string[] =>
  ["nodeagent", "kubelet"]
    .flatMap((name) => [`${name}.crt`, `${name}.key`])
    .map((name) => join(agent.folder, "pki", name))
    .filter((path) => existsSync(path));

const statuses = async (agent: AgentProcess): Promise<string> => {
  const [serving, readOnly, health] = await Promise.all(
    (["serving", "readOnly", "health"] as const).map((listener) => agent.ask(listener, "/healthz")),
  );
  return `serving ${serving?.status}, read-only ${readOnly?.status}, health ${health?.status}`;
};

/** As OpenSSL calls them: every published agent has them by default. */
const strongerSuites = "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384";

const headOf = (profile: Bench["profile"]): string =>
  profile === "svc"
    ? "apiVersion: nodeagent.config.svc.io/v1beta1\nkind: NodeAgentConfiguration\n"
    : "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

/** Standing alone, an agent has nobody to ask about callers. */
const open =
  "authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}\nauthorization: {mode: AlwaysAllow}\n";

/** A file, and two in a directory; what does not end with .conf is not read. */
function dropIns(folder: string, profile: Bench["profile"]): readonly string[] {
  const [file, directory] = [join(folder, "agent.yaml"), join(folder, "more")];
  const head = headOf(profile);
  mkdirSync(directory);
  writeFileSync(file, `${head}${open}maxPods: 33\nregistryBurst: 44\npodsPerCore: 2\neventBurst: 120\n`);
  writeFileSync(join(directory, "10.conf"), `${head}maxPods: 55\nregistryBurst: 66\n`);
  writeFileSync(join(directory, "20.conf"), `${head}maxPods: 77\n`);
  writeFileSync(join(directory, "30.yaml"), `${head}podsPerCore: 9\n`);
  return [`--config=${file}`, `--config-dir=${directory}`, "--event-burst=130"];
}

/** Without it the documented agent takes no directory; the published one has no such variable any more. */
const dropInVariable = "NODEAGENT_CONFIG_DROPIN_DIR_ALPHA";

const answers = (what: string, flags: readonly string[], expected: string): Behaviour =>
  started(what, flags, async (agent) => {
    const seen = await statuses(agent);
    return [seen === expected, seen];
  });

const all = "serving 200, read-only 200, health 200";

export const behaviours: Readonly<Record<string, readonly Behaviour[]>> = {
  "agent-configuration.mode": [fromFiles("without an API server it runs what its own sources say")],
  "agent-configuration.invocation": [
    started("of a flag that comes again the last counts", ["--max-pods=33", "--max-pods=44"], async (agent) => {
      const { body } = await agent.ask("serving", "/configz");
      return [/"maxPods":\s*44\b/.test(body), body.slice(0, 3000)];
    }),
  ],
  "agent-configuration.file": [
    ends(
      "a file that is not there is refused",
      ["--config=/nowhere/agent.yaml"],
      (code, output) => code !== 0 && output.includes("/nowhere/agent.yaml"),
    ),
  ],
  "agent-configuration.precedence": [
    ({ with: run, profile }) =>
      run(
        (folder) => {
          const file = join(folder, "agent.yaml");
          writeFileSync(file, `${headOf(profile)}${open}maxPods: 33\nregistryBurst: 44\n`);
          return [`--config=${file}`, "--max-pods=55"];
        },
        async (agent, outcome) => {
          const what = "a flag comes before the file, and the file before the default";
          const { body } = await agent.ask("serving", "/configz");
          const isGood =
            /"maxPods":\s*55\b/.test(body) &&
            /"registryBurst":\s*44\b/.test(body) &&
            /"eventBurst":\s*100\b/.test(body);
          return found(what, outcome.is === "running" && isGood, `${body.slice(0, 3000)}\n${agent.output.slice(-500)}`);
        },
      ),
  ],
  "agent-configuration.drop-ins": [
    ({ with: run, profile }) =>
      run(
        (folder) => dropIns(folder, profile),
        async (agent, outcome) => {
          const what = "files of the directory come before the file, the last by name first, and flags before all";
          const { body } = await agent.ask("serving", "/configz");
          const wanted = { maxPods: 77, registryBurst: 66, podsPerCore: 2, eventBurst: 130 };
          const isGood = Object.entries(wanted).every(([field, value]) =>
            new RegExp(`"${field}":\\s*${value}\\b`).test(body),
          );
          return found(what, outcome.is === "running" && isGood, `${body.slice(0, 3000)}\n${agent.output.slice(-500)}`);
        },
        { [dropInVariable]: "1" },
      ),
    ({ with: run, profile }) =>
      run(
        (folder) => dropIns(folder, profile),
        async (agent, outcome) => {
          const isRefused = outcome.is === "ended" && outcome.code !== 0 && agent.output.includes("--config-dir");
          const isGood = profile === "svc" ? isRefused : outcome.is === "running";
          const what =
            profile === "svc" ? "without the variable a directory is refused" : "a directory needs no variable";
          return found(what, isGood, agent.output.slice(-1500));
        },
      ),
  ],
  "agent-configuration.help": [
    ends(
      "--help prints flags, and nothing runs",
      ["--help"],
      (code, output) => code === 0 && output.includes("--max-pods"),
    ),
    ends("-h is the same", ["-h"], (code, output) => code === 0 && output.includes("--max-pods")),
  ],
  "agent-configuration.version": [
    ends(
      "--version prints a version, and nothing runs",
      ["--version"],
      (code, output) => code === 0 && /v\d+\.\d+\.\d+/.test(output),
    ),
  ],
  "agent-node.name": [fromFiles("pods of files are named after --hostname-override")],
  "agent-pods.specification": [fromFiles("pods come as YAML and as JSON")],
  "agent-pods.file-source": [fromFiles("files of a folder are pods, but for those that begin with a dot")],
  "agent-pods.url-source": [
    async ({ with: run }) => {
      const server = await documentServer(JSON.stringify(pod("remote")), "application/json");
      try {
        return await run([`--manifest-url=${server.url}`], async (agent) => {
          const names = await podNames(agent);
          return found("the pod of a URL is run", names.includes("remote-judged"), `pods: ${names.join(", ")}`);
        });
      } finally {
        await server.close();
      }
    },
  ],
  "agent-pods.url-header": [
    async ({ with: run }) => {
      const server = await documentServer(JSON.stringify(pod("remote")), "application/json");
      try {
        const flags = [
          `--manifest-url=${server.url}`,
          "--manifest-url-header=X-A:one,X-A:two",
          "--manifest-url-header=X-B:three",
        ];
        return await run(flags, async (agent) => {
          await podNames(agent);
          const [first = []] = server.requests;
          const pairs = first.flatMap((name, at) => (at % 2 === 0 ? [`${name.toLowerCase()}: ${first[at + 1]}`] : []));
          const own = pairs.filter((pair) => pair.startsWith("x-")).join("; ");
          const isGood = ["x-a: one; x-a: two; x-b: three", "x-a: one, two; x-b: three"].includes(own);
          return found("headers go with the request, equal names in their order", isGood, own);
        });
      } finally {
        await server.close();
      }
    },
  ],
  "agent-server.address": [answers("it serves where it is told", ["--address=127.0.0.1"], all)],
  "agent-server.port": [answers("it serves HTTPS at its port", [], all)],
  "agent-server.enabled": [
    answers(
      "--enable-server=false leaves no serving listener",
      ["--enable-server=false"],
      "serving 0, read-only 200, health 200",
    ),
  ],
  "agent-server.read-only-port": [
    answers("a read-only port of 0 is not open", ["--read-only-port=0"], "serving 200, read-only 0, health 200"),
    started(
      "whoever asks there is answered, whatever the other listener asks for",
      ["--anonymous-auth=false"],
      async (agent) => {
        const { status } = await agent.ask("readOnly", "/pods");
        return [status === 200, `status ${status}`];
      },
    ),
  ],
  "agent-server.healthz-port": [answers("health is told at its port", [], all)],
  "agent-server.debugging-handlers": [
    started("without them, commands are refused", ["--enable-debugging-handlers=false"], async (agent) => {
      const { status } = await agent.ask("serving", "/run/default/a/b", { method: "POST" });
      return [status === 404 || status === 405, `status ${status}`];
    }),
    // A command in a pod that is not there is refused either way: what needs none shows the difference.
    started("with them, the agent tells its configuration", [], async (agent) => {
      const { status } = await agent.ask("serving", "/configz");
      return [status === 200, `status ${status}`];
    }),
    started("without them, it does not", ["--enable-debugging-handlers=false"], async (agent) => {
      const { status } = await agent.ask("serving", "/configz");
      return [status === 404 || status === 405, `status ${status}`];
    }),
  ],
  "agent-server.tls-cert": [
    started("without a certificate, a self-signed pair is made in --cert-dir", [], async (agent) => {
      const there = pairIn(agent);
      return [there.length >= 2, `there: ${there.join(", ")}`];
    }),
    ({ with: run }) =>
      run([], async (other) => {
        const what = "the certificate that flags name is shown";
        const [certificate = "", key = ""] = pairIn(other);
        return run([`--tls-cert-file=${certificate}`, `--tls-private-key-file=${key}`], async (agent) => {
          const [wanted, seen] = [await other.handshake("TLSv1.3"), await agent.handshake("TLSv1.3")];
          const isGood = "certificate" in wanted && "certificate" in seen && wanted.certificate === seen.certificate;
          return found(what, isGood, `${JSON.stringify({ wanted, seen })}\n${agent.output.slice(-500)}`);
        });
      }),
  ],
  "agent-server.tls-min-version": [
    started("an older handshake is refused", ["--tls-min-version=VersionTLS13"], async (agent) => {
      const [older, newer] = [await agent.handshake("TLSv1.2"), await agent.handshake("TLSv1.3")];
      return ["error" in older && "suite" in newer, JSON.stringify({ older, newer })];
    }),
  ],
  "agent-server.cipher-suites": [
    started(
      "no other suite is agreed on",
      ["--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
      async (agent) => {
        const [made, other] = [await agent.handshake("TLSv1.2"), await agent.handshake("TLSv1.2", strongerSuites)];
        const isNamed = "suite" in made && /^TLS_ECDHE_(?:ECDSA|RSA)_WITH_AES_128_GCM_SHA256$/.test(made.suite);
        return [isNamed && "error" in other, JSON.stringify({ made, other })];
      },
    ),
    started("without the flag, others are agreed on", [], async (agent) => {
      const made = await agent.handshake("TLSv1.2", strongerSuites);
      return ["suite" in made, JSON.stringify(made)];
    }),
  ],
  "agent-server.insecure-suites": [
    started(
      "a suite that is called insecure can be named",
      ["--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
      async (agent) => [true, agent.output],
    ),
  ],
  "agent-server.anonymous": [
    started("nobody is refused by default", [], async (agent) => {
      const { status } = await agent.ask("serving", "/pods");
      return [status === 200, `status ${status}`];
    }),
    started("--anonymous-auth=false refuses whoever says nothing", ["--anonymous-auth=false"], async (agent) => {
      const { status } = await agent.ask("serving", "/pods");
      return [status === 401, `status ${status}`];
    }),
  ],
};
