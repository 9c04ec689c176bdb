/** For tests: a server on virtual time with short ways to ask it things. */
import { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import { RevisionStore } from "../store/revision-store.ts";
import type { Store } from "../store/types.ts";
import type { ApiServer } from "./api-server.ts";
import { type ServerOptions, startServer } from "../cluster/server.ts";
import type { JsonObject, ResponseHeaders } from "../contract/http-message.ts";

/** One request's answer, as it comes in. */
export class Answer {
  status = 0;
  headers: ResponseHeaders = {};
  contentType = "";
  text = "";
  /** The object handed over in process. */
  object: JsonObject | undefined;
  over = false;
  cancel: () => void = () => {};

  get body(): JsonObject {
    return JSON.parse(this.text) as JsonObject;
  }

  get events(): readonly { readonly type: string; readonly object: JsonObject }[] {
    return this.text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  }

  get reason(): unknown {
    return this.body["reason"];
  }

  /** A field by its path: `at("metadata.name")`. */
  at(path: string): unknown {
    return path
      .split(".")
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], this.body);
  }
}

export interface Ask {
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export class TestBed {
  readonly kernel: Kernel;
  readonly process: Process;
  readonly store: Store;
  readonly server: ApiServer;

  constructor(options: Partial<ServerOptions> = {}, kernel: Kernel = new Kernel({ seed: "test" }), name = "apiserver") {
    this.kernel = kernel;
    this.process = options.process ?? kernel.process(name);
    this.store = options.store ?? new RevisionStore();
    const tokens = [
      { token: "admin", user: "admin", uid: "1", groups: ["system:masters"] },
      { token: "alice", user: "alice", uid: "2", groups: [] },
      { token: "bob", user: "bob", uid: "3", groups: [] },
    ];
    const { process, store } = this;
    this.server = kernel.enter(process, () => startServer({ tokens, ...options, process, store }));
  }

  /** `GET /path?query`. The answer is there at once unless the request has to wait. */
  ask(request: string, { as = "alice", headers = {}, body }: Ask = {}): Answer {
    const [method = "", target = ""] = request.split(" ");
    const [path = "", query = ""] = target.split(/\?(.*)/s);
    const answer = new Answer();
    const bytes = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const sent = {
      method,
      path,
      query,
      headers: { ...(as === "" ? {} : { authorization: `Bearer ${as}` }), ...headers },
      body: bytes === undefined ? undefined : new TextEncoder().encode(bytes),
    };
    const start = (): void => {
      answer.cancel = this.server.start(sent, {
        respond: (status, responseHeaders, payload) => {
          answer.status = status;
          answer.headers = responseHeaders;
          answer.contentType = payload.contentType;
          answer.text = new TextDecoder().decode(payload.bytes());
          answer.object = payload.object;
          answer.over = true;
        },
        open: (status, responseHeaders) => {
          answer.status = status;
          answer.headers = responseHeaders;
        },
        frame: (payload) => {
          answer.text += new TextDecoder().decode(payload.bytes());
          return 0;
        },
        close: () => {
          answer.over = true;
        },
      });
    };
    this.kernel.enter(this.process, start);
    // What is large is done in several events of this instant.
    const isLarge = (bytes?.length ?? 0) >= 128 * 1024 || query.length >= 16 * 1024;
    const now = this.kernel.nowMicros();
    while (isLarge && answer.status === 0 && this.kernel.nextEventMicros === now) this.kernel.step();
    return answer;
  }

  merge(path: string, body: unknown, ask: Ask = {}): Answer {
    return this.ask(`PATCH ${path}`, {
      ...ask,
      headers: { ...ask.headers, "content-type": "application/merge-patch+json" },
      body,
    });
  }

  advance(seconds: number): void {
    this.kernel.run(this.kernel.nowMicros() + seconds * 1_000_000);
  }
}

export const configMaps = "/api/v1/namespaces/default/configmaps";
