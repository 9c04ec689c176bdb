/**
 * Gets a certificate from the cluster and a new one before the old one ends: a key of its own, a request at the API
 * server, the wait until somebody has approved and signed it. One class for a node's client certificate and for the one
 * that its listener shows.
 *
 * Simplification: a request that nobody has signed after a quarter of an hour, or that was refused, is made anew with a
 * new key. The published agent first tries again with the key of its first request, which it has on its disk.
 * Source: document 3, --bootstrap-svcconfig, --rotate-certificates, --rotate-server-certificates; client-go,
 * util/certificate (a new one between 70 and 90 percent of the lifetime; waits of 2 s that double to 32 s).
 */
import { decodeBase64, encodeBase64 } from "../../../wire/base64.ts";
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { Cancel, Micros, Prng, Process } from "../../kernel/types.ts";
import { type SignerKind, signerName } from "../../kinds/certificates/signers.ts";
import type { AgentApi } from "../client/agent-api.ts";
import { sleep, type Task, wait, within } from "../task.ts";

/** A certificate with its key, in PEM, and the time it is good for. */
export interface HeldCertificate {
  readonly certificate: string;
  readonly privateKey: string;
  readonly notBeforeUnixMillis: number;
  readonly notAfterUnixMillis: number;
}

/** What a certificate is to say. */
export interface CertificateWish {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** DNS names and addresses. */
  readonly hosts: readonly string[];
}

/** Cryptography, which a simulation may do without. */
export interface CertificateMaker {
  /** A new key, and a request that it has signed; both in PEM. */
  request(wish: CertificateWish): { readonly request: string; readonly privateKey: string };
  /** Undefined: this is no certificate, or not one for that key. */
  read(certificate: string, privateKey: string): HeldCertificate | undefined;
}

export interface CertificateKeeperOptions {
  readonly process: Process;
  readonly api: Pick<AgentApi, "call" | "watch">;
  readonly dialect: Dialect;
  readonly maker: CertificateMaker;
  readonly purpose: "client" | "serving";
  readonly nodeName: string;
  /** What a serving certificate is for: names and addresses of the node. */
  readonly hosts: readonly string[];
  readonly warn: (line: string) => void;
  /** When a certificate is to be replaced. Default: when so much of its lifetime is over. */
  readonly dueMillis?: (held: HeldCertificate, permille: number) => number;
}

const second: Micros = 1_000_000;
const patienceMicros: Micros = 15 * 60 * second;
const retryMicrosMin: Micros = 2 * second;
const retryMicrosMax: Micros = 32 * second;
/** A clock that is put right is noticed within so long. */
const napMicrosMax: Micros = 600 * second;

const signers: Readonly<Record<CertificateKeeperOptions["purpose"], SignerKind>> = {
  client: "kube-apiserver-client-kubelet",
  serving: "kubelet-serving",
};
const purposes = { client: "client auth", serving: "server auth" } as const;

export class CertificateKeeper {
  private readonly options: CertificateKeeperOptions;
  private readonly path: string;
  private readonly prng: Prng;

  constructor(options: CertificateKeeperOptions) {
    this.options = options;
    this.prng = options.process.prng.stream(`${options.purpose} certificate`);
    this.path = `/apis/${groupInDialect(options.dialect, "certificates.svc.io")}/v1/certificatesigningrequests`;
  }

  /** For ever: tells each new certificate. `held` is what there is; undefined: nothing yet. */
  *keep(held: HeldCertificate | undefined, renewed: (made: HeldCertificate) => void): Task<never> {
    for (let current = held; ; ) {
      if (current !== undefined) yield* this.untilDue(current);
      current = yield* this.obtain();
      renewed(current);
    }
  }

  /** Until there is one. */
  *obtain(): Task<HeldCertificate> {
    const { process, purpose, warn } = this.options;
    let waitMicros = retryMicrosMin;
    for (;;) {
      const made = yield* within(process.clock, patienceMicros, this.attempt());
      if (made !== undefined && "certificate" in made) return made;
      warn(`${purpose} certificate: ${made?.error ?? "nobody has signed the request in time"}; trying again.`);
      yield* sleep(process.clock, waitMicros);
      waitMicros = Math.min(2 * waitMicros, retryMicrosMax);
    }
  }

  /** Sleeps until a certificate is to be replaced: some time between 70 and 90 percent of its lifetime. */
  private *untilDue(held: HeldCertificate): Task<void> {
    const { process, dueMillis = dueMillisOf } = this.options;
    const { clock } = process;
    const dueUnixMillis = dueMillis(held, this.prng.intInclusive(700, 900));
    for (;;) {
      const leftMicros = (dueUnixMillis - clock.epochUnixMillis) * 1000 - clock.nowMicros();
      if (leftMicros <= 0) return;
      yield* sleep(clock, Math.min(leftMicros, napMicrosMax));
    }
  }

