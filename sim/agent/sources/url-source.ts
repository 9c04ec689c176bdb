/**
 * Pods from a URL, asked every so often. What fails keeps what was there; an empty answer has no pods; the same bytes again
 * are not read again. Source: document 3, What the service does 3; the facts, Pod sources.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Cancel, Micros, Process } from "../../kernel/types.ts";
import { kept, turns } from "../piece.ts";
import { isSame, readManifest, type StaticPodLaw, withoutDoubles } from "./static-pod.ts";

export type Fetched = { readonly status: number; readonly body: Uint8Array } | { readonly error: string };

/** GET with these headers, in order. `done` fires once, later, unless it is cancelled. */
export type UrlFetcher = (
  url: string,
  headers: readonly (readonly [name: string, value: string])[],
  done: (fetched: Fetched) => void,
) => Cancel;

export interface UrlSourceOptions {
  readonly process: Process;
  readonly dialect: Dialect;
  readonly nodeName: string;
  /** Asked anew at each manifest. */
  readonly law: () => StaticPodLaw;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly everyMicros: Micros;
  readonly fetch: UrlFetcher;
  readonly replace: (pods: readonly JsonObject[]) => void;
  readonly dropped: (pod: JsonObject) => void;
  /** A line for the log. */
  readonly warn: (line: string) => void;
}

const timeoutMicros: Micros = 10_000_000;
/** Failures in a row that are told; the last says that no more will be. */
const toldMax = 4;

export function startUrlSource(options: UrlSourceOptions): void {
  const { process, url, headers, everyMicros, fetch } = options;
  const { clock } = process;
  let last: Uint8Array | undefined;
  let failures = 0;
  const failed = (why: string): void => {
    failures++;
    if (failures < toldMax) options.warn(`${url}: ${why}`);
    if (failures === toldMax) options.warn(`${url}: ${why}. Further failures are not told.`);
  };
  const hear = (fetched: Fetched): void => {
    if ("error" in fetched) return failed(fetched.error);
    if (fetched.status !== 200) return failed(`status ${fetched.status}`);
    if (fetched.body.length === 0) {
      last = undefined;
      options.replace([]);
      return failed("zero-length data received");
    }
    if (last !== undefined && isSame(last, fetched.body)) return;
    last = undefined; // until it has been taken
    const { nodeName, dialect, law } = options;
    const manifest = readManifest(fetched.body, { source: "http", place: url }, nodeName, dialect, law());
    if ("error" in manifest) {
      last = fetched.body;
      return failed(manifest.error);
    }
    failures = 0;
    options.replace(withoutDoubles(manifest.pods, options.dropped));
    last = fetched.body;
  };
  const look = (next: (micros: Micros) => void): void => {
    const end = kept((fetched: Fetched): void => {
      cancelTimer();
      hear(fetched);
      next(everyMicros);
    });
    const cancelTimer = clock.after(timeoutMicros, () => {
      cancel();
      end({ error: "no answer within 10 s" });
    });
    const cancel = fetch(url, headers, end);
  };
  turns(process, "pod-source", `a look at ${url}`, everyMicros, look);
}
