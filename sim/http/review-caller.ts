/** Sends reviews to an authorization webhook over HTTP or HTTPS, for a server that runs in real time. */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { encodeJson } from "../../wire/go-strings.ts";
import type { ReviewAnswer, ReviewCaller } from "../apiserver/access/webhooks/webhook-authorizer.ts";
import { type Dialer, serverName, throughDialer } from "./egress/dialer.ts";
import { readAnswer } from "./outside-answers.ts";
import { paceSocket } from "./paced-socket.ts";

/** Where a webhook is, and how it knows the server. As a connection file, or a pod's surroundings, say it. */
export interface ReviewTarget {
  readonly url: string;
  /** PEM; undefined: those that the machine trusts. */
  readonly authority: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
  readonly tlsServerName: string | undefined;
  readonly token: string | undefined;
  readonly clientCertificate: { readonly certificate: string; readonly key: string } | undefined;
}

/** A review is small; whoever says more than this has something else to say. */
const answerBytesMax = 1024 * 1024;

/** `turn` runs what comes from outside as an event of the server. */
export function reviewCaller(target: ReviewTarget, turn: (work: () => void) => void, dial?: Dialer): ReviewCaller {
  const secure = target.url.startsWith("https:");
  const fixed = {
    method: "POST",
    ...throughDialer(dial, secure),
    ...(secure ? tlsOf(target) : {}),
  };
  return (body, done, extra = {}) => {
    const bytes = Buffer.from(encodeJson(body));
    let isOver = false;
    const end = (answer: ReviewAnswer): void => {
      if (isOver) return;
      isOver = true;
      turn(() => done(answer));
    };
    const broken = ({ message }: Error): void => end({ error: `Post "${target.url}": ${message}` });
    const headers = {
      "content-type": "application/json",
      accept: "application/json",
      "content-length": bytes.length,
      ...extra,
      ...(target.token === undefined ? {} : { authorization: `Bearer ${target.token}` }),
    };
    const outgoing = (secure ? requestHttps : requestHttp)(target.url, { ...fixed, headers }, (incoming) =>
      readAnswer(incoming, { outgoing, bytesMax: answerBytesMax, done: end, failed: broken }),
    );
    outgoing.on("socket", (socket) => paceSocket(socket));
    outgoing.on("error", broken);
    outgoing.end(bytes);
    return () => {
      isOver = true;
      outgoing.destroy();
    };
  };
}

function tlsOf({ url, authority, insecureSkipTlsVerify, tlsServerName, clientCertificate }: ReviewTarget): object {
  return {
    ...(authority === undefined ? {} : { ca: authority }),
    ...(insecureSkipTlsVerify ? { rejectUnauthorized: false } : {}),
    ...(tlsServerName === undefined ? serverName(new URL(url).hostname) : { servername: tlsServerName }),
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate.certificate, key: clientCertificate.key }),
  };
}
