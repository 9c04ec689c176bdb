import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dialects } from "../../../wire/dialect.ts";
import { agentRules } from "./agent-rules.ts";
import { type AgentCommand, type AgentFiles, readAgentCommand } from "./command-line.ts";
import { sampleOf } from "./flag-samples.fixture.ts";
import { flagTable } from "./flag-table.ts";
import type { StartedAgentBugName } from "../../planted/started-agent-bugs.ts";
import { agentReadingWith } from "./planted/flag-bugs.ts";
import { observedAnswers } from "./observed-answers.fixture.ts";
import { type AgentSettings, standardOf } from "./settings.ts";

type Name = "svc" | "kubernetes";

const noSuchFile = "no such file or directory";

function filesOf(texts: Readonly<Record<string, string>> = {}, variable = true): AgentFiles {
  return {
    read: (path) => (texts[path] === undefined ? { error: noSuchFile } : { text: texts[path] }),
    list: (path) => ({
      paths: Object.keys(texts)
        .filter((each) => each.startsWith(`${path}/`))
        .toSorted(),
    }),
    environment: variable ? { NODEAGENT_CONFIG_DROPIN_DIR_ALPHA: "1" } : {},
  };
}

const read = (
  args: readonly string[],
  name: Name = "svc",
  texts: Readonly<Record<string, string>> = {},
): AgentCommand => readAgentCommand(args, dialects[name], filesOf(texts));

function settingsOf(
  args: readonly string[],
  name: Name = "svc",
  texts: Readonly<Record<string, string>> = {},
): AgentSettings {
  const command = read(args, name, texts);
  if (command.is !== "settings") throw new Error(JSON.stringify(command));
  return command.settings;
}

function problemsOf(args: readonly string[], name: Name = "svc", texts: Readonly<Record<string, string>> = {}): string {
  const command = read(args, name, texts);
  return command.is === "refused" ? command.problems.join("\n") : "";
}

describe.each(["svc", "kubernetes"] as const)("every flag, %s", (name) => {
  const rules = agentRules[name];
  const rows = flagTable.filter((row) => !rules.missingFlags.has(row.name));
  const texts = { file: fileText(name, {}) };

  it("has the default of its table", () => {
    const settings = settingsOf([], name);
    for (const row of flagTable) {
      if (row.type === "help" || row.name === "feature-gates" || row.name === "seccomp-default") continue;
      expect([row.name, settings.of(row.name)]).toEqual([row.name, standardOf(row, rules)]);
    }
  });

  it.each(rows.filter(({ type }) => type !== "help"))("--$name takes a good value", (row) => {
    const [good] = sampleOf(row);
    const command = read([`--${row.name}=${good}`], name, texts);
    expect(command).toMatchObject({ is: "settings" });
    const [deprecated] = "warnings" in command ? command.warnings : [];
    expect(deprecated?.startsWith(`Flag --${row.name} has been deprecated, `) ?? false).toBe(
      row.deprecated !== undefined,
    );
  });

  it.each(rows)("--$name refuses a bad one, and is named", (row) => {
    const [, bad] = sampleOf(row);
    // Where any text will do, there has to be one.
    const line = bad === undefined ? `--${row.name}` : `--${row.name}=${bad}`;
    const problems = problemsOf([line], name, texts);
    const names = [`--${row.name}`, row.field ?? row.name, "--eviction flags", "config file"];
    expect(names.some((each) => problems.includes(each))).toBe(true);
  });
});

describe("answers of a live agent", () => {
  /** Refused there by another name, or for what this agent does not have. */
  const outcome = (args: readonly string[]) => {
    const command = read(args, "kubernetes");
    const isRefused = command.is === "refused" && command.by !== "start";
    return { isRefused, text: command.is === "refused" ? command.problems.join("\n") : "" };
  };

  it("are ours, for at least 97 of 100 command lines, and name the same flag", () => {
    const different = observedAnswers.filter(([args, refusedFor]) => {
      const { isRefused, text } = outcome(args);
      if (isRefused !== (refusedFor !== undefined)) return true;
      return refusedFor !== undefined && !text.includes(refusedFor);
    });
    expect(different.map(([args]) => args.join(" "))).toEqual([]);
    expect(observedAnswers.length).toBeGreaterThan(80);
  });
});

