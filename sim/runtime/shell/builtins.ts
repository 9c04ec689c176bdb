/** What only the shell itself can do. */
import type { Box, Process } from "../processes/box.ts";
import { pathOf } from "../processes/call.ts";
import { signalNamed } from "../processes/signals.ts";
import { readStream } from "../processes/streams.ts";
import { type Run, type ShellContext, ShellError } from "./context.ts";

interface Builtin {
  readonly shell: ShellContext;
  readonly process: Process;
  readonly box: Box;
  readonly args: readonly string[];
}

export const builtins: Readonly<Record<string, (call: Builtin) => number | Run>> = {
  ":"() {
    return 0;
  },
  exit({ shell, args }) {
    shell.status = args[0] === undefined ? shell.status : numberOf(args[0]) & 255;
    shell.unwind = { is: "exit", count: 0 };
    return shell.status;
  },
  return({ shell, args }) {
    shell.status = args[0] === undefined ? shell.status : numberOf(args[0]);
    shell.unwind = { is: shell.callDepth > 0 ? "return" : "exit", count: 0 };
    return shell.status;
  },
  break: (call) => leave(call, "break"),
  continue: (call) => leave(call, "continue"),
  trap,
  wait,
  export: exportNames,
  readonly: exportNames,
  local: exportNames,
  unset({ shell, args }) {
    for (const name of args) {
      if (name === "-v" || name === "-f") continue;
      shell.unset(name);
      shell.state.functions.delete(name);
    }
    return 0;
  },
  shift({ shell, args }) {
    const count = args[0] === undefined ? 1 : numberOf(args[0]);
    if (count > shell.state.positional.length) throw new ShellError("shift: can't shift that many");
    shell.state.positional = shell.state.positional.slice(count);
    return 0;
  },
  set,
  *eval({ shell, args }) {
    return args.length === 0 ? 0 : yield* shell.evaluate(args.join(" "));
  },
  *exec({ shell, args }) {
    return args.length === 0 ? 0 : yield* shell.become(args);
  },
  cd({ shell, process, box, args }) {
    const path = args[0] ?? shell.get("HOME") ?? "/";
    const whole = pathOf(process, path);
    if (!box.files.isDirectory(whole)) {
      shell.complain(`cd: can't cd to ${path}`);
      return 2;
    }
    const parts: string[] = [];
    for (const part of whole.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    process.directory = `/${parts.join("/")}`;
    shell.set("PWD", process.directory);
    return 0;
  },
  read,
  type({ shell, args }) {
    return args.every((name) => Object.hasOwn(builtins, name) || shell.state.functions.has(name)) ? 0 : 127;
  },
  *command({ shell, box, process, args }) {
    if (args[0] === "-v") {
      const name = args[1] ?? "";
      if (!Object.hasOwn(builtins, name) && !shell.state.functions.has(name) && !box.has(name)) return 127;
      box.write(process, process.stdout, `${name}\n`);
      return 0;
    }
    const quoted = args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`);
    return quoted.length === 0 ? 0 : yield* shell.evaluate(quoted.join(" "));
  },
  umask() {
    return 0;
  },
  ulimit() {
    return 0;
  },
  times() {
    return 0;
  },
};

function leave({ shell, args }: Builtin, is: "break" | "continue"): number {
  const count = args[0] === undefined ? 1 : numberOf(args[0]);
  if (count < 1) throw new ShellError(`${is}: Illegal number: ${args[0]}`);
  if (shell.loopDepth > 0) shell.unwind = { is, count: Math.min(count, shell.loopDepth) };
  return 0;
}

function trap({ shell, process, box, args }: Builtin): number {
  const { traps } = shell.state;
  const rest = args[0] === "--" ? args.slice(1) : args;
  if (rest.length === 0) {
    for (const [name, action] of traps) box.write(process, process.stdout, `trap -- '${action}' ${name}\n`);
    return 0;
  }
  const [action, ...names] = rest.length === 1 || /^\d+$/.test(rest[0] as string) ? ["-", ...rest] : rest;
  let status = 0;
  for (const name of names) {
    const signal = name === "0" || name === "EXIT" ? "EXIT" : signalNamed(name);
    if (signal === undefined) {
      shell.complain(`trap: ${name}: bad trap`);
      status = 1;
    } else if (action === "-") traps.delete(signal);
    else traps.set(signal, action as string);
  }
  return status;
}

/** For the children named, or for all. A signal that has a trap ends the wait. */
function* wait({ shell, process, box, args }: Builtin): Run {
  const isMine = (pid: number): boolean => box.processes.get(pid)?.parent === process.pid;
  const pids = args.length > 0 ? args.map(numberOf) : [...box.processes.keys()].filter(isMine);
  let status = 0;
  for (const pid of pids) {
    const child = box.processes.get(pid);
    if (child === undefined || child.parent !== process.pid) {
      status = 127;
      continue;
    }
    while (child.status === undefined) {
      const interrupted = shell.interruption();
      if (interrupted !== undefined) return interrupted;
      yield "child";
    }
    status = child.status;
    box.reap(child);
  }
  return args.length === 0 ? 0 : status;
}

function exportNames({ shell, args }: Builtin): number {
  for (const arg of args) {
    if (arg === "-p") continue;
    const at = arg.indexOf("=");
    const name = at < 0 ? arg : arg.slice(0, at);
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new ShellError(`export: ${name}: bad variable name`);
    if (at >= 0) shell.set(name, arg.slice(at + 1));
    shell.state.exported.add(name);
  }
  return 0;
}

function set({ shell, args }: Builtin): number {
  const { options } = shell.state;
  let index = 0;
  for (; index < args.length; index++) {
    const arg = args[index] as string;
    if (arg === "--") {
      shell.state.positional = args.slice(index + 1);
      return 0;
    }
    if (!/^[-+]./.test(arg)) break;
    const letters =
      arg.slice(1) === "o" ? ({ errexit: "e", nounset: "u", noglob: "f" }[args[++index] ?? ""] ?? "") : arg.slice(1);
    for (const letter of letters) {
      if (arg.startsWith("-")) options.add(letter);
      else options.delete(letter);
    }
  }
  if (index < args.length) shell.state.positional = args.slice(index);
  return 0;
}

/** One line into variables, split at IFS; the last one takes the rest. */
function* read({ shell, process, box, args }: Builtin): Run {
  const raw = args[0] === "-r";
  const names = raw ? args.slice(1) : args;
  let line = "";
  let ended = false;
  for (;;) {
    const result = readStream(process.stdin, 1, () => box.world.random());
    if (result === "wait") {
      yield "read";
      continue;
    }
    if (result === "end") {
      ended = true;
      break;
    }
    const char = typeof result.piece === "number" ? "\0" : result.piece;
    if (char === "\n") {
      if (raw || !line.endsWith("\\")) break;
      line = line.slice(0, -1);
      continue;
    }
    line += char;
    if (line.length > 1 << 20 || !box.spend()) yield { until: box.world.nowMicros() };
  }
  const text = raw ? line : line.replace(/\\([^])/g, "$1");
  const ifs = shell.get("IFS") ?? " \t\n";
  const isSeparator = (char: string | undefined): boolean => char !== undefined && ifs.includes(char);
  let rest = text;
  for (const [index, name] of (names.length === 0 ? ["REPLY"] : names).entries()) {
    let start = 0;
    while (isSeparator(rest[start]) && " \t\n".includes(rest[start] as string)) start++;
    rest = rest.slice(start);
    if (index === names.length - 1 || names.length === 0) {
      let end = rest.length;
      while (end > 0 && isSeparator(rest[end - 1]) && " \t\n".includes(rest[end - 1] as string)) end--;
      shell.set(name, rest.slice(0, end));
      break;
    }
    let end = 0;
    while (end < rest.length && !isSeparator(rest[end])) end++;
    shell.set(name, rest.slice(0, end));
    rest = rest.slice(end + (rest[end] !== undefined && !" \t\n".includes(rest[end] as string) ? 1 : 0));
  }
  return ended && line === "" ? 1 : 0;
}

function numberOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new ShellError(`Illegal number: ${text}`);
  return Number(text);
}
