/** One share of a run against an embedded server of its own: what a thread does, and what goes in and out of it. */
import { allChecks } from "../../conformance/checks/index.ts";
import {
  planSuite,
  runPart,
  type SuiteOptions,
  type SuitePart,
  type SuiteProgress,
  type SuiteSelection,
} from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";
import { seededSigner } from "../../conformance/client/signing-keys.ts";
import type { EmbeddedDetails } from "./embedded.ts";
import { needsFiles, settingsOf, suiteDocuments } from "./embedded-files.ts";

export type OnHistory = NonNullable<SuiteOptions["onHistory"]>;

/** Plain data. */
export interface EmbeddedTask {
  readonly details: EmbeddedDetails;
  readonly selection: Omit<SuiteSelection, "only" | "skip">;
  /** Id of the one check that is run. */
  readonly check: string;
}

export interface EmbeddedPart {
  readonly part: SuitePart;
  /** Measured, in real time, the server's start included. */
  readonly measuredMillis: number;
}

/** Concurrent requests of the suite overtake each other by up to this much, so that writers meet. */
const latencyMicros = { min: 50, max: 2000 };

/**
 * A fresh server for one check, its draws made of the seed and the check's name: nothing that ran before it, or runs
 * beside it, changes what it meets, so its failure is made again by running it alone.
 */
export async function runEmbeddedPart(
  { details, selection, check }: EmbeddedTask,
  signal: AbortSignal,
  onProgress: (progress: SuiteProgress) => void,
  onHistory?: OnHistory,
): Promise<EmbeddedPart> {
  const began = performance.now();
  const server = {
    seed: `${details.seed}/${check}`,
    profile: profiles[selection.profile],
    bugs: details.faults,
    bugRarity: details.rarity,
    featureGates: details.featureGates,
    latencyMicros,
    // The suite itself may do everything; the users that it makes may do what it grants them.
    authorizationModes: ["RBAC"] as const,
  };
  const planned = planSuite({ ...selection, only: [check], targetKind: "embedded" });
  const checks = allChecks.filter(({ id }) => id === check);
  // Where agents are judged there has to be one that the suite did not bring.
  const hasAgent = checks.some(({ area }) => area === "eviction-thresholds");
  const isOfFiles = checks.some(needsFiles);
  const files = isOfFiles ? { files: settingsOf(server.profile, suiteDocuments(server.profile)) } : {};
  const part = await withEmbeddedServer({ ...server, hasAgent, ...files }, ({ issuer, authorizer, ...ports }) => {
    // Keys take longer to make than a server takes to start.
    const signerOf = (name: string) => seededSigner(name, server.seed);
    const hostsOf = () => {
      const [signer, stranger, successor] = [signerOf("suite"), signerOf("stranger"), signerOf("successor")];
      return { issuer: { host: issuer, signer, stranger, successor }, authorizer };
    };
    return runPart(
      {
        ...selection,
        ...ports,
        ...(isOfFiles ? { hosts: hostsOf() } : {}),
        targetKind: "embedded",
        targetDetails: details,
        signal,
        onProgress,
        onHistory,
      },
      planned,
      checks,
    );
  });
  return { part, measuredMillis: performance.now() - began };
}
