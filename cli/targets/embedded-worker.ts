/** A thread of the pool: runs the tasks that it is sent, one after another. A task that breaks ends the thread. */
import { parentPort } from "node:worker_threads";
import type { SuiteProgress } from "../../conformance/run-suite.ts";
import { type EmbeddedPart, type EmbeddedTask, runEmbeddedPart } from "./embedded-part.ts";

export type ToWorker = { readonly task: EmbeddedTask } | "stop";
export type FromWorker = { readonly progress: SuiteProgress } | { readonly done: EmbeddedPart };

const stopping = new AbortController();
const port = parentPort;
if (port === null) throw new Error("this file is the body of a worker thread");
const tell = (message: FromWorker): void => port.postMessage(message);

port.on("message", (message: ToWorker) => {
  if (message === "stop") {
    stopping.abort();
    return;
  }
  const told = runEmbeddedPart(message.task, stopping.signal, (progress) => tell({ progress }));
  // A rejection stays unhandled on purpose: it is then the thread's error, and reaches the pool with its stack.
  void told.then((done) => tell({ done }));
});