/** Of the published sources: how values are read at their edges, and which do not go together. */
const edges: readonly (readonly [line: string, refused?: string])[] = [
  ["--max-pods=0x10"],
  ["--max-pods=1_000"],
  ["--max-pods=1__0", "invalid syntax"],
  ["--max-pods= 5", "invalid syntax"],
  ["--max-pods=2147483648", "value out of range"],
  ["--max-open-files=2147483648"],
  ["--fail-swap-on=T"],
  ["--fail-swap-on=tRUE", "strconv.ParseBool"],
  ["--fail-swap-on=", "strconv.ParseBool"],
  ["--sync-frequency=1h1h"],
  ["--sync-frequency=.5s"],
  ["--sync-frequency=1d", "unknown unit"],
  ["--sync-frequency=5", "missing unit"],
  ["--sync-frequency=9999999h", "invalid duration"],
  ["--address=010.0.0.1"],
  ["--address="],
  ["--address=1.2.3", "not a valid IP address"],
  ["--address=fe80::1%eth0", "not a valid IP address"],
  ['--cluster-dns="a,b",c'],
  ['--cluster-dns="a', "extraneous or missing"],
  ['--cluster-dns="a"b', "column 3: extraneous or missing"],
  ['--cluster-dns=a"b', "column 2: bare"],
  ["-v=-1", "-v, --v"],
  ["-v=2147483648", "value out of range"],
  ["--vmodule=a=1,"],
  ["--vmodule=a=-1", "--vmodule"],
  ["--register-with-taints=a-"],
  ["--register-with-taints=a:NoSchedule,", "--register-with-taints"],
  ["--register-with-taints=a=b:NoSchedule,a=c:NoSchedule", "duplicated taints"],
  ["--register-with-taints=a=b:NoSchedule,a=c:NoExecute"],
  ["--reserved-memory="],
  ["--reserved-memory=0:memory=1Gi;", "--reserved-memory"],
  ["--reserved-memory=0:memory=0", "may not be zero for NUMA node 0"],
  ["--reserved-memory=0:memory=1Gi --reserved-memory=1:memory=1Gi"],
  ["--reserved-memory=0:memory=1Gi --reserved-memory=0:memory=1Gi", "duplicate value for NUMA node 0"],
  ["--reserved-memory=0:memory=-1", "--reserved-memory"],
  ["--reserved-memory=-1:memory=1Gi", "--reserved-memory"],
  ["--reserved-cpus=0-3,7"],
  ["--reserved-cpus=0,,1", "reservedSystemCPUs"],
  ["--reserved-cpus=0-3 --svc-reserved-cgroup=/a", "can't use reservedSystemCPUs"],
  ["--node-ip=10.0.0.1,fd00::1"],
  ["--node-ip=abc,10.0.0.1"],
  ["--node-ip=10.0.0.1,10.0.0.2", "single IP or a dual-stack pair"],
  ["--node-ip=10.0.0.1,::", "cannot include"],
  ["--config="],
  ["--eviction-hard=memory.available<100%"],
  ["--eviction-hard=memory.available<101%", "must be <= 100%"],
  [
    "--eviction-soft=memory.available<1Gi --eviction-soft-grace-period=memory.available=-1s",
    "must be a positive value",
  ],
  ["--enforce-node-allocatable=none,pods", "may not contain additional enforcements"],
  ["--cpu-cfs-quota-period=999us --feature-gates=CustomCPUCFSQuotaPeriod=true", "between 1ms and 1sec"],
  ["--cpu-cfs-quota-period=1ms --feature-gates=CustomCPUCFSQuotaPeriod=true"],
  ["--port --max-pods=1", 'parsing "--max-pods=1"'],
];

