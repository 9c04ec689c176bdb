/** What a pod of the suite is told to do, and from which its life can be told beforehand. Times are whole seconds. */

export type RestartPolicy = "Always" | "OnFailure" | "Never";

export interface PodProgram {
  readonly name: string;
  readonly policy: RestartPolicy;
  readonly graceSeconds: number;
  readonly deadlineSeconds?: number;
  /** Of a condition that somebody else has to set; undefined: there is no gate. `atSeconds` undefined: nobody does. */
  readonly gate?: { readonly atSeconds: number | undefined };
  /** Run one after the other, each to its good end, but for sidecars. */
  readonly inits: readonly (ContainerProgram & { readonly isSidecar: boolean })[];
  readonly containers: readonly ContainerProgram[];
  /** When it is deleted, and with which grace period; undefined: its own. */
  readonly deletion?: { readonly atSeconds: number; readonly graceSeconds: number | undefined };
}

export interface ContainerProgram {
  readonly name: string;
  /** It ends by itself after so long; undefined: it goes on. */
  readonly runSeconds: number | undefined;
  readonly exitCode: number;
  /** It takes all memory that it is allowed when it would end. */
  readonly isGreedy?: boolean;
  /** What it does when it is told to stop; undefined: it takes no notice. */
  readonly stop: { readonly seconds: number; readonly exitCode: number } | undefined;
  /** How long its hook takes. */
  readonly preStopSeconds?: number;
  readonly hasPostStart?: boolean;
  readonly probes?: Readonly<Partial<Record<ProbeKind, ProbeProgram>>>;
}

export type ProbeKind = "startup" | "readiness" | "liveness";

export interface ProbeProgram {
  readonly periodSeconds: number;
  readonly initialDelaySeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
  /** Of the container that is stopped for it; undefined: the pod's. */
  readonly graceSeconds?: number;
  /** Seconds of the container's age between which the probe finds what it looks for; undefined: to the end. */
  readonly goodFrom: number;
  readonly goodUntil: number | undefined;
}

/** Which words a container leaves behind, by who writes them. */
export const words = { main: "began", postStart: "after-start", preStop: "before-stop", stop: "told-to-stop" } as const;

/** Who starts again: sidecars always, init containers until they have ended well. */
export function startsAgain(pod: PodProgram, name: string, exitCode: number): boolean {
  const init = pod.inits.find((each) => each.name === name);
  if (init?.isSidecar === true) return true;
  if (pod.policy === "Never") return false;
  return exitCode !== 0 || (pod.policy === "Always" && init === undefined);
}

export function containerIn(pod: PodProgram, name: string): ContainerProgram | undefined {
  return [...pod.inits, ...pod.containers].find((each) => each.name === name);
}

/** It may be stopped for what its probes find. */
export const isMinded = (container: ContainerProgram | undefined): boolean =>
  container?.probes?.liveness !== undefined || container?.probes?.startup !== undefined;

export const isSidecarOf = (pod: PodProgram, name: string): boolean =>
  pod.inits.some((each) => each.name === name && each.isSidecar);
