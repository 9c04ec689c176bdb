/**
 * Calls webhooks over HTTPS, for a server that runs in real time. A configuration's certificates are trusted instead
 * of the system's. A service is called by its name in the cluster's DNS: where nobody resolves that, the call fails.
 */
import type { ClientRequest } from "node:http";
import { request } from "node:https";
import type { WebhookAnswer, WebhookCall, WebhookCaller } from "../apiserver/admission/webhooks.ts";
import { type Dialer, type Dialers, throughDialer } from "./egress/dialer.ts";
import { readAnswer } from "./outside-answers.ts";
import { paceSocket } from "./paced-socket.ts";
import { bodyPieces } from "./outside-bodies.ts";
import { outsideLine } from "./outside-line.ts";

/** An answer is read up to this; a webhook that says more has failed. */
const answerBytesMax = 3 * 1024 * 1024;

/** To begin a connection, with its certificates, takes as long as to look at so many bytes. */
const beginBytes = 32 * 1024;

/** `turn` runs what comes from outside as an event of the server. A service is in the cluster; a URL may be anywhere. */
export function httpsWebhookCaller(turn: (work: () => void) => void, dialers: Dialers = {}): WebhookCaller {
  return (call, done) => {
    let isOver = false;
    let outgoing: ClientRequest | undefined;
    const end = (answer: WebhookAnswer): void => {
      if (isOver) return;
      isOver = true;
      turn(() => done(answer));
    };
    function* begin(): Generator<number, void> {
      const pieces = yield* bodyPieces(call);
      if (isOver) return;
      try {
        const dial = call.service === undefined ? dialers.controlplane : dialers.cluster;
        outgoing = post(call, pieces, dial, end);
      } catch (error) {
        end(broken(call.url, error as Error)); // an address or certificates that cannot be used at all
      }
      yield beginBytes;
    }
    const cancelWork = outsideLine.add(begin());
    return () => {
      isOver = true;
      cancelWork();
      outgoing?.destroy();
    };
  };
}

function post(
  { url, caBundle, headers = {} }: WebhookCall,
  pieces: readonly Buffer[],
  dial: Dialer | undefined,
  end: (answer: WebhookAnswer) => void,
): ClientRequest {
  const outgoing = request(
    url,
    {
      method: "POST",
      ...throughDialer(dial, true),
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        "content-length": pieces.reduce((sum, { length }) => sum + length, 0),
        ...headers,
      },
      ...(caBundle === undefined ? {} : { ca: caBundle }),
    },
    (incoming) =>
      readAnswer(incoming, {
        outgoing,
        bytesMax: answerBytesMax,
        done: end,
        failed: (error) => end(broken(url, error)),
      }),
  );
  outgoing.on("socket", (socket) => paceSocket(socket));
  outgoing.on("error", (error) => end(broken(url, error)));
  send(outgoing, pieces);
  return outgoing;
}

/** A piece at a time: what a connection has not taken yet is shared with all others. */
function send(outgoing: ClientRequest, pieces: readonly Buffer[]): void {
  let at = 0;
  const goOn = (): void => {
    while (at < pieces.length) {
      if (outgoing.write(pieces[at++] as Buffer)) continue;
      outgoing.once("drain", goOn);
      return;
    }
    outgoing.end();
  };
  goOn();
}

const broken = (url: string, error: Error): WebhookAnswer => ({ error: `Post "${url}": ${error.message}` });
