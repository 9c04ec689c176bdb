/** Requests for certificates, looked at one by one: what those who approve them and those who sign them have in common. */
import { type Dialect, groupInDialect } from "../../wire/dialect.ts";
import type { ControlClient } from "../client/control-client.ts";
import type { Reflectors } from "../client/reflectors.ts";
import { type Outcome, WorkQueue } from "../client/work-queue.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";

export interface CertificateParts {
  readonly client: ControlClient;
  readonly reflectors: Reflectors;
  readonly dialect: Dialect;
}

interface Work {
  /** Of the queue, as it is counted. */
  readonly queue: string;
  /** Whether a request that was heard of is worth a look. */
  concerns(request: JsonObject): boolean;
  /** Is given the request as it is now. */
  work(request: JsonObject, done: (outcome: Outcome) => void): void;
}

export class CertificateRequests {
  readonly group: string;
  private readonly parts: CertificateParts;
  private readonly work: Work;
  private readonly path: string;
  private readonly queue: WorkQueue<string>;

  constructor(parts: CertificateParts, work: Work) {
    const { client, dialect } = parts;
    this.parts = parts;
    this.work = work;
    this.group = groupInDialect(dialect, "certificates.svc.io");
    this.path = `/apis/${this.group}/v1/certificatesigningrequests`;
    this.queue = new WorkQueue({
      process: client.process,
      count: client.queueCounts.of(work.queue),
      work: (name, done) => this.look(name, done),
    });
  }

  start(): void {
    const { reflectors } = this.parts;
    const heard = (request: JsonObject): void => {
      if (this.work.concerns(request)) this.queue.add(nameOf(request));
    };
    reflectors.follow(this.path, {
      replaced: (requests) => requests.forEach(heard),
      changed: heard,
      gone: (request) => this.queue.drop(nameOf(request)),
    });
    reflectors.onceSynced(() => this.queue.open());
  }

  /** Writes a subresource of a request. One that is gone is done with; one that has changed meanwhile is looked at again. */
  put(request: JsonObject, subresource: "approval" | "status", done: (outcome: Outcome) => void): void {
    const path = `${this.path}/${nameOf(request)}/${subresource}`;
    this.parts.client.call({ method: "PUT", path, body: request }, ({ status }) =>
      done(status === 200 || status === 404 ? "done" : "again"),
    );
  }

  private look(name: string, done: (outcome: Outcome) => void): void {
    this.parts.client.get(`${this.path}/${name}`, ({ status, object }) => {
      if (status === 200 && object !== undefined) this.work.work(object, done);
      else done(status === 200 || status === 404 ? "done" : "again");
    });
  }
}

const nameOf = (request: JsonObject): string => metadataOf(request).name ?? "";
