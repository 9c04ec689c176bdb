/**
 * An agent's log: lines as text or as JSON, at a level, by files; to stderr, or what is no error to stdout, by and by.
 * Source: document 3, --logging-format, --v, --vmodule, --log-flush-frequency and the streams of either format; the
 * published formats, whose lines of text begin with the severity, the time, the process and where they come from.
 */
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import type { AgentSettings } from "../../sim/configuration/agent/settings.ts";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { lineLog, logText } from "./line-log.ts";

export interface AgentLogOptions {
  readonly format: "text" | "json";
  readonly verbosity: number;
  /** Levels by patterns of names of files, the first that matches; `*` and `?` stand for any characters. */
  readonly modules: Readonly<Record<string, string>>;
  /** What is no error goes to stdout. */
  readonly isSplit: boolean;
  /** Of what goes to stdout: written once there is so much. 0: at once. */
  readonly bufferBytesMax: number;
  /** And after so long. 0: not by time. */
  readonly flushMillis: number;
}

export interface LogPorts {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly nowUnixMillis: () => number;
  readonly pid: number;
  /** Calls `work` again and again, until what it gives back is called. */
  readonly every: (millis: number, work: () => void) => () => void;
}

const machinePorts: LogPorts = {
  stdout: lineLog(process.stdout),
  stderr: logText,
  nowUnixMillis: () => Date.now(),
  pid: process.pid,
  every: (millis, work) => {
    const timer = setInterval(work, millis);
    timer.unref();
    return () => clearInterval(timer);
  },
};

type Severity = "I" | "W" | "E";

export class AgentLog {
  private readonly options: AgentLogOptions;
  private readonly ports: LogPorts;
  private readonly patterns: readonly (readonly [pattern: RegExp, level: number])[];
  private readonly stopFlushing: () => void;
  private waiting: string[] = [];
  private waitingBytes = 0;

  constructor(options: AgentLogOptions, ports: LogPorts = machinePorts) {
    this.options = options;
    this.ports = ports;
    this.patterns = Object.entries(options.modules).map(([pattern, level]) => [globOf(pattern), Number(level)]);
    const { bufferBytesMax, flushMillis } = options;
    const isTimed = bufferBytesMax > 0 && flushMillis > 0;
    this.stopFlushing = isTimed ? ports.every(flushMillis, () => this.flush()) : () => {};
  }

  /** Whether lines of this level are written that come from this file, whose name has no ending. */
  isOn(file: string, level: number): boolean {
    const own = this.patterns.find(([pattern]) => pattern.test(file));
    return level <= (own?.[1] ?? this.options.verbosity);
  }

  info(file: string, level: number, message: string): void {
    if (this.isOn(file, level)) this.write("I", file, level, message);
  }

  warning(file: string, message: string): void {
    this.write("W", file, 0, message);
  }

  error(file: string, message: string): void {
    this.write("E", file, 0, message);
  }

  flush(): void {
    if (this.waiting.length === 0) return;
    this.ports.stdout(this.waiting.join(""));
    this.waiting = [];
    this.waitingBytes = 0;
  }

  close(): void {
    this.stopFlushing();
    this.flush();
  }

  private write(severity: Severity, file: string, level: number, message: string): void {
    const line =
      this.options.format === "json"
        ? this.asJson(severity, file, level, message)
        : this.asText(severity, file, message);
    const { isSplit, bufferBytesMax } = this.options;
    if (!isSplit || severity === "E") {
      this.ports.stderr(line);
      return;
    }
    this.waiting.push(line);
    this.waitingBytes += Buffer.byteLength(line);
    if (this.waitingBytes >= bufferBytesMax) this.flush();
  }

  private asText(severity: Severity, file: string, message: string): string {
    const { nowUnixMillis, pid } = this.ports;
    const [, month, day, time] = /^\d+-(\d\d)-(\d\d)T([\d:.]+)Z$/.exec(new Date(nowUnixMillis()).toISOString()) ?? [];
    return `${severity}${month}${day} ${time}000 ${String(pid).padStart(7)} ${file}] ${JSON.stringify(message)}\n`;
  }

  private asJson(severity: Severity, file: string, level: number, message: string): string {
    const head = { ts: this.ports.nowUnixMillis(), caller: file, msg: message };
    return `${JSON.stringify(severity === "E" ? { ...head, err: message } : { ...head, v: level })}\n`;
  }
}

function globOf(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`);
}

export function agentLogOptions(settings: AgentSettings): AgentLogOptions {
  const { text, flag, number, map } = settings;
  const format = text("logging-format") === "json" ? "json" : "text";
  const size = parseQuantity(text(`log-${format}-info-buffer-size`));
  return {
    format,
    verbosity: number("v"),
    modules: map("vmodule"),
    isSplit: flag(`log-${format}-split-stream`),
    bufferBytesMax: "error" in size ? 0 : Number(quantityAt(size, 0)),
    flushMillis: Math.floor(number("log-flush-frequency") / 1000),
  };
}
