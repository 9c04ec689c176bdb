/** A thread that asks a process for a sign of life without a pause, whatever the thread that attacks it is busy with. */
import { Agent, request } from "node:http";
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
  const agent = new Agent({ keepAlive: true });
  return {
    beat: () =>
      new Promise((resolve) => {
        const asked = request(url, { agent }, (answer) => answer.resume().once("close", resolve));
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
