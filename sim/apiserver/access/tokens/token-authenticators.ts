/**
 * Tokens of other issuers, as an AuthenticationConfiguration has it: the issuer that a token names is looked up, its
 * keys verify the signature, its rules make the user.
 * Source: document 2, AuthenticationConfiguration, Authentication 2; the facts, section 7, runtime order.
 *
 * A token that was accepted is remembered until it expires, or the keys or the file change: the same claims come to the
 * same user, so that only the first use pays for cryptography and expressions.
 */
import type { AuthenticationSettings, TokenAuthenticatorSettings } from "../../../configuration/authentication.ts";
import type { ConfigurationRules } from "../../../configuration/rules.ts";
import type { Cancel, Clock } from "../../../kernel/types.ts";
import type { TokenOutcome, TokenReader, User } from "../authenticate.ts";
import { claimedIssuer, type CompactToken, parseToken } from "./compact-token.ts";
import { type IssuerCaller, IssuerKeys } from "./issuer-keys.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { judgeClaims, type Refusal } from "./judge-claims.ts";
import type { KeyReader, VerificationKey } from "./verification-keys.ts";

export interface TokenAuthenticatorPorts {
  readonly clock: Clock;
  readonly rules: ConfigurationRules;
  readonly call: IssuerCaller;
  readonly readKey: KeyReader;
  readonly log: (line: string) => void;
  readonly readClaims?: ReadClaims | undefined;
}

/** What is judged of a token whose signature is right. */
export type ReadClaims = (claims: JsonObject, settings: TokenAuthenticatorSettings, nowSeconds: number) => JsonObject;

interface Member {
  readonly settings: TokenAuthenticatorSettings;
  readonly keys: IssuerKeys;
}

interface Remembered {
  readonly user: User;
  /** Of the claims. */
  readonly fromSeconds: number;
  readonly untilSeconds: number;
}

/** Tokens, not bytes: each is at most 64 KiB. */
const rememberedMax = 1_000;

const foreign: TokenOutcome = { is: "foreign" };
const nothing: Cancel = () => {};

export class TokenAuthenticators implements TokenReader {
  private readonly ports: TokenAuthenticatorPorts;
  private members: readonly Member[] = [];
  private remembered = new Map<string, Remembered>();

  constructor(settings: AuthenticationSettings["authenticators"], ports: TokenAuthenticatorPorts) {
    this.ports = ports;
    this.reload(settings);
  }

  /** Another file: nothing that the old one has accepted counts any more. Keys are asked for at once. */
  reload(settings: AuthenticationSettings["authenticators"]): void {
    for (const { keys } of this.members) keys.stop();
    this.remembered.clear();
    const { clock, call, readKey, log } = this.ports;
    const changed = (): void => this.remembered.clear();
    this.members = settings.map((row) => ({
      settings: row,
      keys: new IssuerKeys(row.issuer, { clock, call, readKey, changed, log }),
    }));
    for (const { keys } of this.members) keys.renewed(() => {});
  }

  /** Whose a token is. `done` is called before this returns when nothing has to be waited for. */
  read(text: string, done: (outcome: TokenOutcome) => void): Cancel {
    const known = this.recall(text);
    if (known !== undefined) {
      done({ is: "user", user: known });
      return nothing;
    }
    if (this.members.length === 0) {
      done(foreign);
      return nothing;
    }
    const token = parseToken(text);
    if ("error" in token) {
      done(foreign);
      return nothing;
    }
    const issuer = claimedIssuer(token);
    const member = this.members.find(({ settings }) => settings.issuer.url === issuer);
    if (member === undefined) {
      done(foreign);
      return nothing;
    }
    if (isVerified(token, member.keys.current())) {
      done(this.judged(text, token, member));
      return nothing;
    }
    return member.keys.renewed((keys) => {
      if (isVerified(token, keys)) done(this.judged(text, token, member));
      else done(this.refused(member, { why: "none of the issuer's keys verifies its signature", message: "" }));
    });
  }

  stop(): void {
    for (const { keys } of this.members) keys.stop();
  }

  private recall(text: string): User | undefined {
    const found = this.remembered.get(text);
    if (found === undefined) return undefined;
    const now = this.nowSeconds();
    if (now >= found.fromSeconds && now < found.untilSeconds) return found.user;
    this.remembered.delete(text);
    return undefined;
  }

  private judged(text: string, token: CompactToken, member: Member): TokenOutcome {
    const { rules, readClaims } = this.ports;
    const now = this.nowSeconds();
    const claims = readClaims?.(token.claims, member.settings, now) ?? token.claims;
    const judgement = judgeClaims(claims, member.settings, rules, now);
    if (judgement.is === "refused") return this.refused(member, judgement.refusal);
    const { exp, nbf } = claims;
    if (this.remembered.size >= rememberedMax) this.remembered.delete(this.remembered.keys().next().value as string);
    const fromSeconds = typeof nbf === "number" ? nbf : 0;
    this.remembered.set(text, { user: judgement.user, fromSeconds, untilSeconds: exp as number });
    return judgement;
  }

  private refused({ settings }: Member, refusal: Refusal): TokenOutcome {
    const { log, rules } = this.ports;
    log(`a token of ${settings.issuer.url} was refused: ${refusal.why}`);
    return { is: "refused", message: rules.refusalsSayWhy ? refusal.message : "" };
  }

  private nowSeconds(): number {
    const { clock } = this.ports;
    return (clock.epochUnixMillis + clock.nowMicros() / 1_000) / 1_000;
  }
}

/** By a key that the header names, or by any when it names none; never by one that is for another algorithm. */
function isVerified({ algorithm, keyId, input, signature }: CompactToken, keys: readonly VerificationKey[]): boolean {
  return keys.some(
    (key) =>
      (keyId === undefined || key.keyId === undefined || key.keyId === keyId) &&
      key.fits(algorithm) &&
      key.verify(algorithm, input, signature),
  );
}
