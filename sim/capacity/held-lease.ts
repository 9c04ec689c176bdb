/**
 * A lease that a component holds and renews: the scheduler's election, and what a server says of itself.
 * Source: the published clients' leader election: an update every two seconds with the version of the one before.
 */
import { formatMicroTime } from "../../wire/time.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Clock } from "../kernel/types.ts";
import { ask, bodyOf, collectionOf, type DriverContext, insist, statusOf } from "./driver-client.ts";

export function holdLease(context: DriverContext, namespace: string, name: string, everyMicros: number): void {
  const { dialect, process } = context;
  const collection = collectionOf(dialect, "leases", namespace);
  const path = `${collection}/${name}`;
  const spec = (): object => ({ holderIdentity: name, leaseDurationSeconds: 15, renewTime: microTime(process.clock) });
  const later = (lease: JsonObject): void => void process.clock.after(everyMicros, () => renew(lease));
  const renew = (lease: JsonObject): void => {
    ask(context, { method: "PUT", path, body: bodyOf({ ...lease, spec: spec() }) }, (answer) => {
      if (answer.ok && statusOf(answer) === 200) later(answer.object);
      else process.clock.after(everyMicros, look);
    });
  };
  const look = (): void => insist(context, { method: "GET", path }, (answer) => later(answer.ok ? answer.object : {}));
  const apiVersion = collection.split("/").slice(2, 4).join("/");
  const body = bodyOf({ apiVersion, kind: "Lease", metadata: { name }, spec: spec() });
  insist(context, { method: "POST", path: collection, body }, (answer) => {
    if (statusOf(answer) === 201 && answer.ok) later(answer.object);
    else look();
  });
}

/** Of now. */
export function microTime(clock: Clock): string {
  const micros = clock.epochUnixMillis * 1000 + clock.nowMicros();
  return formatMicroTime({ seconds: Math.floor(micros / 1_000_000), micros: micros % 1_000_000 });
}