describe("values at the edges of their grammar", () => {
  it.each(edges.map(([line, refused]) => ({ line, refused })))("$line", ({ line, refused }) => {
    const args = line.split(/ (?=--)/);
    const problems = problemsOf(args, "kubernetes");
    if (refused === undefined) expect(problems).toBe("");
    else expect(problems).toContain(refused);
  });

  it("leave an address as it was where there is none", () => {
    expect(settingsOf(["--address="]).text("address")).toBe("0.0.0.0");
    expect(settingsOf(["--address=010.0.0.01"]).text("address")).toBe("10.0.0.1");
    expect(settingsOf(['--cluster-dns=a,,"b""c",']).texts("cluster-dns")).toEqual(["a", "", 'b"c', ""]);
  });
});

describe("the command line's grammar", () => {
  it("takes values after an equals sign or a space, booleans alone, and underscores for hyphens", () => {
    const settings = settingsOf(["--max-pods=7", "--port", "9", "--fail_swap_on=false", "--runonce=f", "-v4"]);
    expect(settings.number("max-pods")).toBe(7);
    expect(settings.number("port")).toBe(9);
    expect(settings.flag("fail-swap-on")).toBe(false);
    expect(settings.number("v")).toBe(4);
    expect(settingsOf(["--register-node"]).flag("register-node")).toBe(true);
  });

  it("collects lists and maps of flags that come again, in place of the default", () => {
    const settings = settingsOf([
      "--cluster-dns=10.0.0.1,10.0.0.2",
      "--cluster-dns=10.0.0.3",
      "--eviction-hard=memory.available<1Gi,,",
      "--eviction-hard= memory.available < 2Gi ,pid.available<5",
      "--manifest-url-header=a:b:c,d:e",
      "--manifest-url-header=a:f",
    ]);
    expect(settings.texts("cluster-dns")).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    expect(settings.map("eviction-hard")).toEqual({ "memory.available": "2Gi", "pid.available": "5" });
    expect(settings.headers()).toEqual([
      ["a", "b:c"],
      ["d", "e"],
      ["a", "f"],
    ]);
    expect(settingsOf(["--eviction-hard="]).map("eviction-hard")).toEqual({});
  });

  it.each([
    [["--port"], "flag needs an argument: --port"],
    [["--port=x"], 'invalid argument "x" for "--port" flag: strconv.ParseInt: parsing "x": invalid syntax'],
    [["--=x"], "bad flag syntax: --=x"],
    [["-x"], "unknown shorthand flag: 'x' in -x"],
    [["-v=x"], 'invalid argument "x" for "-v, --v" flag'],
    [["--unknown"], "unknown flag: --unknown"],
    [["pod"], "unknown command pod"],
    [["--", "--port=1"], "unknown command --port=1"],
  ])("%j is refused", (args, text) => {
    expect(problemsOf(args)).toContain(text);
  });

  it("says help and version before it looks at anything else", () => {
    expect(read(["-h", "--port=0"])).toEqual({ is: "help" });
    expect(read(["--version"])).toEqual({ is: "version", text: "NodeAgent v1.33.3" });
    expect(read(["--version=true"], "kubernetes")).toEqual({ is: "version", text: "Kubernetes v1.33.3" });
    expect(problemsOf(["--version=v9.9.9"])).toContain('must match major/minor/patch of default version "v1.33.3"');
    expect(settingsOf(["--version=v1.33.3-mine"]).text("version")).toBe("v1.33.3-mine");
  });

  it("never throws, whatever it is given", () => {
    const name = fc.constantFrom(...flagTable.map((row) => row.name));
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom("", ",", "=", ":", "a=b", "1,2", '"', "-", "0x", "9".repeat(40)),
    );
    const arg = fc.oneof(
      fc.tuple(name, value).map(([flag, text]) => `--${flag}=${text}`),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(arg, { maxLength: 4 }), (args) => {
        expect(["help", "version", "settings", "refused"]).toContain(read(args, "kubernetes").is);
      }),
      { numRuns: 2000, seed: 1 },
    );
  });
});

