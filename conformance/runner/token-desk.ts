/** The suite as an issuer of tokens: its discovery and keys, for every authenticator of its file, and the tokens themselves. */
import { encodeBase64Url } from "../../wire/base64.ts";
import type { AccessHosts, Reply, TokenSigner } from "../../wire/ports.ts";
import type { Answer } from "../client/exchange.ts";
import type { Client } from "../client/client.ts";
import type { JsonObject } from "../client/types.ts";
import type { Dialect } from "../../wire/dialect.ts";
import { discoveryPaths, type IssuerName, issuerNames, issuerUrl } from "../model/access-files.ts";
import { farFutureSeconds } from "../model/token-law.ts";

type IssuerHost = NonNullable<AccessHosts["issuer"]>;

export class TokenDesk {
  readonly url: string;
  readonly signer: TokenSigner;
  /** Signs for the issuer `elsewhere`, and for no other. */
  readonly stranger: TokenSigner;
  /** Sign for the issuer `rotating`: the one whose key it shows, and the one before. */
  private rotating: { readonly current: TokenSigner; readonly past: TokenSigner };
  private serial = 0;
  /** How often each path was asked for. */
  private readonly askedCounts = new Map<string, number>();
  private readonly stops: (() => void)[] = [];

  constructor({ host, signer, stranger, successor }: IssuerHost) {
    this.url = host.url;
    this.signer = signer;
    this.stranger = stranger;
    this.rotating = { current: signer, past: successor };
    for (const name of issuerNames) {
      const issuer = name === "misnamed" ? this.issuer("claims") : this.issuer(name);
      const keysOf = (): readonly TokenSigner["key"][] => [this.signerOf(name).key];
      const discovery = {
        issuer,
        jwks_uri: `${this.url}/${name}/keys`,
        id_token_signing_alg_values_supported: [signer.algorithm],
      };
      this.serve(host, this.discoveryPath(name), () => discovery);
      this.serve(host, `/${name}/keys`, () => ({ keys: keysOf() }));
    }
  }

  issuer(name: IssuerName): string {
    return issuerUrl(this.url, name);
  }

  discoveryPath(name: IssuerName): string {
    return discoveryPaths[name] ?? `/${name}/.well-known/openid-configuration`;
  }

  askedCount(path: string): number {
    return this.askedCounts.get(path) ?? 0;
  }

  /** Whether the target has called at all. */
  get isCalled(): boolean {
    return this.askedCounts.size > 0;
  }

  /** What every authenticator wants of a token of its issuer. */
  goodClaims(name: IssuerName): JsonObject {
    const envelope = { iss: this.issuer(name), aud: "touchstone", exp: farFutureSeconds, iat: 1_600_000_000 };
    return { ...envelope, ...goodClaims[name] };
  }

  /** A claim that is undefined is left out. */
  token(name: IssuerName, claims: JsonObject = this.goodClaims(name)): string {
    return signed(this.signerOf(name), claims);
  }

  /** From now on `rotating` shows the other key, and no other. */
  rotate(): void {
    this.rotating = { current: this.rotating.past, past: this.rotating.current };
  }

  /** Each is another token: what a target remembers of one says nothing of the next. */
  rotatingToken(by: "current" | "past"): string {
    this.serial += 1;
    return signed(this.rotating[by], { ...this.goodClaims("rotating"), jti: `rotating-${this.serial}` });
  }

  private signerOf(name: IssuerName): TokenSigner {
    if (name === "rotating") return this.rotating.current;
    return name === "elsewhere" ? this.stranger : this.signer;
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private serve(host: IssuerHost["host"], path: string, body: () => unknown): void {
    const reply = (): Reply => {
      this.askedCounts.set(path, this.askedCount(path) + 1);
      return { status: 200, body: body() };
    };
    this.stops.push(host.answer(path, reply));
  }
}

const goodClaims: Readonly<Record<IssuerName, JsonObject>> = {
  claims: { sub: "jane", uid: "u-1", tenant: "touchstone", suspended: "", groups: ["dev"] },
  expressions: { sub: "jane", id: "e-1", plan: "paid", roles: ["dev"], team: "blue" },
  email: { email: "jane@example.com", email_verified: true },
  "email-claim": { email: "jane@example.com", email_verified: true },
  elsewhere: { sub: "jane" },
  rotating: { sub: "jane" },
  misnamed: { sub: "jane" },
  untrusted: { sub: "jane" },
};

const utf8 = new TextEncoder();

export const jsonPart = (value: unknown): string => encodeBase64Url(utf8.encode(JSON.stringify(value)));

/** A compact token, RFC 7515, 7.1; `header` adds to what the header says. */
export function signed({ algorithm, key, sign }: TokenSigner, claims: JsonObject, header: JsonObject = {}): string {
  const input = `${jsonPart({ alg: algorithm, kid: key["kid"], typ: "JWT", ...header })}.${jsonPart(claims)}`;
  return `${input}.${encodeBase64Url(sign(utf8.encode(input)))}`;
}

/** Whom the target takes the holder of a token for. */
export function whoHolds(client: Client, dialect: Dialect, token: string): Promise<Answer> {
  const apiVersion = `authentication.${dialect.groupSuffix}/v1`;
  const body = { apiVersion, kind: "SelfSubjectReview" };
  return client.request("POST", `/apis/${apiVersion}/selfsubjectreviews`, { body, as: { token } });
}
