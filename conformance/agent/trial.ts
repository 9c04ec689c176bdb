/** What is tried on a node agent, and what it comes to. */
import type { AgentOutcome, AgentPorts, AgentProcess } from "../client/agent-process.ts";

/** One thing that was tried. */
export interface Finding {
  readonly what: string;
  readonly is: "good" | "bad" | "unclear";
  /** Of what is bad: the command line, and what came of it. */
  readonly evidence?: string;
}

/** An agent under trial: started with flags beside those that keep it to itself. */
export interface Bench {
  readonly profile: "svc" | "kubernetes";
  /** A flag as this agent calls it. */
  readonly nameOf: (flag: string) => string;
  /** Runs `work` with the agent once it is there or has gone, and ends it. */
  with<Result>(
    flags: readonly string[] | ((folder: string, ports: AgentPorts) => readonly string[]),
    work: (agent: AgentProcess, outcome: AgentOutcome) => Promise<Result>,
    environment?: Readonly<Record<string, string>>,
  ): Promise<Result>;
}

export function judged(what: string, isGood: boolean, evidence: string): Finding {
  return isGood ? { what, is: "good" } : { what, is: "bad", evidence };
}
