/** What an agent's listeners see of it. They read, and start streams; they change nothing. */
import type { Dialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import type { HeldPod } from "../pods/held-pod.ts";
import type { ApiCaller } from "../ports.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import type { NodeReading, PodReading } from "../stats/stats-reader.ts";

export interface AgentView {
  readonly process: Process;
  readonly dialect: Dialect;
  readonly nodeName: string;
  readonly cri: CriCaller;
  /** Undefined in standalone mode. */
  readonly api: ApiCaller | undefined;
  pods(): Iterable<HeldPod>;
  /** When the runtime was listed last; -1: not yet. */
  lastLookMicros(): Micros;
}

export interface NodeView {
  summary(onlyCpuAndMemory: boolean, done: (summary: JsonObject | undefined) => void): void;
  readings(done: (node: NodeReading | undefined, pods: readonly PodReading[]) => void): void;
}