describe("errors", () => {
  it("come all at once", () => {
    const problems = problemsOf(["--max-pods=-1", "--port=0", "--hairpin-mode=x", "--image-gc-low-threshold=99"]);
    for (const flag of ["--max-pods", "--port", "--hairpin-mode", "--image-gc-low-threshold"]) {
      expect(problems).toContain(flag);
    }
    const early = problemsOf([
      "--feature-gates=Foo=true",
      "--node-labels=-a=b",
      "--max-pods=-1",
      "--sync-frequency=0s",
    ]);
    for (const part of ["feature gate: Foo", "node labels", "--max-pods", "--sync-frequency"]) {
      expect(early).toContain(part);
    }
    const atStart = problemsOf(["--sync-frequency=0s", "--cloud-provider=aws", "--eviction-hard=memory<1Gi"]);
    for (const flag of ["--sync-frequency", "--cloud-provider", "unsupported eviction signal memory"]) {
      expect(atStart).toContain(flag);
    }
  });

  it("tell what a flag's value leads to when that is nothing", () => {
    const command = read(["--make-iptables-util-chains"]);
    expect("warnings" in command && command.warnings.at(-1)).toContain(
      "--make-iptables-util-chains is checked and kept",
    );
    const kept = (fields: Readonly<Record<string, unknown>>) => {
      const said = read(["--config=file"], "svc", { file: fileText("svc", fields) });
      return "warnings" in said ? said.warnings.filter((text) => text.includes("checked and kept")) : undefined;
    };
    expect(kept({ memorySwap: { swapBehavior: "NoSwap" }, maxPods: 7 })).toEqual([
      expect.stringContaining("Field memorySwap.swapBehavior is checked and kept"),
    ]);
    expect(kept({ maxPods: 7, podLogsDir: "/logs" })).toEqual([]);
  });
});

