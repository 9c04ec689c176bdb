/** From an argument vector to a program, as an image's file system would have it. */
import { bytesText, readFile } from "./file-tree.ts";
import type { Box, Process, Program, Step } from "./processes/box.ts";
import { complain, sleepMicros } from "./processes/call.ts";
import type { Environment } from "./processes/environment.ts";
import { instantCommands } from "./processes/instant-commands.ts";
import { InstantProgram, PROGRAM_BYTES, programs } from "./processes/programs.ts";
import { type SignalName, signalNamed } from "./processes/signals.ts";
import { newShell } from "./shell/shell.ts";

const shells = new Set(["sh", "ash", "bash", "dash"]);

/** Commands of an image with a shell. */
export const shellCommands: ReadonlySet<string> = new Set([
  ...shells,
  ...Object.keys(instantCommands),
  ...Object.keys(programs),
  "timeout",
]);

const SCRIPT_BYTES_MAX = 1 << 20;

/** Of one word or variable that a process is started with. Source: the kernel's 32 pages for each, with a zero at its end. */
const WORD_CHARS_MAX = 131_071;

const isTooLong = (words: readonly string[]): boolean => words.some(({ length }) => length > WORD_CHARS_MAX);

function hasTooLong(environment: Environment): boolean {
  for (const [{ length }, value] of environment) if (length + 1 + value.length > WORD_CHARS_MAX) return true;
  return false;
}

const NAME_CHARS_SHOWN = 255;

/** A command as a shell would start it. */
export function startCommand(
  argv: readonly string[],
  box: Box,
): Program | { readonly error: string; readonly status: number } {
  const word = argv[0] ?? "";
  if (isTooLong(argv)) return { error: `1: ${word.slice(0, NAME_CHARS_SHOWN)}: Argument list too long`, status: 126 };
  const found = findProgram(word, box);
  if (found === undefined) return ownProgramOf(box) ?? { error: `1: ${word}: not found`, status: 127 };
  if (found === NO_PERMISSION) return { error: `1: ${word}: Permission denied`, status: 126 };
  const args = argv.slice(1);
  if (typeof found === "object") return shell([word, ...args], box, found.script);
  if (shells.has(found)) return shell(args, box, undefined);
  const instant = Object.hasOwn(instantCommands, found) ? instantCommands[found] : undefined;
  if (instant !== undefined) return new InstantProgram(found, args, instant);
  if (found === "timeout") return new Timeout(args);
  return (programs[found] as (args: readonly string[]) => Program)(args);
}

/** Why a command cannot start that is not a shell's, in the words of the low-level runtime; undefined: it can. */
export function missingCommand(argv: readonly string[], environment: Environment, box: Box): string | undefined {
  const word = argv[0] ?? "";
  if (isTooLong(argv) || hasTooLong(environment))
    return `exec ${word.includes("/") ? "" : "/bin/"}${word.slice(0, NAME_CHARS_SHOWN)}: argument list too long`;
  const found = findProgram(word, box);
  if (found === NO_PERMISSION) return `exec: "${word}": permission denied`;
  if (found !== undefined || box.world.hasOwnPrograms === true) return undefined;
  return word.includes("/")
    ? `exec: "${word}": stat ${word}: no such file or directory`
    : `exec: "${word}": executable file not found in $PATH`;
}

const ownProgramOf = ({ world }: Box): Program | undefined =>
  world.hasOwnPrograms === true ? world.ownProgram?.() : undefined;

/** Whether the command is a program of the image that the shell lacks. */
export const isOwnProgram = ([word = ""]: readonly string[], box: Box): boolean =>
  findProgram(word, box) === undefined && box.world.hasOwnPrograms === true;

/** In place of a program's name: no command has a slash in its own. */
const NO_PERMISSION = "/";

/** The name of a program, or the script that a file holds. */
function findProgram(word: string, box: Box): string | { readonly script: string } | undefined {
  if (!word.includes("/")) return box.has(word) ? word : undefined;
  const name = /^\/(?:usr\/)?(?:local\/)?s?bin\/([^/]+)$/.exec(word)?.[1];
  if (name !== undefined && box.has(name)) return name;
  const node = box.files.find(word.startsWith("/") ? word : `/${word}`);
  if (node === undefined) return undefined;
  if (node.is !== "file" || !box.has("sh")) return NO_PERMISSION;
  const script = bytesText(readFile(node, 0, SCRIPT_BYTES_MAX));
  return /^#!\s*\/(?:usr\/)?bin\/(?:env )?(?:ba|da|a)?sh\b/.test(script) ? { script } : NO_PERMISSION;
}

function shell(
  args: readonly string[],
  box: Box,
  script: string | undefined,
): Program | { readonly error: string; readonly status: number } {
  const read = (path: string): string | undefined => {
    if (script !== undefined) return script;
    const node = box.files.find(path);
    return node?.is === "file" ? bytesText(readFile(node, 0, SCRIPT_BYTES_MAX)) : undefined;
  };
  return newShell(args, read, startCommand);
}

/** `timeout [-s SIGNAL] DURATION COMMAND…`: a child that is signalled when its time is over. Status 124 then. */
class Timeout implements Program {
  readonly name = "timeout";
  readonly memoryBytes = PROGRAM_BYTES;
  private readonly args: readonly string[];
  private child: Process | undefined;
  private deadlineMicros = 0;
  private late = false;

  constructor(args: readonly string[]) {
    this.args = args;
  }

  step(process: Process, box: Box): Step {
    const now = box.world.nowMicros();
    const options = this.args[0] === "-s" ? 2 : 0;
    const signal = options === 0 ? "TERM" : signalNamed(this.args[1] ?? "");
    if (this.child === undefined) {
      const call = {
        box,
        process,
        args: this.args,
        name: "timeout",
        stdin: process.stdin,
        stdout: process.stdout,
        stderr: process.stderr,
      };
      const micros = sleepMicros(this.args[options] ?? "");
      if (micros === undefined || signal === undefined)
        return complain(call, "usage: timeout [-s SIGNAL] DURATION COMMAND", 125);
      const program = startCommand(this.args.slice(options + 1), box);
      if ("error" in program) return complain(call, program.error, program.status);
      const { environment, directory, stdin, stdout, stderr } = process;
      this.child = box.spawn(process.pid, { program, environment, directory, stdin, stdout, stderr });
      if (this.child === undefined) return complain(call, "Cannot fork", 125);
      this.deadlineMicros = now + micros;
    }
    if (this.child.status !== undefined) {
      box.reap(this.child);
      return this.late ? 124 : this.child.status;
    }
    if (now >= this.deadlineMicros && !this.late) {
      this.late = true;
      box.signal(this.child, signal ?? "TERM");
      return this.step(process, box);
    }
    return this.late || this.deadlineMicros === Infinity ? "child" : { until: this.deadlineMicros };
  }

  signal(signal: SignalName, _process: Process, box: Box): "taken" | "default" | "ignored" {
    if (this.child !== undefined) box.signal(this.child, signal);
    return "default";
  }
}
