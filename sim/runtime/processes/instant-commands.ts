/** Commands that end as soon as they begin, by name. */
import { type Call, complain, type Instant, letters, now, out, pathOf } from "./call.ts";
import { formatDate } from "./date-format.ts";
import { printfText } from "./printf.ts";
import { signalNamed } from "./signals.ts";
import { evaluateTest } from "./test-command.ts";

export const instantCommands: Readonly<Record<string, Instant>> = {
  true: () => 0,
  false: () => 1,
  echo,
  printf,
  test: (call) => testStatus(call, call.args),
  "[": (call) => (call.args.at(-1) === "]" ? testStatus(call, call.args.slice(0, -1)) : complain(call, "missing ]", 2)),
  touch: (call) => each(call, "acm", (path) => touch(call, path)),
  rm,
  mkdir,
  rmdir: (call) => each(call, "p", (path) => removeEmpty(call, path)),
  mv,
  cp,
  ls,
  stat: (call) => each(call, "", (path) => stat(call, path)),
  chmod: (call) => each({ ...call, args: call.args.slice(1) }, "R", (path) => mustExist(call, path)),
  chown: (call) => each({ ...call, args: call.args.slice(1) }, "R", (path) => mustExist(call, path)),
  sync: () => 0,
  kill,
  pwd: (call) => print(call, call.process.directory),
  env: (call) => (call.args.length === 0 ? printEnvironment(call) : complain(call, "arguments are not supported")),
  printenv,
  hostname: (call) => print(call, call.box.world.hostname),
  uname: (call) =>
    print(call, call.args.includes("-a") ? `Linux ${call.box.world.hostname} x86_64 GNU/Linux` : "Linux"),
  whoami: (call) => print(call, "root"),
  id: (call) =>
    print(call, call.args[0] === "-u" || call.args[0] === "-g" ? "0" : "uid=0(root) gid=0(root) groups=0(root)"),
  date,
  seq,
  basename: (call) => print(call, baseName(call)),
  dirname: (call) =>
    print(call, (call.args[0] ?? "").replace(/\/*[^/]*\/*$/, "") || ((call.args[0] ?? "").startsWith("/") ? "/" : ".")),
  ps,
};

const print = (call: Call, text: string): number => (out(call, `${text}\n`) ? 0 : 1);

function echo(call: Call): number {
  const silentEnd = call.args[0] === "-n";
  const text = (silentEnd ? call.args.slice(1) : call.args).join(" ");
  const { text: escaped, ended } = unescape(text);
  return out(call, silentEnd || ended ? escaped : `${escaped}\n`) ? 0 : 1;
}

/** The escapes of dash's echo; `\c` ends it. */
function unescape(text: string): { readonly text: string; readonly ended: boolean } {
  if (!text.includes("\\")) return { text, ended: false };
  let ended = false;
  const escaped = text.replace(/\\(c[^]*|0[0-7]{0,3}|[abfnrtv\\])/g, (_all, code: string) => {
    if (code.startsWith("c")) {
      ended = true;
      return "";
    }
    if (code.startsWith("0")) return String.fromCharCode(Number.parseInt(code.slice(1) || "0", 8) & 255);
    return { a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "\\": "\\" }[code] as string;
  });
  return { text: escaped, ended };
}

function printf(call: Call): number {
  const [format, ...values] = call.args;
  if (format === undefined) return complain(call, "usage: printf format [arg ...]", 2);
  const result = printfText(format, values);
  if (!out(call, result.text)) return 1;
  return result.error === undefined ? 0 : complain(call, result.error);
}

function testStatus(call: Call, args: readonly string[]): number {
  const result = evaluateTest(args, {
    find: (path) => call.box.files.find(pathOf(call.process, path)),
    isTerminal: false,
  });
  return typeof result === "boolean" ? (result ? 0 : 1) : complain(call, result.error, 2);
}

/** For each operand; the worst status. */
function each(call: Call, options: string, visit: (path: string) => number): number {
  const parsed = letters(call.args, options);
  if (parsed === undefined) return complain(call, "invalid option");
  if (parsed.rest.length === 0) return complain(call, "missing operand");
  let status = 0;
  for (const path of parsed.rest) status = Math.max(status, visit(path));
  return status;
}

function touch(call: Call, path: string): number {
  const opened = call.box.files.open(pathOf(call.process, path), true, now(call));
  if (opened === "Is a directory") return 0;
  if (typeof opened === "string") return complain(call, `cannot touch '${path}': ${opened}`);
  opened.file.modifiedMicros = now(call);
  return 0;
}

function rm(call: Call): number {
  const parsed = letters(call.args, "rRfdi");
  if (parsed === undefined) return complain(call, "invalid option");
  const { set, rest } = parsed;
  const force = set.has("f");
  if (rest.length === 0 && !force) return complain(call, "missing operand");
  let status = 0;
  for (const path of rest) {
    const whole = pathOf(call.process, path);
    const node = call.box.files.find(whole);
    if (node === undefined) {
      if (!force) status = complain(call, `cannot remove '${path}': No such file or directory`);
      continue;
    }
    if (call.box.files.isDirectory(whole) && !set.has("r") && !set.has("R")) {
      status = complain(call, `cannot remove '${path}': Is a directory`);
      continue;
    }
    const failure = call.box.files.remove(whole, now(call));
    if (failure !== undefined) status = complain(call, `cannot remove '${path}': ${failure}`);
  }
  return status;
}

function removeEmpty(call: Call, path: string): number {
  const names = call.box.files.list(pathOf(call.process, path));
  if (names === undefined) return complain(call, `failed to remove '${path}': No such file or directory`);
  if (names.length > 0) return complain(call, `failed to remove '${path}': Directory not empty`);
  const failure = call.box.files.remove(pathOf(call.process, path), now(call));
  return failure === undefined ? 0 : complain(call, `failed to remove '${path}': ${failure}`);
}

function mkdir(call: Call): number {
  const parsed = letters(call.args, "pm");
  if (parsed === undefined) return complain(call, "invalid option");
  const operands = parsed.set.has("m") ? parsed.rest.slice(1) : parsed.rest;
  let status = 0;
  for (const path of operands) {
    const whole = pathOf(call.process, path);
    const above = whole.replace(/\/*[^/]+\/*$/, "") || "/";
    const parents = parsed.set.has("p");
    let failure: string | undefined;
    if (call.box.files.find(whole) !== undefined)
      failure = parents && call.box.files.isDirectory(whole) ? undefined : "File exists";
    else if (!parents && !call.box.files.isDirectory(above)) failure = "No such file or directory";
    else failure = call.box.files.makeDirectory(whole, now(call));
    if (failure !== undefined) status = complain(call, `cannot create directory '${path}': ${failure}`);
  }
  return operands.length === 0 ? complain(call, "missing operand") : status;
}

/** Where the operands before the last go, when the last one is a directory. */
function targetOf(call: Call, from: string, to: string): string {
  const whole = pathOf(call.process, to);
  return call.box.files.isDirectory(whole) ? `${whole}/${from.replace(/\/+$/, "").split("/").at(-1)}` : whole;
}

function mv(call: Call): number {
  const parsed = letters(call.args, "f");
  const to = parsed?.rest.at(-1);
  if (parsed === undefined || to === undefined || parsed.rest.length < 2) return complain(call, "missing operand");
  let status = 0;
  for (const from of parsed.rest.slice(0, -1)) {
    const failure = call.box.files.rename(pathOf(call.process, from), targetOf(call, from, to), now(call));
    if (failure !== undefined) status = complain(call, `cannot move '${from}' to '${to}': ${failure}`);
  }
  return status;
}

function cp(call: Call): number {
  const parsed = letters(call.args, "fp");
  const to = parsed?.rest.at(-1);
  if (parsed === undefined || to === undefined || parsed.rest.length < 2) return complain(call, "missing operand");
  let status = 0;
  for (const from of parsed.rest.slice(0, -1)) {
    const node = call.box.files.find(pathOf(call.process, from));
    const pieces =
      node?.is === "file" ? node.pieces : node?.is === "image" && node.text !== undefined ? [node.text] : undefined;
    if (pieces === undefined) {
      status = complain(call, `cannot stat '${from}': No such file or directory`);
      continue;
    }
    const opened = call.box.files.open(targetOf(call, from, to), false, now(call));
    let failure = typeof opened === "string" ? opened : undefined;
    if (typeof opened !== "string") {
      for (const piece of pieces) failure ??= opened.at.tree.append(opened.at.path, opened.file, piece, now(call));
    }
    if (failure !== undefined) status = complain(call, `cannot create '${to}': ${failure}`);
  }
  return status;
}

function ls(call: Call): number {
  const parsed = letters(call.args, "a1lAdhR");
  if (parsed === undefined) return complain(call, "invalid option", 2);
  const operands = parsed.rest.length === 0 ? ["."] : parsed.rest;
  let status = 0;
  const lines: string[] = [];
  for (const path of operands) {
    const whole = pathOf(call.process, path);
    const names = parsed.set.has("d") ? undefined : call.box.files.list(whole);
    if (names !== undefined) {
      if (operands.length > 1) lines.push(`${path}:`);
      for (const name of names)
        if (!name.startsWith(".") || parsed.set.has("a") || parsed.set.has("A")) lines.push(name);
    } else if (call.box.files.find(whole) !== undefined) lines.push(path);
    else status = complain(call, `cannot access '${path}': No such file or directory`, 2);
  }
  return lines.length === 0 || out(call, `${lines.join("\n")}\n`) ? status : 1;
}

function stat(call: Call, path: string): number {
  const node = call.box.files.find(pathOf(call.process, path));
  if (node === undefined) return complain(call, `cannot stat '${path}': No such file or directory`);
  const size = node.is === "file" ? node.sizeBytes : node.is === "image" ? (node.text ?? "").length : 4096;
  return print(call, `  File: ${path}\n  Size: ${size}`);
}

const mustExist = (call: Call, path: string): number =>
  call.box.files.find(pathOf(call.process, path)) === undefined
    ? complain(call, `cannot access '${path}': No such file or directory`)
    : 0;

function kill(call: Call): number {
  const args = [...call.args];
  let name = "TERM";
  if (args[0] === "-s") {
    name = args[1] ?? "";
    args.splice(0, 2);
  } else if (args[0]?.startsWith("-") === true && args.length > 1) {
    name = (args.shift() as string).slice(1);
  }
  const isProbe = name === "0";
  const signal = isProbe ? undefined : signalNamed(name);
  if (!isProbe && signal === undefined) return complain(call, `invalid signal number or name: ${name}`, 2);
  if (args.length === 0) return complain(call, "usage: kill [-s sigspec | -signum | -sigspec] [pid | job]...", 2);
  let status = 0;
  for (const operand of args) {
    const process = /^\d{1,9}$/.test(operand) ? call.box.processes.get(Number(operand)) : undefined;
    if (process === undefined)
      status = complain(call, /^\d+$/.test(operand) ? "No such process" : `Illegal number: ${operand}`);
    else if (signal !== undefined) {
      // The first process of a namespace is safe even from a kill that comes from inside.
      if (process.pid !== 1 || signal !== "KILL") call.box.signal(process, signal);
    }
  }
  return status;
}

function printEnvironment(call: Call): number {
  const lines = [...call.process.environment].map(([key, value]) => `${key}=${value}\n`);
  return out(call, lines.join("")) ? 0 : 1;
}

function printenv(call: Call): number {
  const name = call.args[0];
  if (name === undefined) return printEnvironment(call);
  const value = call.process.environment.get(name);
  return value === undefined ? 1 : print(call, value);
}

function date(call: Call): number {
  const seconds = Math.floor(call.box.world.epochUnixMillis / 1000 + now(call) / 1_000_000);
  const format = call.args.find((arg) => arg.startsWith("+"));
  if (format !== undefined) return print(call, formatDate(format.slice(1), seconds));
  return print(call, formatDate("%a %b %e %H:%M:%S UTC %Y", seconds));
}

function seq(call: Call): number {
  const numbers = call.args.map((arg) => (/^-?\d{1,15}$/.test(arg) ? Number(arg) : undefined));
  if (numbers.length === 0 || numbers.length > 3 || numbers.includes(undefined))
    return complain(call, "invalid operand");
  const first = numbers.length === 1 ? 1 : (numbers[0] as number);
  const step = numbers.length === 3 ? (numbers[1] as number) : 1;
  const last = numbers.at(-1) as number;
  if (step === 0) return complain(call, "zero increment");
  if ((last - first) / step > 100_000) return complain(call, "more than 100000 numbers");
  const lines: string[] = [];
  for (let at = first; step > 0 ? at <= last : at >= last; at += step) lines.push(`${at}\n`);
  return out(call, lines.join("")) ? 0 : 1;
}

function baseName(call: Call): string {
  const base = (call.args[0] ?? "").replace(/\/+$/, "").split("/").at(-1) ?? "";
  const suffix = call.args[1] ?? "";
  return suffix !== "" && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
}

function ps(call: Call): number {
  const rows = [...call.box.processes.values()].filter(({ status }) => status === undefined);
  return print(
    call,
    ["PID   COMMAND", ...rows.map(({ pid, program }) => `${String(pid).padStart(5)} ${program.name}`)].join("\n"),
  );
}
