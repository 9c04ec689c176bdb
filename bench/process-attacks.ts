/**
 * The third round of `bench/attacks.ts`: `touchstone runtime`, an agent's listeners, `serve` with all that it can be started
 * with, and every reader of files. Names are `process what shape`. The fourth round: frames, connections, bodies, patches,
 * lists and watches at their limits, each at a server of its own. The fifth: two of such things at once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { agentAttacks, AgentTarget } from "./processes/agent-attacks.ts";
import { fileAttackNames, fileAttacks } from "./processes/file-attacks.ts";
import type { ProcessAttack } from "./processes/process-attack.ts";
import { mixedGroup } from "./processes/mixed-attacks.ts";
import { protocolAttacks } from "./processes/protocol-attacks.ts";
import { requestGroups } from "./processes/request-attacks.ts";
import { serveGroups } from "./processes/serve-attacks.ts";
import { runtimeAttacks, RuntimeTarget } from "./processes/runtime-attacks.ts";
import { startedServer } from "./server-target.ts";
import { endedBefore, type Measured, Pulse, type Victim } from "./victim.ts";

interface Target {
  readonly victim: Victim;
  stop(): void;
}

interface Group {
  readonly names: readonly string[];
  readonly play: (names: readonly string[]) => AsyncGenerator<Measured | undefined>;
}

/** At one process, and at another when that has ended. */
function group<Of extends Target>(
  started: () => Promise<Of>,
  attacks: Readonly<Record<string, ProcessAttack<Of>>>,
): Group {
  return {
    names: Object.keys(attacks),
    async *play(names) {
      let target = await started();
      try {
        for (const name of names) {
          if (target.victim.isOver) {
            target.stop();
            target = await started();
          }
          yield await measured(name, attacks[name] as ProcessAttack<Of>, target);
        }
      } finally {
        target.stop();
      }
    },
  };
}

const groups: readonly Group[] = [
  group(() => RuntimeTarget.started(), runtimeAttacks),
  group(() => AgentTarget.started(), agentAttacks),
  ...serveGroups.map(({ started, attacks }) => group(started, attacks)),
  { names: fileAttackNames, play: fileAttacks },
];

export const processAttackNames = (): readonly string[] => groups.flatMap(({ names }) => names);

export async function* thirdRound(names: readonly string[]): AsyncGenerator<Measured | undefined> {
  for (const each of groups) {
    const own = names.filter((name) => each.names.includes(name));
    if (own.length > 0) yield* each.play(own);
  }
}

type ServeGroup = (typeof requestGroups)[number];

/** Each attack at a process of its own. */
function aloneRound(of: readonly ServeGroup[]) {
  const own = of.map(({ started, attacks }) => group(started, attacks));
  return {
    names: own.flatMap(({ names }) => names),
    async *play(asked: readonly string[]): AsyncGenerator<Measured | undefined> {
      for (const { names, play } of own) {
        for (const name of asked) if (names.includes(name)) yield* play([name]);
      }
    },
  };
}

export const fourthRound = aloneRound([{ started: () => startedServer(), attacks: protocolAttacks }, ...requestGroups]);
export const fifthRound = aloneRound([mixedGroup]);

async function measured<Of extends Target>(
  name: string,
  attack: ProcessAttack<Of>,
  target: Of,
): Promise<Measured | undefined> {
  const { victim } = target;
  if (victim.isOver) return endedBefore(name);
  const statuses: Record<string, number> = {};
  const pulse = await Pulse.begun(victim.address);
  victim.begin();
  const began = performance.now();
  const found = await attack(target, (status) => (statuses[status] = (statuses[status] ?? 0) + 1));
  const millis = performance.now() - began;
  if (found !== "none") await sleep(200);
  const silenceMillis = Math.round(await pulse.longestMillis());
  if (found === "none") return undefined;
  return {
    attack: name,
    turnMillis: Math.round((await victim.longestTurnMicros()) / 1_000),
    silenceMillis,
    peakMegabytes: Math.round(victim.peakBytes() / 1_048_576),
    millis: Math.round(millis),
    statuses,
    ended: victim.isOver,
  };
}
