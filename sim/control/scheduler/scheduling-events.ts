/** Events of the scheduler, in their newer form: what is said again becomes a series. Source: client-go, tools/events. */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { formatMicroTime } from "../../../wire/time.ts";
import type { ControlClient } from "../../client/control-client.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros } from "../../kernel/types.ts";
import type { Stored } from "../shared/stored.ts";

interface Series {
  readonly path: string;
  count: number;
  lastMicros: Micros;
}

const seriesMicros: Micros = 360_000_000;
const rememberedMax = 4096;
const noteLengthMax = 1024;

export class SchedulingEvents {
  private readonly client: ControlClient;
  private readonly component: string;
  private readonly apiVersion: string;
  private readonly series = new Map<string, Series>();
  private count = 0;

  constructor(client: ControlClient, dialect: Dialect, component: string) {
    this.client = client;
    this.component = component;
    this.apiVersion = `${groupInDialect(dialect, "events.svc.io")}/v1`;
  }

  tell(
    pod: Stored,
    type: "Normal" | "Warning",
    reason: string,
    action: string,
    text: string,
    related?: JsonObject,
  ): void {
    const { namespace = "default", name, uid } = pod.metadata;
    const { clock } = this.client.process;
    const micros = clock.epochUnixMillis * 1000 + clock.nowMicros();
    const now = formatMicroTime({ seconds: Math.floor(micros / 1_000_000), micros: micros % 1_000_000 });
    const note = text.length > noteLengthMax ? `${text.slice(0, noteLengthMax - 4)} ...` : text;
    const key = `${uid} ${type} ${reason} ${action} ${note}`;
    const known = this.series.get(key);
    const collection = `/apis/${this.apiVersion}/namespaces/${namespace}/events`;
    if (known !== undefined && clock.nowMicros() - known.lastMicros < seriesMicros) {
      known.count++;
      known.lastMicros = clock.nowMicros();
      const body = { series: { count: known.count, lastObservedTime: now } };
      this.client.call(
        { method: "PATCH", path: known.path, contentType: "application/strategic-merge-patch+json", body },
        () => {},
      );
      return;
    }
    const nanos =
      BigInt(clock.epochUnixMillis) * 1_000_000n + BigInt(clock.nowMicros()) * 1_000n + BigInt(this.count++ % 1_000);
    const eventName = `${name}.${nanos.toString(16)}`;
    if (this.series.size >= rememberedMax) this.series.clear();
    this.series.set(key, { path: `${collection}/${eventName}`, count: 1, lastMicros: clock.nowMicros() });
    const body: JsonObject = {
      apiVersion: this.apiVersion,
      kind: "Event",
      metadata: { name: eventName, namespace },
      eventTime: now,
      reportingController: this.component,
      reportingInstance: `${this.component}-1`,
      action,
      reason,
      regarding: { apiVersion: "v1", kind: "Pod", namespace, name, uid },
      ...(related === undefined ? {} : { related }),
      note,
      type,
    };
    this.client.call({ method: "POST", path: collection, body }, () => {});
  }
}
