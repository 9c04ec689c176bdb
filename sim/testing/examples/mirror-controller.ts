/**
 * A small controller as one writes it against `fetch` alone: for every ConfigMap with the label `mirror=true` it keeps
 * a Secret of the same name with the same data. It lists, watches, writes, tries again, and begins anew when it must.
 * It knows nothing of the simulator.
 */
interface Meta {
  readonly name: string;
  readonly resourceVersion: string;
}
interface ConfigMap {
  readonly metadata: Meta;
  readonly data?: Readonly<Record<string, string>>;
}
interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: ConfigMap;
}

export interface MirrorOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly url: string;
  readonly namespace: string;
  /** What it does, for whoever watches it. */
  readonly log: (line: string) => void;
}

export class MirrorController {
  readonly #options: MirrorOptions;
  readonly #stop = new AbortController();

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Runs until it is stopped. */
  async run(): Promise<void> {
    for (let failures = 0; !this.#stopped; ) {
      try {
        let version = await this.#list();
        failures = 0;
        while (version !== "expired" && !this.#stopped) version = await this.#watch(version);
      } catch (error) {
        if (this.#stopped) return;
        failures++;
        this.#options.log(`failed: ${(error as Error).message}`);
        await backOff(failures);
      }
    }
  }

  get #stopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #list(): Promise<string> {
    const response = await this.#call("GET", "configmaps?labelSelector=mirror%3Dtrue");
    if (response.status !== 200) throw new Error(`list: ${response.status}`);
    const { items, metadata } = (await response.json()) as { items: ConfigMap[]; metadata: Meta };
    this.#options.log(`listed ${items.length}`);
    for (const item of items) await this.#mirror(item);
    await this.#prune(new Set(items.map((item) => item.metadata.name)));
    return metadata.resourceVersion;
  }

  /** What was deleted while nobody listened is in no event: only what is there can tell. */
  async #prune(wanted: ReadonlySet<string>): Promise<void> {
    const response = await this.#call("GET", "secrets?labelSelector=mirrored%3Dtrue");
    if (response.status !== 200) throw new Error(`list of copies: ${response.status}`);
    const { items } = (await response.json()) as { items: { metadata: Meta }[] };
    for (const { metadata } of items) if (!wanted.has(metadata.name)) await this.#remove(metadata.name);
  }

  /** Follows until the watch ends; answers where to go on from, or that there is no going on. */
  async #watch(from: string): Promise<string> {
    const query = `watch=1&allowWatchBookmarks=true&labelSelector=mirror%3Dtrue&resourceVersion=${from}`;
    const response = await this.#call("GET", `configmaps?${query}`);
    if (response.status !== 200) return "expired";
    let version = from;
    try {
      for await (const { type, object } of eventsOf(response)) {
        if (type === "ERROR") return "expired";
        if (type === "DELETED") await this.#remove(object.metadata.name);
        else if (type !== "BOOKMARK") await this.#mirror(object);
        // Only now: what did not work out must be told again.
        version = object.metadata.resourceVersion;
      }
    } catch (error) {
      if (this.#stopped) return version;
      this.#options.log(`watch broke: ${(error as Error).message}`);
      await backOff(1);
    }
    return version;
  }

  /** Writes the copy; a conflict means that somebody was quicker, and that it must be read again. */
  async #mirror({ metadata: { name }, data = {} }: ConfigMap): Promise<void> {
    for (;;) {
      const read = await this.#call("GET", `secrets/${name}`);
      const existing =
        read.status === 200 ? ((await read.json()) as { metadata: Meta; [field: string]: unknown }) : undefined;
      const copy = { metadata: { name, labels: { mirrored: "true" } }, ...existing, stringData: data };
      const secret = { apiVersion: "v1", kind: "Secret", ...copy };
      const written =
        existing === undefined
          ? await this.#call("POST", "secrets", secret)
          : await this.#call("PUT", `secrets/${name}`, secret);
      if (written.ok) return this.#options.log(`mirrored ${name}`);
      if (written.status !== 409) throw new Error(`write ${name}: ${written.status}`);
      this.#options.log(`conflict on ${name}`);
    }
  }

  async #remove(name: string): Promise<void> {
    const { status } = await this.#call("DELETE", `secrets/${name}`);
    if (status !== 200 && status !== 404) throw new Error(`delete ${name}: ${status}`);
    this.#options.log(`removed ${name}`);
  }

  #call(method: string, path: string, body?: object): Promise<Response> {
    const { fetch, url, namespace } = this.#options;
    return fetch(`${url}/api/v1/namespaces/${namespace}/${path}`, {
      method,
      signal: this.#stop.signal,
      ...(body === undefined
        ? {}
        : {
            body: JSON.stringify(body),
            headers: { "content-type": "application/json", "x-request-id": crypto.randomUUID() },
          }),
    });
  }
}

/** Twice as long after every failure up to half a minute, and nobody at the same moment. */
function backOff(failures: number): Promise<void> {
  const millis = Math.min(30_000, 500 << Math.min(failures, 6)) * (0.5 + Math.random() / 2);
  return new Promise((resolve) => setTimeout(resolve, millis));
}

async function* eventsOf(response: Response): AsyncGenerator<WatchEvent> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) yield JSON.parse(line) as WatchEvent;
  }
}
