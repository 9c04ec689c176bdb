/**
 * Calls webhooks over HTTPS, for a server that runs in real time. A configuration's certificates are trusted instead
 * of the system's. A service is called by its name in the cluster's DNS: where nobody resolves that, the call fails.
 */
import { request } from "node:https";
import { encodeJson } from "../../wire/go-strings.ts";
import type { WebhookAnswer, WebhookCall, WebhookCaller } from "../apiserver/admission/webhooks.ts";
import type { Cancel } from "../kernel/types.ts";
import { readWhole } from "./answer-body.ts";
import { type Dialer, type Dialers, throughDialer } from "./egress/dialer.ts";
import { paceSocket } from "./paced-socket.ts";

/** An answer is read up to this; a webhook that says more has failed. */
const answerBytesMax = 3 * 1024 * 1024;

/** `turn` runs what comes from outside as an event of the server. A service is in the cluster; a URL may be anywhere. */
export function httpsWebhookCaller(turn: (work: () => void) => void, dialers: Dialers = {}): WebhookCaller {
  return (call, done) => {
    try {
      const dial = call.service === undefined ? dialers.controlplane : dialers.cluster;
      return post(call, dial, turn, done);
    } catch (error) {
      done(broken(call.url, error as Error)); // an address or certificates that cannot be used at all
      return () => {};
    }
  };
}

function post(
  { url, caBundle, body, headers = {} }: WebhookCall,
  dial: Dialer | undefined,
  turn: (work: () => void) => void,
  done: (answer: WebhookAnswer) => void,
): Cancel {
  const bytes = Buffer.from(encodeJson(body));
  let isOver = false;
  const end = (answer: WebhookAnswer): void => {
    if (isOver) return;
    isOver = true;
    turn(() => done(answer));
  };
  const outgoing = request(
    url,
    {
      method: "POST",
      ...throughDialer(dial, true),
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        "content-length": bytes.length,
        ...headers,
      },
      ...(caBundle === undefined ? {} : { ca: caBundle }),
    },
    (incoming) => {
      readWhole(incoming, answerBytesMax, {
        whole: (body) => end({ status: incoming.statusCode ?? 0, body: parsed(body.joined()) }),
        tooLong: () => void outgoing.destroy(new Error(`the answer is longer than ${answerBytesMax} bytes`)),
        broken: (error) => end(broken(url, error)),
      });
    },
  );
  outgoing.on("socket", (socket) => paceSocket(socket));
  outgoing.on("error", (error) => end(broken(url, error)));
  outgoing.end(bytes);
  return () => {
    isOver = true;
    outgoing.destroy();
  };
}

const broken = (url: string, error: Error): WebhookAnswer => ({ error: `Post "${url}": ${error.message}` });

function parsed(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
