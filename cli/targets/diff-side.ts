/** One side of a comparison, from its address and its flags: a simulated server, or one at a URL. */
import { randomBytes } from "node:crypto";
import type { InferValue } from "@optique/core/parser";
import type { object } from "@optique/core/constructs";
import { wallClock } from "../../conformance/client/wall-clock.ts";
import { type Outcome, type Side, sideOf } from "../../conformance/diff/side.ts";
import type { Program } from "../../conformance/diff/step.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { dialects } from "../../wire/dialect.ts";
import { gatesWith } from "../commands/fault-gates.ts";
import type { sideFlags } from "../flags/connection-flags.ts";
import { type SideAddress, sideText } from "../flags/flag-values.ts";
import { type Connection, connectionFlagOf, transportTo } from "./suite-target.ts";
import { UsageError } from "../flags/usage-error.ts";

export type SideFlags = InferValue<ReturnType<typeof object<ReturnType<typeof sideFlags>>>>;

export interface DiffSide {
  readonly side: Side;
  /** As on the command line. */
  readonly address: string;
  /** What makes an embedded server the same again. */
  readonly flags: readonly string[];
  /** For a person: the address with what was planted. */
  readonly text: string;
  close(): Promise<void>;
}

/** Throws `UsageError`, which names the side's flags as they are typed. */
export function openSide(
  letter: "a" | "b",
  address: SideAddress,
  flags: SideFlags,
  seed: number,
  signal: AbortSignal,
): DiffSide {
  const shown = { address: sideText(address), flags: embeddedFlags(letter, flags) };
  const text = [shown.address, ...shown.flags].join(" ");
  try {
    if (address.kind === "embedded") {
      refuseConnection(flags);
      return {
        ...shown,
        text,
        side: embeddedSide(letter, address.profile, flags, seed, signal),
        close: async () => {},
      };
    }
    const [flag] = shown.flags;
    if (flag !== undefined) {
      throw new UsageError(`${flag} changes the embedded server, and ${shown.address} is another one: leave it out.`);
    }
    const connection = { ...flags, svcconfig: address.kind === "svcconfig" ? address.file : undefined };
    const { transport } = transportTo(address.kind === "url" ? address.url : undefined, connection);
    const side = sideOf({
      transport,
      clock: wallClock,
      dialect: undefined,
      runId: `diff-${letter}-${randomBytes(4).toString("hex")}`,
      embedded: false,
      signal,
    });
    return { ...shown, text, side, close: () => transport.close() };
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(withPrefix(error.message, letter)) : error;
  }
}

/** The connection's own errors name flags as the other commands spell them. */
const withPrefix = (problem: string, letter: "a" | "b"): string =>
  problem.replaceAll(/--(?![ab]-)(?!svcconfig)/g, `--${letter}-`).replaceAll("--svcconfig ", "svcconfig:");

function refuseConnection(flags: Connection): void {
  const flag = connectionFlagOf(flags);
  if (flag !== undefined)
    throw new UsageError(`${flag} says how to reach a server, and this side is embedded: leave it out.`);
}

function embeddedFlags(letter: "a" | "b", { faults, featureGates = {} }: SideFlags): string[] {
  const gates = Object.entries(featureGates).map(([name, on]) => `${name}=${on}`);
  return [
    ...faults.map((name) => `--${letter}-fault ${name}`),
    ...(gates.length === 0 ? [] : [`--${letter}-feature-gates ${gates.join(",")}`]),
  ];
}

/** A fresh server for each batch of programs: what they meet follows from the seed and from the batch alone. */
function embeddedSide(
  letter: "a" | "b",
  profile: "svc" | "kubernetes",
  { faults, featureGates = {} }: SideFlags,
  seed: number,
  signal: AbortSignal,
): Side {
  const server = {
    seed: `${seed}/diff/${letter}`,
    profile: profiles[profile],
    bugs: faults,
    featureGates: gatesWith(faults, featureGates),
    // The run itself may do everything; whom it impersonates may do what it grants.
    authorizationModes: ["RBAC"] as const,
  };
  return {
    async playAll(programs: readonly Program[]): Promise<readonly Outcome[]> {
      const { withEmbeddedServer } = await import("../../sim/http/embedded-server.ts");
      return withEmbeddedServer(server, (ports) =>
        sideOf({
          ...ports,
          dialect: dialects[profile],
          runId: `diff-${letter}-${seed}`,
          embedded: true,
          signal,
        }).playAll(programs),
      );
    },
    leave: async () => [],
  };
}
