/** A node agent as a program: started with flags, asked at its listeners, and ended. The only place of the suite that starts programs of others. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect, type SecureVersion } from "node:tls";
import { freePort } from "./free-port.ts";

export interface AgentPorts {
  readonly serving: number;
  readonly readOnly: number;
  readonly health: number;
}

/** `ended`: it went by itself, with so much output. `running`: its health answers. `silent`: neither within the time. */
export type AgentOutcome =
  | { readonly is: "ended"; readonly code: number | null; readonly output: string }
  | { readonly is: "running" }
  | { readonly is: "silent"; readonly output: string };

export interface AgentAnswer {
  /** 0: nobody answered. */
  readonly status: number;
  readonly body: string;
}

/** The suite that was agreed on, and the fingerprint of what was shown. */
export type Handshake = { readonly suite: string; readonly certificate: string } | { readonly error: string };

const startMillisMax = 30_000;
const lookMillis = 100;
const outputCharactersMax = 200_000;

export class AgentProcess {
  readonly ports: AgentPorts;
  /** Removed with it. */
  readonly folder: string;
  readonly #child: ChildProcess;
  #output = "";
  #code: number | null | undefined;

  private constructor(child: ChildProcess, ports: AgentPorts, folder: string) {
    this.#child = child;
    this.ports = ports;
    this.folder = folder;
    const take = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-outputCharactersMax);
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
    child.on("error", (error) => {
      this.#output += error.message;
      this.#code = 127;
    });
    child.on("close", (code) => {
      this.#code ??= code;
    });
  }

  /** `command` is a shell's; `flags` are told ports and a folder of its own. */
  static async start(
    command: string,
    flags: (ports: AgentPorts, folder: string) => readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<AgentProcess> {
    const [serving, readOnly, health] = await Promise.all([freePort(), freePort(), freePort()]);
    const ports = { serving, readOnly, health } as AgentPorts;
    const folder = mkdtempSync(join(tmpdir(), "touchstone-agent-"));
    const child = spawn("/bin/sh", ["-c", `exec ${command} "$@"`, "sh", ...flags(ports, folder)], {
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      env: { ...process.env, ...environment },
    });
    return new AgentProcess(child, ports, folder);
  }

  get output(): string {
    return this.#output;
  }

  async outcome(): Promise<AgentOutcome> {
    for (let waited = 0; waited < startMillisMax; waited += lookMillis) {
      if (this.#code !== undefined) return { is: "ended", code: this.#code, output: this.#output };
      if ((await this.ask("health", "/healthz")).status === 200) return { is: "running" };
      await pause(lookMillis);
    }
    return { is: "silent", output: this.#output };
  }

  ask(
    listener: keyof AgentPorts,
    path: string,
    more: { readonly method?: string; readonly headers?: Record<string, string> } = {},
  ): Promise<AgentAnswer> {
    const { promise, resolve } = Promise.withResolvers<AgentAnswer>();
    const nobody = { status: 0, body: "" };
    const request = (listener === "serving" ? requestHttps : requestHttp)(
      {
        host: "127.0.0.1",
        port: this.ports[listener],
        path,
        method: more.method ?? "GET",
        headers: more.headers ?? {},
        agent: false,
        timeout: 5000,
        rejectUnauthorized: false,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => void chunks.push(chunk));
        incoming.on("error", () => resolve(nobody));
        incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      },
    );
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(nobody));
    request.end();
    return promise;
  }

  /** What a handshake up to this version comes to, by suites of one's own as OpenSSL calls them: what was agreed on, or why nothing. */
  handshake(maxVersion: SecureVersion, ciphers?: string): Promise<Handshake> {
    const { promise, resolve } = Promise.withResolvers<Handshake>();
    const socket = connect(
      {
        host: "127.0.0.1",
        port: this.ports.serving,
        rejectUnauthorized: false,
        minVersion: "TLSv1.2",
        maxVersion,
        ...(ciphers === undefined ? {} : { ciphers }),
      },
      () => {
        const certificate = socket.getPeerX509Certificate()?.fingerprint256 ?? "";
        resolve({ suite: socket.getCipher().standardName, certificate });
        socket.destroy();
      },
    );
    socket.on("error", (error) => resolve({ error: error.message }));
    return promise;
  }

  async end(): Promise<void> {
    const { pid } = this.#child;
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (this.#code !== undefined || pid === undefined) break;
      try {
        process.kill(-pid, signal);
      } catch {
        break; // it is gone
      }
      for (let waited = 0; waited < 5000 && this.#code === undefined; waited += 50) await pause(50);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
