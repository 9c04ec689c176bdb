/**
 * Asks issuers of tokens for documents over HTTPS, for a server that runs in real time. An issuer is always called
 * directly, whatever the egress selection says. Source: document 2, Issuer, url.
 */
import { request } from "node:https";
import { readAnswer } from "./outside-answers.ts";
import type { IssuerAnswer, IssuerCaller } from "../apiserver/access/tokens/issuer-keys.ts";
import { paceSocket } from "./paced-socket.ts";

/** A key set of thousands of keys; whoever says more is no issuer. */
const answerBytesMax = 1024 * 1024;

/** `turn` runs what comes from outside as an event of the server. */
export function httpsIssuerCaller(turn: (work: () => void) => void): IssuerCaller {
  return ({ url, certificateAuthority }, done) => {
    let isOver = false;
    const end = (answer: IssuerAnswer): void => {
      if (isOver) return;
      isOver = true;
      turn(() => done(answer));
    };
    const trust = certificateAuthority === undefined ? {} : { ca: certificateAuthority };
    const outgoing = opened(url, trust, (error) => queueMicrotask(() => end({ error: error.message })));
    outgoing?.on("response", (incoming) =>
      readAnswer(incoming, {
        outgoing,
        bytesMax: answerBytesMax,
        done: end,
        failed: ({ message }) => end({ error: message }),
      }),
    );
    outgoing?.on("socket", (socket) => paceSocket(socket));
    outgoing?.on("error", ({ message }) => end({ error: message }));
    outgoing?.end();
    return () => {
      isOver = true;
      outgoing?.destroy();
    };
  };
}

/** An address, or certificates, that cannot be used at all throw. */
function opened(url: string, trust: { readonly ca?: string }, failed: (error: Error) => void) {
  try {
    return request(url, { agent: false, headers: { accept: "application/json" }, ...trust });
  } catch (error) {
    failed(error as Error);
    return undefined;
  }
}
