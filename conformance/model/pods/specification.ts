/** The specification of a pod that does what its program says. Its containers are small scripts for any POSIX shell. */
import type { JsonObject } from "../../client/types.ts";
import { gateType } from "./phases.ts";
import { type ContainerProgram, type PodProgram, type ProbeKind, type ProbeProgram, words } from "./program.ts";

/** Any that has a shell. */
export const shellImage = "example.com/shell:1";

export function specificationOf(program: PodProgram, nodeName: string): JsonObject {
  const { policy, graceSeconds, deadlineSeconds, gate, inits, containers } = program;
  return {
    nodeName,
    restartPolicy: policy,
    terminationGracePeriodSeconds: graceSeconds,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    tolerations: [{ operator: "Exists" }],
    ...(deadlineSeconds === undefined ? {} : { activeDeadlineSeconds: deadlineSeconds }),
    ...(gate === undefined ? {} : { readinessGates: [{ conditionType: gateType }] }),
    ...(inits.length === 0 ? {} : { initContainers: inits.map(initOf) }),
    containers: containers.map(containerOf),
  };
}

function initOf({ isSidecar, ...program }: PodProgram["inits"][number]): JsonObject {
  return { ...containerOf(program), ...(isSidecar ? { restartPolicy: "Always" } : {}) };
}

function containerOf(program: ContainerProgram): JsonObject {
  const { name, preStopSeconds, hasPostStart, probes = {}, isGreedy } = program;
  const lifecycle = {
    ...(hasPostStart === true ? { postStart: shell(say(words.postStart)) } : {}),
    ...(preStopSeconds === undefined ? {} : { preStop: shell(`sleep ${preStopSeconds}; ${say(words.preStop)}`) }),
  };
  return {
    name,
    image: shellImage,
    imagePullPolicy: "IfNotPresent",
    command: ["sh", "-c", scriptOf(program)],
    ...(Object.keys(lifecycle).length === 0 ? {} : { lifecycle }),
    ...(isGreedy === true ? { resources: { limits: { memory: "24Mi" } } } : {}),
    ...Object.fromEntries(Object.entries(probes).map(([kind, probe]) => [`${kind}Probe`, probeOf(kind, probe)])),
  };
}

const shell = (script: string): JsonObject => ({ exec: { command: ["sh", "-c", script] } });
const say = (word: string): string => `printf '%s,' ${word} >> /dev/termination-log`;
const fileOf = (kind: string): string => `/tmp/${kind}-is-good`;

function probeOf(kind: string, probe: ProbeProgram): JsonObject {
  const { periodSeconds, initialDelaySeconds, successThreshold, failureThreshold, graceSeconds } = probe;
  return {
    exec: { command: ["cat", fileOf(kind)] },
    periodSeconds,
    initialDelaySeconds,
    successThreshold,
    failureThreshold,
    ...(graceSeconds === undefined ? {} : { terminationGracePeriodSeconds: graceSeconds }),
  };
}

/** A signal interrupts a wait for a child, and no other wait. */
const sleep = (seconds: number): string => `sleep ${seconds} & wait $!`;

function scriptOf({ runSeconds, exitCode, isGreedy, stop, probes = {} }: ContainerProgram): string {
  const farewell = stop === undefined ? "" : `sleep ${stop.seconds}; ${say(words.stop)}; exit ${stop.exitCode}`;
  const lines = [`trap '${farewell.replaceAll("'", `'\\''`)}' TERM`, say(words.main)];
  let atSeconds = 0;
  const turns = (Object.entries(probes) as [ProbeKind, ProbeProgram][]).flatMap(([kind, { goodFrom, goodUntil }]) => [
    { at: goodFrom, line: `echo > ${fileOf(kind)}` },
    ...(goodUntil === undefined ? [] : [{ at: goodUntil, line: `rm -f ${fileOf(kind)}` }]),
  ]);
  for (const { at, line } of turns.toSorted((left, right) => left.at - right.at)) {
    if (runSeconds !== undefined && at >= runSeconds) break;
    if (at > atSeconds) lines.push(sleep(at - atSeconds));
    atSeconds = at;
    lines.push(line);
  }
  if (runSeconds === undefined) lines.push(`while true; do ${sleep(600)}; done`);
  else {
    if (runSeconds > atSeconds) lines.push(sleep(runSeconds - atSeconds));
    lines.push(isGreedy === true ? "exec tail /dev/zero" : `exit ${exitCode}`);
  }
  return lines.join("\n");
}
