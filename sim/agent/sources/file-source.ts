/**
 * Pods from files: one file, or a directory of them, read at once and then every so often; where the machine tells of changes, then
 * too. Names that begin with a dot are
 * skipped, and so are directories within. Source: document 3, What the service does 3; the facts, Pod sources.
 *
 * A bad file in a directory is as if it were not there, so that its old pod goes; a bad single file changes nothing, and neither does
 * one of which the machine tells, until the next look; a path that is missing has no pods.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Cancel, Micros, Process } from "../../kernel/types.ts";
import { kept, later, piece, turns } from "../piece.ts";
import { isSame, type Manifest, readManifest, type StaticPodLaw, withoutDoubles } from "./static-pod.ts";

export type FilesRead =
  | { readonly is: "missing" }
  | { readonly is: "file"; readonly content: Uint8Array }
  | { readonly is: "directory"; readonly files: readonly { readonly name: string; readonly content: Uint8Array }[] }
  | { readonly is: "unreadable"; readonly why: string };

/** Reads a path: a file, or what lies in a directory but directories, sorted by name. `done` fires once, later. */
export type FilesReader = (path: string, done: (read: FilesRead) => void) => void;

/** Calls back at each change there, as an event of the agent, until it is told not to. */
export type PathWatcher = (path: string, changed: () => void) => Cancel;

export interface FileSourceOptions {
  readonly process: Process;
  readonly dialect: Dialect;
  readonly nodeName: string;
  /** Asked anew at each manifest. */
  readonly law: () => StaticPodLaw;
  readonly path: string;
  readonly everyMicros: Micros;
  readonly read: FilesReader;
  /** Default: the machine tells of nothing. */
  readonly watch?: PathWatcher | undefined;
  readonly replace: (pods: readonly JsonObject[]) => void;
  readonly dropped: (pod: JsonObject) => void;
  /** A line for the log. */
  readonly warn: (line: string) => void;
}

/** Of one file. */
export const manifestBytesMax = 10 * 1024 * 1024;
/** Files that are read as manifests in one turn: so many, and so many bytes. */
const filesPerTurn = 16;
const bytesPerTurn = 256 * 1024;
/** A file that is being written tells of itself several times. */
const settleMicros: Micros = 50_000;

/** The pods of each file of a directory, by its name. */
type Known = ReadonlyMap<string, readonly JsonObject[]>;

/** What a file was found to say: the same bytes say the same. */
interface Reading {
  readonly content: Uint8Array;
  readonly law: StaticPodLaw;
  readonly manifest: Manifest;
}

export function startFileSource(options: FileSourceOptions): void {
  const { process, path, everyMicros, read, watch } = options;
  let known: Known = new Map();
  let readings: ReadonlyMap<string, Reading> = new Map();
  let isSettling = false;
  /** A later look has begun: what an earlier one still reads is old. */
  let lookCount = 0;
  const look = (keepsBad: boolean, done: () => void): void => {
    const number = ++lookCount;
    const heard = kept((found: FilesRead): void => {
      const seen = new Map<string, Reading>();
      const steps = podsOf(options, found, keepsBad ? known : new Map(), (name, content) => {
        const reading = readingOf(options, name, content, readings.get(name));
        seen.set(name, reading);
        return reading.manifest;
      });
      const goOn = (): void => {
        const { done: isDone, value: pods } = steps.next();
        if (isDone !== true) {
          process.clock.after(0, goOn);
          return;
        }
        if (number === lookCount) {
          readings = seen;
          if (pods !== undefined) {
            known = pods;
            options.replace(withoutDoubles([...pods.values()].flat(), options.dropped));
          }
        }
        done();
      };
      goOn();
    });
    read(path, heard);
  };
  const changed = (): void => {
    if (isSettling) return;
    later(process, settleMicros, () => {
      isSettling = false;
      piece(
        process,
        "pod-source",
        () => `changes of ${path}`,
        () => look(true, () => {}),
        () => {}, // the next look finds them
      );
    });
    isSettling = true;
  };
  let unwatch: Cancel = () => {};
  // What is watched may have been replaced: it is watched anew before each look.
  process.onCrash(() => unwatch());
  turns(process, "pod-source", `a look at ${path}`, everyMicros, (next) => {
    unwatch();
    unwatch = watch?.(path, changed) ?? unwatch;
    look(false, () => next(everyMicros));
  });
}

/** Undefined: what is there stays. `kept`: what bad files still stand for. Stops now and then. */
function* podsOf(
  options: FileSourceOptions,
  found: FilesRead,
  kept: Known,
  read: (name: string, content: Uint8Array) => Manifest,
): Generator<void, Known | undefined> {
  const { path, warn } = options;
  if (found.is === "missing") return new Map();
  if (found.is === "unreadable") {
    warn(`${path}: ${found.why}`);
    return undefined;
  }
  if (found.is === "file") {
    const own = podsIn(options, path, read("", found.content));
    return own === undefined ? undefined : new Map([["", own]]);
  }
  const pods = new Map<string, readonly JsonObject[]>();
  let [files, bytes] = [0, 0];
  for (const { name, content } of found.files) {
    if (name.startsWith(".")) continue;
    if (files >= filesPerTurn || bytes >= bytesPerTurn) {
      yield;
      [files, bytes] = [0, 0];
    }
    files++;
    bytes += content.length;
    const own = podsIn(options, `${path}/${name}`, read(name, content)) ?? kept.get(name);
    if (own !== undefined) pods.set(name, own);
  }
  return pods;
}

function podsIn({ warn }: FileSourceOptions, place: string, manifest: Manifest): readonly JsonObject[] | undefined {
  if (!("error" in manifest)) return manifest.pods;
  warn(`${place}: ${manifest.error}`);
  return undefined;
}

/** `name`: in the directory; "" for the path itself. */
function readingOf(
  { path, nodeName, dialect, law: askLaw }: FileSourceOptions,
  name: string,
  content: Uint8Array,
  before: Reading | undefined,
): Reading {
  const law = askLaw();
  if (before?.law === law && isSame(before.content, content)) return before;
  const place = name === "" ? path : `${path}/${name}`;
  const manifest =
    content.length > manifestBytesMax
      ? { error: `longer than ${manifestBytesMax} bytes` }
      : readManifest(content, { source: "file", place }, nodeName, dialect, law);
  return { content, law, manifest };
}