function fileText(name: Name, fields: Readonly<Record<string, unknown>>): string {
  const header =
    name === "svc"
      ? { apiVersion: "nodeagent.config.svc.io/v1beta1", kind: "NodeAgentConfiguration" }
      : { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
  // Standing alone, there is nobody to ask about callers.
  const alone = { authentication: { webhook: { enabled: false } }, authorization: { mode: "AlwaysAllow" } };
  return JSON.stringify({ ...header, ...alone, ...fields });
}

describe("files", () => {
  const withFile = (
    name: Name,
    fields: Record<string, unknown>,
    args: readonly string[] = [],
    more: Record<string, string> = {},
  ) => settingsOf(["--config=file", ...args], name, { file: fileText(name, fields), ...more });

  it("are below flags, and above defaults; gates are merged", () => {
    const fields = { maxPods: 5, port: 7, featureGates: { NodeSwap: false, MemoryQoS: true }, seccompDefault: true };
    const settings = withFile("svc", fields, ["--max-pods=6", "--feature-gates=NodeSwap=true"]);
    expect(settings.number("max-pods")).toBe(6);
    expect(settings.number("port")).toBe(7);
    expect(settings.gates()).toEqual({ NodeSwap: true, MemoryQoS: true });
    expect(settings.flag("seccomp-default")).toBe(true);
    expect(settings.number("pods-per-core")).toBe(0);
  });

  it("have defaults of their own in the observed agent", () => {
    const bare = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
    const settings = settingsOf(["--config=file", "--svcconfig=a"], "kubernetes", { file: JSON.stringify(bare) });
    expect(settings.flag("anonymous-auth")).toBe(false);
    expect(settings.flag("authentication-token-webhook")).toBe(true);
    expect(settings.text("authorization-mode")).toBe("Webhook");
    expect(settings.number("read-only-port")).toBe(0);
    expect(settings.map("eviction-hard")).toMatchObject({ "imagefs.inodesFree": "5%" });
    expect(problemsOf(["--config=file"], "kubernetes", { file: JSON.stringify(bare) })).toContain("no client provided");
    expect(settingsOf([], "kubernetes").map("eviction-hard")).toEqual({});
    expect(withFile("svc", {}).flag("anonymous-auth")).toBe(true);
    expect(withFile("svc", {}).map("eviction-hard")).toEqual(settingsOf([]).map("eviction-hard"));
  });

  it("replace all default thresholds with any of their own, or fill up what they leave out", () => {
    const evictionHard = { "memory.available": "1Gi" };
    expect(withFile("kubernetes", { evictionHard }).map("eviction-hard")).toEqual(evictionHard);
    const merged = withFile("kubernetes", { evictionHard, mergeDefaultEvictionSettings: true }).map("eviction-hard");
    expect(merged).toMatchObject({ "memory.available": "1Gi", "nodefs.available": "10%" });
    expect(withFile("kubernetes", { evictionHard }, ["--eviction-hard=pid.available<9"]).map("eviction-hard")).toEqual({
      "pid.available": "9",
    });
  });

  it("of a directory are laid over it by name; null takes away, lists are replaced, maps are merged", () => {
    const header = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
    const settings = withFile(
      "kubernetes",
      { maxPods: 5, clusterDNS: ["10.0.0.1"], podsPerCore: 3 },
      ["--config-dir=d"],
      {
        "d/10.conf": JSON.stringify({ ...header, maxPods: 6, clusterDNS: ["10.0.0.2"] }),
        "d/20.conf": JSON.stringify({ ...header, podsPerCore: null, evictionHard: { "memory.available": "2Gi" } }),
        "d/30.yaml": "not read",
      },
    );
    expect(settings.number("max-pods")).toBe(6);
    expect(settings.texts("cluster-dns")).toEqual(["10.0.0.2"]);
    expect(settings.number("pods-per-core")).toBe(0);
    expect(settings.map("eviction-hard")).toMatchObject({ "memory.available": "2Gi", "nodefs.available": "10%" });
    const alone = settingsOf(["--config-dir=d"], "kubernetes", {
      "d/1.conf": JSON.stringify({ ...header, maxPods: 9 }),
    });
    expect(alone.number("max-pods")).toBe(9);
    expect(alone.map("eviction-hard")).toEqual({});
  });

  it.each<
    [StartedAgentBugName, string, Record<string, unknown>, Record<string, string>, (settings: AgentSettings) => unknown]
  >([
    [
      "agent-drop-ins-below-file",
      "--config-dir=d",
      { maxPods: 5 },
      { "d/1.conf": fileText("svc", { maxPods: 6 }) },
      (it) => it.number("max-pods"),
    ],
    [
      "agent-gates-replaced",
      "--feature-gates=NodeSwap=true",
      { featureGates: { MemoryQoS: true } },
      {},
      (it) => it.gates(),
    ],
  ])("with the planted bug %s come to something else", (name, flag, fields, more, shown) => {
    const files = filesOf({ file: fileText("svc", fields), ...more });
    const [good, bad] = [{}, { [name]: true }].map((bugs) => {
      const command = readAgentCommand(["--config=file", flag], dialects.svc, files, agentReadingWith(bugs));
      return command.is === "settings" ? shown(command.settings) : command;
    });
    expect(bad).not.toEqual(good);
  });

  it("cannot say that some numbers are zero, in the observed agent", () => {
    expect(withFile("kubernetes", { maxPods: 0, syncFrequency: "0s", registryPullQPS: 0 }).number("max-pods")).toBe(
      110,
    );
    expect(withFile("kubernetes", { registryPullQPS: 0 }).number("registry-qps")).toBe(0);
    expect(withFile("svc", { maxPods: 0 }).number("max-pods")).toBe(0);
  });

  it("let heartbeats follow the period of the status where only that is said", () => {
    expect(withFile("svc", {}).number("nodeStatusReportFrequency")).toBe(300_000_000);
    expect(withFile("svc", { nodeStatusUpdateFrequency: "20s" }).number("nodeStatusReportFrequency")).toBe(20_000_000);
  });

  it.each<[what: string, text: string, problem: string]>([
    ["is empty", "", "was empty"],
    ["has no kind", "maxPods: 1", "no apiVersion/kind"],
    ["is of another kind", '{"apiVersion":"v1","kind":"Pod"}', "must be NodeAgentConfiguration"],
    ["is no document", "a: [", "file"],
    ["has a wrong type", fileText("svc", { maxPods: "many" }), "maxPods: must be an integer"],
    ["has a wrong duration", fileText("svc", { syncFrequency: "1" }), "syncFrequency: time: missing unit"],
    ["has a value that is refused", fileText("svc", { port: 70_000 }), "port (--port) 70000 must be between"],
  ])("that %s is refused", (_, text, problem) => {
    expect(problemsOf(["--config=file"], "svc", { file: text })).toContain(problem);
  });

  it("that cannot be read are named", () => {
    expect(problemsOf(["--config=none"])).toContain("open none: no such file or directory");
    const command = readAgentCommand(["--config-dir=d"], dialects.svc, filesOf({}, false));
    expect(command).toMatchObject({
      is: "refused",
      problems: [expect.stringContaining("NODEAGENT_CONFIG_DROPIN_DIR_ALPHA")],
    });
  });

  it("with a serving certificate and no key leave the pair to the agent, where the documents say so", () => {
    expect(problemsOf(["--tls-cert-file=a"])).toBe("");
    expect(problemsOf(["--tls-cert-file=a"], "kubernetes")).toContain("need each other");
    expect(problemsOf(["--tls-private-key-file=a"])).toContain("need each other");
  });

  it("take a log of JSON unless its gate is off", () => {
    const json = "--logging-format=json";
    expect(problemsOf([json])).toBe("");
    expect(problemsOf([json, "--feature-gates=LoggingBetaOptions=false"])).toContain(
      "Log format json is disabled, see LoggingBetaOptions feature",
    );
  });

  it("are of the directory that the environment names, where no flag does", () => {
    const files = filesOf({
      "/d/1.conf": fileText("svc", { maxPods: 6 }),
      "e/1.conf": fileText("svc", { maxPods: 7 }),
    });
    const podsMax = (args: readonly string[], variable: string, dialect: "svc" | "kubernetes" = "svc"): unknown => {
      const environment = { NODEAGENT_CONFIG_DROPIN_DIR_ALPHA: variable };
      const command = readAgentCommand(args, dialects[dialect], { ...files, environment });
      return command.is === "settings" ? command.settings.number("max-pods") : command;
    };
    expect(podsMax([], "/d")).toBe(6);
    expect(podsMax(["--config-dir=e"], "/d")).toBe(7);
    expect(podsMax([], "1")).toBe(110);
    expect(podsMax([], "/d", "kubernetes")).toBe(110);
  });

  it("say of addresses of pods that are no block that nothing follows from them, as the published agent goes on", () => {
    const said = (value: string): readonly string[] => {
      const command = read([`--pod-cidr=${value}`]);
      return command.is === "settings" ? command.warnings.filter((each) => each.startsWith("--pod-cidr")) : ["refused"];
    };
    expect(said("abc,10.88.0.0/16,10.89.0.0/33")).toEqual([
      '--pod-cidr: "abc" is no block of addresses such as 10.88.0.0/16: no pod has an address of it.',
      '--pod-cidr: "10.89.0.0/33" is no block of addresses such as 10.88.0.0/16: no pod has an address of it.',
    ]);
    expect([...said(""), ...said("fd00::/64, 10.88.0.0/16")]).toEqual([]);
  });

  it("with fields that nobody knows are read all the same, and it is said", () => {
    const command = read(["--config=file"], "svc", {
      file: fileText("svc", { maxPods: 4, maxPod: 3, logging: { shape: 1 } }),
    });
    expect(command).toMatchObject({
      is: "settings",
      warnings: [
        'unknown field "maxPod": it is left out; did you mean maxPods?',
        'unknown field "logging.shape": it is left out',
      ],
    });
  });
});
