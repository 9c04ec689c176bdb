/**
 * Pods from files: one file, or a directory of them, read at once and then every so often. Names that begin with a dot are
 * skipped, and so are directories within. Source: document 3, What the service does 3; the facts, Pod sources.
 *
 * A bad file in a directory is as if it were not there, so that its old pod goes; a bad single file changes nothing; a path
 * that is missing has no pods.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import type { AgentBugs } from "../../planted/agent-bugs.ts";
import { readManifest, withoutDoubles } from "./static-pod.ts";

export type FilesRead =
  | { readonly is: "missing" }
  | { readonly is: "file"; readonly content: Uint8Array }
  | { readonly is: "directory"; readonly files: readonly { readonly name: string; readonly content: Uint8Array }[] }
  | { readonly is: "unreadable"; readonly why: string };

/** Reads a path: a file, or what lies in a directory but directories, sorted by name. `done` fires once, later. */
export type FilesReader = (path: string, done: (read: FilesRead) => void) => void;

export interface FileSourceOptions {
  readonly process: Process;
  readonly dialect: Dialect;
  readonly nodeName: string;
  readonly bugs: AgentBugs;
  readonly path: string;
  readonly everyMicros: Micros;
  readonly read: FilesReader;
  readonly replace: (pods: readonly JsonObject[]) => void;
  readonly dropped: (pod: JsonObject) => void;
  /** A line for the log. */
  readonly warn: (line: string) => void;
}

const fileBytesMax = 10 * 1024 * 1024;

export function startFileSource(options: FileSourceOptions): void {
  const { process, path, everyMicros, read } = options;
  const again = (): void => {
    read(path, (found) => {
      const pods = podsOf(options, found);
      if (pods !== undefined) options.replace(withoutDoubles(pods, options.dropped));
      process.clock.after(everyMicros, again);
    });
  };
  again();
}

/** Undefined: what is there stays. */
function podsOf(options: FileSourceOptions, found: FilesRead): readonly JsonObject[] | undefined {
  const { path, warn } = options;
  if (found.is === "missing") return [];
  if (found.is === "unreadable") {
    warn(`${path}: ${found.why}`);
    return undefined;
  }
  if (found.is === "file") return podsIn(options, path, found.content);
  const pods: JsonObject[] = [];
  for (const { name, content } of found.files) {
    if (name.startsWith(".")) continue;
    for (const pod of podsIn(options, `${path}/${name}`, content) ?? []) pods.push(pod);
  }
  return pods;
}

function podsIn(
  { nodeName, dialect, warn, bugs }: FileSourceOptions,
  place: string,
  content: Uint8Array,
): readonly JsonObject[] | undefined {
  if (content.length > fileBytesMax) {
    warn(`${place}: longer than ${fileBytesMax} bytes`);
    return undefined;
  }
  const manifest = readManifest(content, { source: "file", place }, nodeName, dialect, bugs);
  if (!("error" in manifest)) return manifest.pods;
  warn(`${place}: ${manifest.error}`);
  return undefined;
}
