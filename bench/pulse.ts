/** A thread that asks a server for a sign of life without a pause, whatever the thread that attacks it is busy with. */
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import { setTimeout as sleep } from "node:timers/promises";

const url = new URL("/healthz", workerData as string);
const agent = new Agent({ keepAlive: true });
let longestMillis = 0;
let isOver = false;
parentPort?.once("message", () => (isOver = true));

const beat = (): Promise<void> =>
  new Promise((resolve) => {
    const asked = request(url, { agent }, (answer) => answer.resume().once("close", resolve));
    asked.once("error", () => resolve());
    asked.end();
  });

parentPort?.postMessage("begun");
while (!isOver) {
  const began = performance.now();
  await beat();
  longestMillis = Math.max(longestMillis, performance.now() - began);
  await sleep(5);
}
parentPort?.postMessage(longestMillis);
agent.destroy();
