/** A thread that asks a process for a sign of life without a pause, whatever the thread that attacks it is busy with. */
import { Agent, request } from "node:http";
import { Agent as SecureAgent, request as requestSecurely } from "node:https";
import { parentPort, workerData } from "node:worker_threads";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, credentials } from "@grpc/grpc-js";

const address = workerData as string;
let longestMillis = 0;
let isOver = false;
parentPort?.once("message", () => (isOver = true));

interface Heart {
  readonly beat: () => Promise<void>;
  readonly stop: () => void;
}

function http(): Heart {
  const url = new URL("/healthz", address);
  const isSecure = url.protocol === "https:";
  // A server that is attacked has a certificate made for itself.
  const agent = isSecure
    ? new SecureAgent({ keepAlive: true, rejectUnauthorized: false })
    : new Agent({ keepAlive: true });
  const send = isSecure ? requestSecurely : request;
  return {
    beat: () =>
      new Promise((resolve) => {
        const asked = send(url, { agent }, (answer) => answer.resume().once("close", resolve));
        asked.once("error", () => resolve());
        asked.end();
      }),
    stop: () => agent.destroy(),
  };
}

function grpc(): Heart {
  const client = new Client(address, credentials.createInsecure());
  const empty = Buffer.alloc(0);
  return {
    beat: () =>
      new Promise((resolve) => {
        client.makeUnaryRequest<Buffer, Buffer>(
          "/runtime.v1.RuntimeService/Version",
          (bytes) => bytes,
          (bytes) => bytes,
          empty,
          { deadline: Date.now() + 120_000 },
          () => resolve(),
        );
      }),
    stop: () => client.close(),
  };
}

const { beat, stop } = address.startsWith("unix:") ? grpc() : http();
await beat();
parentPort?.postMessage("begun");
while (!isOver) {
  const began = performance.now();
  await beat();
  longestMillis = Math.max(longestMillis, performance.now() - began);
  await sleep(5);
}
parentPort?.postMessage(longestMillis);
stop();
