/**
 * An issuer of tokens on virtual time: discovery, a key set, tokens. Its keys are EdDSA and come from the run's own
 * stream, so that a seed has always the same tokens. It can be slow, wrong or down, and it can change its keys.
 * Source: OpenID Connect Discovery 1.0; RFC 7515, RFC 8037.
 *
 * Simplification: no flows by which a person would get a token; whoever holds the component asks it for one.
 */
import { encodeBase64Url } from "../../wire/base64.ts";
import type { IssuerAnswer, IssuerCall, IssuerCaller } from "../apiserver/access/tokens/issuer-keys.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros, Prng, Process } from "../kernel/types.ts";
import { type PortableSigner, portableSigner } from "./portable-signer.ts";

export interface TokenIssuerBehaviour {
  /** From a call to its answer. */
  readonly delayMicros: Micros;
  /** `down`: nobody answers. `wrong-issuer`: discovery names another. `no-keys`: the set is empty. `broken`: 500. */
  readonly mood: "well" | "down" | "wrong-issuer" | "no-keys" | "broken";
}

interface SigningKey {
  readonly keyId: string;
  readonly signer: PortableSigner;
}

const wellKnown = "/.well-known/openid-configuration";

export class TokenIssuer {
  readonly url: string;
  behaviour: TokenIssuerBehaviour = { delayMicros: 1_000, mood: "well" };
  /** Calls that have come in. */
  callCount = 0;
  private readonly prng: Prng;
  private keyCount = 0;
  private key: SigningKey;

  /** `url` as tokens say it in `iss`. */
  constructor(url: string, prng: Prng) {
    this.url = url;
    this.prng = prng.stream("issuer keys");
    this.key = this.made();
  }

  /** From now on tokens are signed by another key, and the set holds no other. */
  rotate(): void {
    this.key = this.made();
  }

  /** A token with these claims beside `iss`, which they may replace; `header` adds to what the header says. */
  token(claims: JsonObject, header: JsonObject = {}): string {
    const part = (value: JsonObject): string => encodeBase64Url(utf8.encode(JSON.stringify(value)));
    const head = { alg: "EdDSA", kid: this.key.keyId, typ: "JWT", ...header };
    const input = `${part(head)}.${part({ iss: this.url, ...claims })}`;
    return `${input}.${encodeBase64Url(this.key.signer.sign(utf8.encode(input)))}`;
  }

  answer({ url }: IssuerCall): IssuerAnswer {
    const { mood } = this.behaviour;
    if (mood === "broken") return { status: 500, body: undefined };
    if (url === `${this.url}${wellKnown}`) {
      const issuer = mood === "wrong-issuer" ? `${this.url}/other` : this.url;
      return { status: 200, body: { issuer, jwks_uri: `${this.url}/keys` } };
    }
    if (url === `${this.url}/keys`)
      return { status: 200, body: { keys: mood === "no-keys" ? [] : [this.publicKey()] } };
    return { status: 404, body: undefined };
  }

  private publicKey(): JsonObject {
    const { keyId, signer } = this.key;
    const x = encodeBase64Url(signer.publicKey);
    return { kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", kid: keyId, x };
  }

  private made(): SigningKey {
    const secret = new Uint8Array(32);
    const words = new DataView(secret.buffer);
    for (let at = 0; at < secret.length; at += 4) words.setUint32(at, this.prng.uint32());
    return { keyId: `key-${++this.keyCount}`, signer: portableSigner(secret) };
  }
}

const utf8 = new TextEncoder();

/** How a server in the same run calls its issuers: by the beginning of the URL, on the virtual clock. */
export function issuerCalls(process: Process, issuers: readonly TokenIssuer[]): IssuerCaller {
  return (call, done) => {
    const issuer = issuers.find(({ url }) => call.url.startsWith(`${url}/`));
    if (issuer === undefined) return process.clock.after(0, () => done({ error: "no such host" }));
    issuer.callCount++;
    const { delayMicros, mood } = issuer.behaviour;
    if (mood === "down") return () => {};
    return process.clock.after(delayMicros, () => done(issuer.answer(call)));
  };
}