  private *attempt(): Task<HeldCertificate | { readonly error: string }> {
    const { maker, nodeName, purpose, hosts, dialect, warn } = this.options;
    const wish = {
      commonName: `system:node:${nodeName}`,
      organizations: ["system:nodes"],
      hosts: purpose === "serving" ? hosts : [],
    };
    const { request, privateKey } = maker.request(wish);
    const body = {
      apiVersion: `${groupInDialect(dialect, "certificates.svc.io")}/v1`,
      kind: "CertificateSigningRequest",
      metadata: { generateName: "csr-" },
      spec: {
        request: encodeBase64(new TextEncoder().encode(request)),
        signerName: signerName(dialect, signers[purpose]),
        usages: ["digital signature", purposes[purpose]],
      },
    };
    const { status, object } = yield* this.call("POST", this.path, body);
    const { name } = object === undefined ? {} : metadataOf(object);
    if (status !== 201 || object === undefined || name === undefined)
      return { error: `the request was not taken: ${answerText(status, object)}` };
    warn(`${purpose} certificate: asked for by ${name}, which waits for approval.`);
    const issued = yield* this.issued(name, object);
    if ("error" in issued) return issued;
    return maker.read(issued.pem, privateKey) ?? { error: `what ${name} was answered is no certificate for its key` };
  }

  /** Follows the request until it is signed or refused. */
  private *issued(name: string, created: JsonObject): Task<{ readonly pem: string } | { readonly error: string }> {
    const path = `${this.path}/${encodeURIComponent(name)}`;
    for (let seen = created; ; ) {
      const decided = decision(name, seen);
      if (decided !== undefined) return decided;
      const next = yield* this.changed(name, seen);
      if (next !== undefined) {
        seen = next;
        continue;
      }
      yield* sleep(this.options.process.clock, second);
      const { status, object } = yield* this.call("GET", path);
      if (status === 404) return { error: `${name} has been deleted` };
      if (status === 200 && object !== undefined) seen = object;
    }
  }

  /** Its next state; undefined when the watch has ended without one. */
  private *changed(name: string, seen: JsonObject): Task<JsonObject | undefined> {
    const version = metadataOf(seen).resourceVersion ?? "";
    const selector = encodeURIComponent(`metadata.name=${name}`);
    const query = `fieldSelector=${selector}&resourceVersion=${version}&timeoutSeconds=300&watch=true`;
    return yield* wait<JsonObject | undefined>((resume) => {
      let isOver = false;
      let cancel: Cancel = () => {};
      const end = (next: JsonObject | undefined): void => {
        if (isOver) return;
        isOver = true;
        cancel();
        resume(next);
      };
      cancel = this.options.api.watch(this.path, query, {
        event: (type, object) => {
          if (type === "ADDED" || type === "MODIFIED") end(object);
          else if (type !== "BOOKMARK") end(undefined);
        },
        refused: () => end(undefined),
        ended: () => end(undefined),
      });
      if (isOver) cancel();
      return () => {
        isOver = true;
        cancel();
      };
    });
  }

  private *call(method: string, path: string, body?: JsonObject) {
    const { api } = this.options;
    return yield* wait<{ readonly status: number; readonly object: JsonObject | undefined }>((resume) => {
      let isOver = false;
      api.call({ method, path, ...(body === undefined ? {} : { body }) }, (answer) => {
        if (!isOver) resume(answer);
      });
      return () => {
        isOver = true;
      };
    });
  }
}

function dueMillisOf({ notBeforeUnixMillis, notAfterUnixMillis }: HeldCertificate, permille: number): number {
  return notBeforeUnixMillis + Math.floor(((notAfterUnixMillis - notBeforeUnixMillis) * permille) / 1000);
}

function decision(
  name: string,
  request: JsonObject,
): { readonly pem: string } | { readonly error: string } | undefined {
  const status = (request["status"] ?? {}) as {
    readonly conditions?: readonly JsonObject[];
    readonly certificate?: string;
  };
  const refused = status.conditions?.find(({ type }) => type === "Denied" || type === "Failed");
  if (refused !== undefined) {
    const why = [refused["reason"], refused["message"]].filter((part) => part !== undefined && part !== "").join(": ");
    return { error: `${name} is ${String(refused["type"]).toLowerCase()}${why === "" ? "" : ` (${why})`}` };
  }
  const { certificate } = status;
  if (certificate === undefined || certificate === "") return undefined;
  const pem = decodeBase64(certificate);
  return pem instanceof Uint8Array
    ? { pem: new TextDecoder("latin1").decode(pem) }
    : { error: `${name} is answered by no base64` };
}

function answerText(status: number, object: JsonObject | undefined): string {
  if (status === 0) return "no answer";
  const { message } = (object ?? {}) as { readonly message?: string };
  return message === undefined ? `status ${status}` : `${status}, ${message}`;
}
