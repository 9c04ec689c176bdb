/**
 * Tokens of service accounts: JSON Web Tokens that the server issues, and takes as credentials until they expire, or
 * until the account, or the object that they are bound to, is gone.
 * Source: RFC 7519; the published server's claims, validator and lifetimes.
 */
import { decodeBase64Url, encodeBase64Url } from "../../../wire/base64.ts";
import { encodeJson } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { unixSeconds } from "../../contract/times.ts";
import type { Proven, User } from "./authenticate.ts";
import type { TokenSigner } from "./token-signer.ts";
import { decodedPart } from "./tokens/compact-token.ts";

export interface ServiceAccountTokenPorts {
  readonly signer: TokenSigner;
  readonly issuer: string;
  /** For whom a token must be that is shown to this server itself. */
  readonly audiences: readonly string[];
  /** Prefix of the private claim and of a user's extra fields: `svc.io` or `kubernetes.io`. */
  readonly labelSuffix: string;
  nowSeconds(): number;
  /** Of the core group, as stored. `namespace` is empty for a node. Undefined when there is none. */
  stored(resource: BoundResource | "serviceaccounts", namespace: string, name: string): JsonObject | undefined;
}

export type BoundResource = "pods" | "secrets" | "nodes";

export interface Reference {
  readonly name: string;
  readonly uid: string;
}

/** Whom and what a token is for. */
export interface TokenGrant {
  readonly namespace: string;
  readonly account: Reference;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** A token that is bound to a pod also names its node. */
  readonly bound: Partial<Readonly<Record<BoundResource, Reference>>>;
  /** Names this one token. */
  readonly id: string;
}

const claimNames: Readonly<Record<BoundResource, string>> = { pods: "pod", secrets: "secret", nodes: "node" };
/** Characters of a token that is read in steps. */
const longTokenMin = 65_536;
/** After its deletion has begun, an object's tokens stay good for as long: it may have to say goodbye. */
const goodbyeSeconds = 60;

/** A token of a front-end whose clock is ahead is good at once: the real server's library has this leeway. */
const skewSecondsMax = 60;

export class ServiceAccountTokens {
  readonly ports: ServiceAccountTokenPorts;

  constructor(ports: ServiceAccountTokenPorts) {
    this.ports = ports;
  }

  /** In steps: the audiences may be a hundred thousand. Only where the signer is prepared. */
  *issuing(grant: TokenGrant): Generator<void, string> {
    const { signer, issuer, labelSuffix, nowSeconds } = this.ports;
    const { namespace, account, audiences, expirationSeconds, bound, id } = grant;
    const now = nowSeconds();
    const objects = Object.entries(bound).map(([resource, ref]) => [claimNames[resource as BoundResource], ref]);
    const claims = {
      aud: audiences,
      exp: now + expirationSeconds,
      iat: now,
      iss: issuer,
      jti: id,
      [labelSuffix]: { namespace, ...Object.fromEntries(objects), serviceaccount: account },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${account.name}`,
    };
    const head = encoded(encodeJson({ alg: signer.algorithm, kid: signer.keyId, typ: "JWT" }));
    const said = encodeJson(claims);
    yield;
    const input = `${head}.${encoded(said)}`;
    yield;
    return `${input}.${encodeBase64Url(signer.sign(bytes(input)))}`;
  }

  /** Whose a token is, if it is good for one of the audiences `asked` (none: this server's own). A long one is read in steps. */
  *reading(token: string, asked: readonly string[]): Generator<void, Proven | undefined> {
    const claims = yield* this.verifying(token);
    if (claims === undefined) return undefined;
    const wanted = asked.length === 0 ? this.ports.audiences : asked;
    const audiences = shared(wanted, claims["aud"] as readonly unknown[]);
    const user = audiences.length === 0 ? undefined : this.userOf(claims);
    return user === undefined ? undefined : { user, audiences };
  }

  /** The claims of a token of ours, in its time. */
  private *verifying(token: string): Generator<void, JsonObject | undefined> {
    const { signer, issuer, nowSeconds } = this.ports;
    const [head = "", body = "", signature = "", ...more] = token.split(".", 4);
    const proof = decodeBase64Url(signature);
    if (more.length > 0 || !(proof instanceof Uint8Array)) return undefined;
    const isLong = token.length >= longTokenMin;
    const header = decodedPart(head);
    if (isLong) yield;
    if (header?.["alg"] !== signer.algorithm || header["kid"] !== signer.keyId) return undefined;
    if (!signer.verify(bytes(`${head}.${body}`), proof)) return undefined;
    if (isLong) yield;
    const claims = decodedPart(body);
    if (isLong) yield;
    if (claims === undefined || claims["iss"] !== issuer || !Array.isArray(claims["aud"])) return undefined;
    const now = nowSeconds();
    return now < (claims["exp"] as number) && now >= (claims["nbf"] as number) - skewSecondsMax ? claims : undefined;
  }

  /** Undefined when the account, or what the token is bound to, is no longer the one that it was issued for. */
  private userOf(claims: JsonObject): User | undefined {
    const { labelSuffix } = this.ports;
    const own = claims[labelSuffix];
    if (!isObject(own) || !isObject(own["serviceaccount"])) return undefined;
    const namespace = own["namespace"] as string;
    const account = own["serviceaccount"] as unknown as Reference;
    if (!this.isThere("serviceaccounts", namespace, account)) return undefined;
    const extra: Record<string, readonly string[]> = {};
    const key = (name: string): string => `authentication.${labelSuffix}/${name}`;
    extra[key("credential-id")] = [`JTI=${claims["jti"] as string}`];
    for (const [resource, claim] of Object.entries(claimNames) as [BoundResource, string][]) {
      const ref = own[claim] as unknown as Reference | undefined;
      if (ref === undefined) continue;
      // A pod's node is told and not looked for: the pod ends with it.
      const checked = resource !== "nodes" || own["pod"] === undefined;
      if (checked && !this.isThere(resource, resource === "nodes" ? "" : namespace, ref)) return undefined;
      if (resource === "secrets") continue;
      extra[key(`${claim}-name`)] = [ref.name];
      extra[key(`${claim}-uid`)] = [ref.uid];
    }
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    return { name: claims["sub"] as string, uid: account.uid, groups, extra };
  }

  private isThere(resource: BoundResource | "serviceaccounts", namespace: string, { name, uid }: Reference): boolean {
    const found = this.ports.stored(resource, namespace, name);
    if (found === undefined) return false;
    const { uid: present, deletionTimestamp } = metadataOf(found);
    if (present !== uid) return false;
    return deletionTimestamp === undefined || this.ports.nowSeconds() < unixSeconds(deletionTimestamp) + goodbyeSeconds;
  }
}

/** Both lists are as long as somebody likes. */
function shared(wanted: readonly string[], held: readonly unknown[]): readonly string[] {
  const lookup = held.length <= searchedMax ? undefined : new Set(held);
  return wanted.filter((audience) => lookup?.has(audience) ?? held.includes(audience));
}

/** A longer list is looked up. */
const searchedMax = 8;

const utf8 = new TextEncoder();
const bytes = (text: string): Uint8Array => utf8.encode(text);
const encoded = (text: string): string => encodeBase64Url(bytes(text));
