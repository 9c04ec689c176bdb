/**
 * The keys of one issuer: found by discovery, kept, and asked for again when a token names a key that is not among them.
 * Source: OpenID Connect Discovery 1.0 (4.3: the issuer must be the one asked for); document 2, Issuer.
 *
 * A key that is not there costs a call at most now and then, so that nobody can make the server call its issuer by
 * inventing names of keys; for as long as such a call lasts, tokens of the issuer wait for it.
 */
import type { IssuerSettings } from "../../../configuration/authentication.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";
import type { Cancel, Clock, Micros } from "../../../kernel/types.ts";
import type { KeyReader, VerificationKey } from "./verification-keys.ts";

export interface IssuerCall {
  readonly url: string;
  /** PEM; undefined: those that the machine trusts. */
  readonly certificateAuthority: string | undefined;
}

export type IssuerAnswer = { readonly status: number; readonly body: unknown } | { readonly error: string };

/** Gets a JSON document over HTTPS, past any proxy. Never calls `done` before it returns. */
export type IssuerCaller = (call: IssuerCall, done: (answer: IssuerAnswer) => void) => Cancel;

export interface IssuerPorts {
  readonly clock: Clock;
  readonly call: IssuerCaller;
  readonly readKey: KeyReader;
  /** Keys have changed: what was verified by the old ones counts no more. */
  readonly changed: () => void;
  readonly log: (line: string) => void;
}

const callMicrosMax: Micros = 10_000_000;
/** Kept keys are asked for again after this, in the background; and are good for as long as no answer comes, up to the other. */
const freshMicros: Micros = 300_000_000;
const keptMicrosMax: Micros = 3_600_000_000;
/** Calls that may follow each other closely; afterwards one in each pause. */
const burstMax = 5;
const pauseMicros: Micros = 1_000_000;
const keysMax = 1_000;

type Waiting = (keys: readonly VerificationKey[]) => void;

export class IssuerKeys {
  private readonly ports: IssuerPorts;
  private readonly issuer: IssuerSettings;
  private keys: readonly VerificationKey[] = [];
  private readMicros: Micros = -1;
  private callsLeft = burstMax;
  private countedMicros: Micros;
  private readonly waiting = new Set<Waiting>();
  private stopCall: Cancel | undefined;

  constructor(issuer: IssuerSettings, ports: IssuerPorts) {
    this.issuer = issuer;
    this.ports = ports;
    this.countedMicros = ports.clock.nowMicros();
  }

  /** The keys at hand, which are good for now. */
  current(): readonly VerificationKey[] {
    if (this.readMicros < 0) return [];
    const age = this.ports.clock.nowMicros() - this.readMicros;
    if (age >= freshMicros) this.refresh();
    return age < keptMicrosMax ? this.keys : [];
  }

  /** The keys after they have been asked for again; those at hand when it is too soon for that. */
  renewed(done: Waiting): Cancel {
    this.refresh();
    if (this.stopCall === undefined) {
      done(this.current());
      return () => {};
    }
    this.waiting.add(done);
    return () => this.waiting.delete(done);
  }

  stop(): void {
    this.stopCall?.();
    this.stopCall = undefined;
    this.waiting.clear();
  }

  private refresh(): void {
    if (this.stopCall !== undefined || !this.mayCall()) return;
    const { url, discoveryUrl } = this.issuer;
    const document = discoveryUrl ?? `${url.replace(/\/$/, "")}/.well-known/openid-configuration`;
    this.get(document, (body) => {
      const keysUrl = this.keysUrl(body, document);
      if (keysUrl !== undefined) this.get(keysUrl, (set) => this.take(set, keysUrl));
    });
  }

  private mayCall(): boolean {
    const now = this.ports.clock.nowMicros();
    const earned = Math.floor((now - this.countedMicros) / pauseMicros);
    this.callsLeft = Math.min(burstMax, this.callsLeft + earned);
    this.countedMicros += earned * pauseMicros;
    if (this.callsLeft === 0) return false;
    this.callsLeft--;
    return true;
  }

  /** One call of the two; whatever fails ends both. */
  private get(url: string, next: (body: unknown) => void): void {
    const { call, clock } = this.ports;
    const { certificateAuthority } = this.issuer;
    const stop = (): void => {
      cancel();
      late();
    };
    const late = clock.after(callMicrosMax, () => {
      cancel();
      this.end(`${url}: no answer within ${callMicrosMax / 1_000_000} s`);
    });
    const cancel = call({ url, certificateAuthority }, (answer) => {
      if (this.stopCall !== stop) return;
      late();
      if ("error" in answer) this.end(`${url}: ${answer.error}`);
      else if (answer.status !== 200) this.end(`${url}: the answer has the status ${answer.status}`);
      else next(answer.body);
    });
    this.stopCall = stop;
  }

  private keysUrl(body: unknown, document: string): string | undefined {
    if (!isObject(body)) return this.end(`${document}: the answer is no JSON object`);
    const { issuer, jwks_uri: keysUrl } = body;
    if (issuer !== this.issuer.url) {
      return this.end(`${document}: its issuer is ${JSON.stringify(issuer)}, not ${JSON.stringify(this.issuer.url)}`);
    }
    if (typeof keysUrl === "string" && keysUrl.startsWith("https://")) return keysUrl;
    return this.end(`${document}: jwks_uri is no https URL`);
  }

  private take(set: unknown, url: string): void {
    const rows = isObject(set) ? set["keys"] : undefined;
    if (!Array.isArray(rows)) {
      this.end(`${url}: the answer is no key set`);
      return;
    }
    this.keys = (rows as readonly unknown[]).slice(0, keysMax).flatMap((row) => {
      const key = isObject(row) ? this.ports.readKey(row as JsonObject) : undefined;
      return key === undefined ? [] : [key];
    });
    this.readMicros = this.ports.clock.nowMicros();
    this.ports.changed();
    this.end(undefined);
  }

  /** The call is over: whoever waits gets what there is. */
  private end(problem: string | undefined): undefined {
    this.stopCall = undefined;
    if (problem !== undefined) this.ports.log(`issuer ${this.issuer.url}: ${problem}`);
    const waiting = [...this.waiting];
    this.waiting.clear();
    const keys = this.current();
    for (const done of waiting) done(keys);
    return undefined;
  }
}
