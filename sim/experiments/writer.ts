/**
 * Writes ConfigMaps for ever: each beat creates, changes or deletes one of a few names, without waiting for the
 * answer to the write before. Answers and losses are counted.
 */
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros, Process } from "../kernel/types.ts";
import type { ApiClient, ClientAnswer, ClientRequest } from "../client/api-client.ts";

export interface WriterOptions {
  readonly namespace: string;
  /** Time between two writes, more than 0. */
  readonly everyMicros: Micros;
  /** No write begins at or after this moment. Default: never stops. */
  readonly untilMicros?: Micros;
  /** Names that it writes to, 1 or more; they begin with the writer's own name. */
  readonly objectCount: number;
}

const deadlineMicros: Micros = 30_000_000;

export class Writer {
  /** By status, or by the failure that left the outcome unknown. */
  readonly answers = new Map<string, number>();
  private readonly process: Process;
  private readonly client: ApiClient;
  private readonly options: WriterOptions;
  private beats = 0;

  constructor(process: Process, client: ApiClient, options: WriterOptions) {
    this.process = process;
    this.client = client;
    this.options = options;
  }

  start(): void {
    const { everyMicros, untilMicros = Infinity } = this.options;
    this.process.clock.after(everyMicros, () => {
      if (this.process.clock.nowMicros() >= untilMicros) return;
      this.write();
      this.start();
    });
  }

  private write(): void {
    const request = this.draw();
    this.client.call(request, deadlineMicros, (answer) => this.count(request.method, answer));
  }

  /** Half the writes change an object that may exist; the rest make and remove them. */
  private draw(): ClientRequest {
    const { namespace, objectCount } = this.options;
    const { prng, name: writer } = this.process;
    const name = `${writer}-${prng.intInclusive(1, objectCount)}`;
    const collection = `/api/v1/namespaces/${namespace}/configmaps`;
    const body: JsonObject = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace },
      data: { beat: String(this.beats++), writer },
    };
    if (prng.chance(1, 2)) return { method: "PUT", path: `${collection}/${name}`, body };
    if (prng.chance(2, 3)) return { method: "POST", path: collection, body };
    return { method: "DELETE", path: `${collection}/${name}` };
  }

  private count(method: string, answer: ClientAnswer): void {
    const outcome = answer.ok ? String(answer.status) : answer.failure;
    this.process.trace("writer.answer", method, outcome);
    this.answers.set(outcome, (this.answers.get(outcome) ?? 0) + 1);
  }
}
