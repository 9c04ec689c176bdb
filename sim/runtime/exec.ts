/** Commands that somebody runs in a container beside its own. */
import { type CriAnswer, grpcCode } from "../../wire/cri.ts";
import type { ExecSyncRequest } from "../../wire/cri-messages.ts";
import { isOwnProgram, missingCommand, startCommand } from "./commands.ts";
import { runContainer } from "./container-life.ts";
import { textBytes, toByteText } from "./file-tree.ts";
import type { Process, Program } from "./processes/box.ts";
import type { Environment } from "./processes/environment.ts";
import { Service } from "./processes/programs.ts";
import type { Stream } from "./processes/streams.ts";
import type { ContainerRecord } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";

/** What an exec answers at most, of either stream. */
const OUTPUT_BYTES_MAX = 16 << 20;

export function execSync(
  state: RuntimeState,
  container: ContainerRecord,
  { cmd = [], timeout = 0 }: ExecSyncRequest,
  answer: (answer: CriAnswer<"ExecSync">) => void,
): void {
  const stdout: Stream = { is: "capture", text: "", maxBytes: OUTPUT_BYTES_MAX };
  const stderr: Stream = { is: "capture", text: "", maxBytes: OUTPUT_BYTES_MAX };
  const refuse = (text: string): void => answer({ ok: false, code: grpcCode.unknown, text, trace: () => false });
  const begun = state.nowMicros;
  const process = startExec(state, container, cmd, { is: "null" }, stdout, stderr);
  if (typeof process === "string") {
    state.later("ExecSync", () => refuse(`failed to exec in container: ${process}`));
    return;
  }
  const { box } = container;
  const trace = (): boolean => container.box === box && box?.hasTraceOf(process) === true;
  let over = false;
  const end = (): void => {
    if (over || process.status === undefined) return;
    over = true;
    const status = process.status;
    state.later("ExecSync", () =>
      answer({
        ok: true,
        message: { stdout: textBytes(stdout.text), stderr: textBytes(stderr.text), exitCode: status },
        trace,
      }),
    );
  };
  whenEnded(state, container, process, end);
  if (over || timeout <= 0) return;
  state.process.clock.after(timeout * 1_000_000 - (state.nowMicros - begun), () => {
    if (over) return;
    over = true;
    box?.signal(process, "KILL");
    answer({
      ok: false,
      code: grpcCode.deadlineExceeded,
      text: `failed to exec in container: timeout ${timeout}s exceeded: context deadline exceeded`,
      trace,
    });
  });
}

/** A program of which nothing is known but that it works. */
const succeeds = (name: string): Program =>
  new Service({ name, afterMicros: 0, status: 0, stop: undefined, memoryBytes: 0, says: undefined });

/** Starts a process in a container that runs; why not, otherwise. */
export function startExec(
  state: RuntimeState,
  container: ContainerRecord,
  cmd: readonly string[],
  stdin: Stream,
  stdout: Stream,
  stderr: Stream,
  variables: ReadonlyMap<string, string> = new Map(),
): Process | string {
  const { box } = container;
  if (box === undefined) return `container is in ${container.state} state`;
  const argv = cmd.map(toByteText);
  const first: Environment = box.first?.environment ?? new Map<string, string>();
  const environment = variables.size === 0 ? first : new Map([...first, ...variables]);
  const missing = missingCommand(argv, environment, box);
  const failed = "failed to start exec: OCI runtime exec failed: exec failed: unable to start container process";
  if (missing !== undefined) return `${failed}: ${missing}: unknown`;
  const program = isOwnProgram(argv, box) ? succeeds(argv[0] ?? "") : startCommand(argv, box);
  if ("error" in program) return `${failed}: ${program.error}: unknown`;
  const directory = container.config.workingDir ?? "";
  const process = box.spawn(0, {
    program,
    environment,
    directory: directory === "" ? "/" : directory,
    stdin,
    stdout,
    stderr,
  });
  if (process === undefined) return `${failed}: resource temporarily unavailable: unknown`;
  state.schedule(container, state.nowMicros);
  return process;
}

/** Calls `ended` once the process has, whoever ends it. Looks now, so that what is over at once needs no event. */
export function whenEnded(state: RuntimeState, container: ContainerRecord, process: Process, ended: () => void): void {
  const { box } = container;
  if (box === undefined) return;
  box.ended.set(process, ended);
  runContainer(state, container);
}
