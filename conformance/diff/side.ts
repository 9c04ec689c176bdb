/** One of the two servers of a comparison, reached through the suite's ports. */
import { append } from "../../wire/lists.ts";
import { type Dialect, dialects, kubernetesDialect } from "../../wire/dialect.ts";
import type { SuiteClock, Transport } from "../../wire/ports.ts";
import { Client, LostAnswer } from "../client/client.ts";
import { Recorder } from "../client/recorder.ts";
import { objectsIn } from "../client/types.ts";
import { Cancelled } from "../client/findings.ts";
import { awaitNamespacesGone, nameSource } from "../runner/run-part.ts";
import { type Leaving, Sandbox } from "../runner/sandbox.ts";
import { type Played, play } from "./play.ts";
import type { Program } from "./step.ts";

/** What became of a program on one server: each step with its answer, or why nothing can be said. */
export type Outcome = readonly Played[] | { readonly undecided: string };

export interface Side {
  /** Each program in a namespace of its own, in order. Never rejects. */
  playAll(programs: readonly Program[]): Promise<readonly Outcome[]>;
  /** Waits until all that was made is gone. Answers with the paths of what is not. */
  leave(): Promise<readonly string[]>;
}

export interface SideOptions {
  readonly transport: Transport;
  readonly clock: SuiteClock;
  /** Undefined: by what the server's groups are called. */
  readonly dialect: Dialect | undefined;
  /** Told into every namespace's name and label. */
  readonly runId: string;
  readonly embedded: boolean;
  readonly signal: AbortSignal;
}

export function sideOf({ transport, clock, runId, embedded, signal, ...options }: SideOptions): Side {
  const names = nameSource(runId);
  const leaving: Leaving[] = [];
  let { dialect } = options;
  const clientFor = (stop?: AbortSignal): Client =>
    new Client(transport, clock, new Recorder(clock), `touchstone/1 (run ${runId}; diff)`, stop);
  const playOne = async (program: Program): Promise<Outcome> => {
    if (signal.aborted) return { undecided: "stopped by a person" };
    const client = clientFor(signal);
    const sandbox = new Sandbox(client, names);
    try {
      dialect ??= await dialectOf(client);
      return await play(client, sandbox, dialect, program);
    } catch (error) {
      return { undecided: whyOf(error) };
    } finally {
      client.closeWatches();
      append(leaving, await sandbox.cleanUp(clientFor()));
    }
  };
  return {
    async playAll(programs) {
      const outcomes: Outcome[] = [];
      for (const program of programs) outcomes.push(await playOne(program));
      return outcomes;
    },
    leave: () => awaitNamespacesGone({ transport, clock, names, leaving, embedded }),
  };
}

/** A server that is no cluster API at all is found out by the first program. */
async function dialectOf(client: Client): Promise<Dialect> {
  const groups = objectsIn((await client.request("GET", "/apis")).json, "groups").map(({ name }) => String(name));
  const suffix = `.${kubernetesDialect.groupSuffix}`;
  return groups.some((name) => name.endsWith(suffix)) ? dialects.kubernetes : dialects.svc;
}

/** Whatever kept a program from being played blames nobody. */
function whyOf(error: unknown): string {
  if (error instanceof Cancelled || error instanceof LostAnswer) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
