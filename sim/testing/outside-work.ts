/**
 * Finds work that leaves the run's world of events (compression, WebCrypto, files, DNS, sockets, real timers): its
 * end comes when the machine pleases, so a run that waits for it is not the same twice. Work that is announced with
 * a hold is welcome: time stands still until it is over.
 */
import { createHook } from "node:async_hooks";

const wrapIt = "Do it before the run, or wrap it: await cluster.outside(name, () => work())";
const handIn = `If a request was meant for the cluster, give its client cluster.fetch or cluster.dispatcher. ${wrapIt}`;
const lookUp = "Take it from globalThis or node:timers when it is needed, or import the module after createCluster()";

/** Names in Node's `async_hooks` of work done outside the process of events, what a person calls it, and what to do. */
const outsideWork: Readonly<Record<string, readonly [work: string, advice: string]>> = {
  CHECKPRIMEREQUEST: ["a prime check", wrapIt],
  CIPHERREQUEST: ["WebCrypto encryption", wrapIt],
  DERIVEBITSREQUEST: ["WebCrypto key derivation", wrapIt],
  FSREQCALLBACK: ["file access", wrapIt],
  FSREQPROMISE: ["file access", wrapIt],
  GETADDRINFOREQWRAP: ["a DNS look-up", handIn],
  GETNAMEINFOREQWRAP: ["a reverse DNS look-up", wrapIt],
  HASHREQUEST: ["a WebCrypto digest", wrapIt],
  KEYEXPORTREQUEST: ["WebCrypto key export", wrapIt],
  KEYGENREQUEST: ["key generation", wrapIt],
  KEYPAIRGENREQUEST: ["key generation", wrapIt],
  PBKDF2REQUEST: ["key derivation (PBKDF2)", wrapIt],
  PIPECONNECTWRAP: ["a connection to a unix socket", handIn],
  PROCESSWRAP: ["a child process", wrapIt],
  QUERYWRAP: ["a DNS query", handIn],
  RANDOMPRIMEREQUEST: ["a random prime", wrapIt],
  SCRYPTREQUEST: ["key derivation (scrypt)", wrapIt],
  SIGNREQUEST: ["a WebCrypto signature", wrapIt],
  TCPCONNECTWRAP: ["a TCP connection", handIn],
  TCPSERVERWRAP: ["a TCP server", wrapIt],
  Timeout: ["a real timer, taken before the cluster was created,", lookUp],
  UDPWRAP: ["a UDP socket", wrapIt],
  WORKER: ["a worker thread", wrapIt],
  ZLIB: ["compression", wrapIt],
};

/** Outside work that nobody announced. The message names the work, where it began and what to do. */
export class OutsideWorkError extends Error {
  readonly code = "outside-work";
  readonly work: string;
  /** `function (file:line:column)`, or what is known of it. */
  readonly caller: string;

  constructor(type: string, caller: string) {
    const [work, advice] = outsideWork[type] ?? [type, wrapIt];
    super(
      `${work} (${type}) began at ${caller} while time was passing. Its end lies outside the run, so the run would ` +
        `not repeat. ${advice}`,
    );
    this.name = "OutsideWorkError";
    this.work = work;
    this.caller = caller;
  }
}

export interface Watch {
  /** Whether outside work may begin now: no time is passing, or a hold is open. */
  readonly allowed: () => boolean;
  readonly found: (error: OutsideWorkError) => void;
  /** Called for every immediate, which is no outside work. */
  readonly immediateMade: () => void;
}

/** Watches until the returned function is called. */
export function watchOutsideWork({ allowed, found, immediateMade }: Watch): () => void {
  const hook = createHook({
    trackPromises: false,
    init(_id, type) {
      if (type === "Immediate") immediateMade();
      if (!Object.hasOwn(outsideWork, type) || allowed()) return;
      const frames = framesHere();
      if (!isInnocent(type, frames)) found(new OutsideWorkError(type, callerOf(frames)));
    },
  });
  hook.enable();
  return () => void hook.disable();
}

interface Frame {
  /** `node:fs`, or a path or URL; empty for what is compiled in. */
  readonly file: string;
  readonly name: string;
  /** Not running: it waits for the one before. */
  readonly waits: boolean;
  /** As a person reads it, source maps applied if the test runner does. */
  readonly text: string;
}

/** `framesHere`, and the hook that calls it. */
const ownFrames = 2;

/** What led to the work, innermost first, without ours and the hook's own machinery. */
function framesHere(): readonly Frame[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = 30;
  const lines = (new Error().stack ?? "").split("\n").filter((line) => /^ +at /.test(line));
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = new Error().stack as unknown as readonly NodeJS.CallSite[];
  Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  return sites
    .map((site, index) => ({
      file: site.getFileName() ?? "",
      name: site.getFunctionName() ?? "",
      waits: (site as unknown as { isAsync(): boolean }).isAsync(),
      text: lines[index]?.trim().replace(/^at (async )?/, "") ?? String(site),
    }))
    .slice(ownFrames)
    .filter(({ file }) => !file.startsWith("node:internal/async_hooks"));
}

/** `new Promise` and the like have no file. */
const isNodes = ({ file }: Frame): boolean => file === "" || file.startsWith("node:");

/**
 * Synchronous work has the same names and is over when it returns. A file's second step, which nobody calls, belongs
 * to a first that was seen, or that an earlier test did not wait for. Node's own timers (a socket's timeout) only
 * end what would have hung. A test runner's console and its clock are none of the run's.
 */
function isInnocent(type: string, frames: readonly Frame[]): boolean {
  const running = frames.filter(({ waits }) => !waits);
  const foreign = running.findIndex((frame) => !isNodes(frame));
  const nodes = foreign < 0 ? running : running.slice(0, foreign);
  if (nodes.some(({ name }) => /Sync$|^syncBufferWrapper$/.test(name))) return true;
  if (type.startsWith("FSREQ") && foreign < 0) return true;
  if (type === "Timeout" && !isTimersEntry(nodes.at(-1))) return true;
  return /node_modules\/(vitest|@vitest)\//.test(running[foreign]?.file ?? "");
}

const isTimersEntry = (frame: Frame | undefined): boolean =>
  frame !== undefined && (frame.file.startsWith("node:timers") || frame.name === "timeout");

const callerOf = (frames: readonly Frame[]): string =>
  frames.find((frame) => !isNodes(frame))?.text ?? "an unknown place (Node keeps no trace of it)";
