/**
 * A certificate and its key in one PEM file in an agent's directory: each under a name with its time, and the newest also
 * as `…-current.pem`, so that whoever reads that finds both or the ones before, never a mixture.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { HeldCertificate } from "../../sim/agent/certificates/certificate-keeper.ts";
import { certificateMaker } from "../../sim/http/certificates/certificate-maker.ts";
import { UsageError } from "../flags/usage-error.ts";

export class PairFile {
  /** Of the newest pair. */
  readonly path: string;
  private readonly directory: string;
  private readonly name: string;

  /** `name`: such as `nodeagent-client`. */
  constructor(directory: string, name: string) {
    this.directory = resolve(directory);
    this.name = name;
    this.path = join(this.directory, `${name}-current.pem`);
  }

  /** Undefined: there is none, none that can be read, or none that is good at this time. */
  read(nowUnixMillis: number): HeldCertificate | undefined {
    let text: string;
    try {
      text = readFileSync(this.path, "utf8");
    } catch {
      return undefined;
    }
    const held = certificateMaker.read(text, text);
    return held !== undefined && held.notAfterUnixMillis > nowUnixMillis ? held : undefined;
  }

  /** Throws `UsageError` when the directory cannot be written to. */
  write({ certificate, privateKey }: HeldCertificate, nowUnixMillis: number): void {
    const stamp = new Date(nowUnixMillis).toISOString().replace(/[:.]/g, "-");
    const file = `${this.name}-${stamp}.pem`;
    const link = `${this.path}.new`;
    try {
      mkdirSync(this.directory, { recursive: true, mode: 0o755 });
      writeFileSync(join(this.directory, file), `${certificate.trimEnd()}\n${privateKey}`, { mode: 0o600 });
      rmSync(link, { force: true });
      symlinkSync(file, link);
      renameSync(link, this.path);
    } catch (error) {
      throw new UsageError(
        `--cert-dir ${this.directory}: ${(error as Error).message}. Name a directory that this user may write to.`,
      );
    }
  }
}
