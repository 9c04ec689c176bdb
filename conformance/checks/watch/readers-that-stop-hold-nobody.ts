import fc from "fast-check";
import type { Reader } from "../../../wire/ports.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf, succeeded } from "../../client/collection.ts";
import { CheckFailure } from "../../client/findings.ts";
import { versionOf } from "../../client/types.ts";
import type { WatchStream } from "../../client/watch-stream.ts";
import { logOf } from "../../model/history.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Together more than sockets hold in between. */
const valueBytes = 250_000;

/**
 * Property: who watches and does not read is alone with it: writes are answered, other watches go on, and once it reads
 * again it is told every change in order, or its watch ends.
 * Method: one watch stops reading after its first event while large objects are written; another must be told of them.
 */
export const readersThatStopHoldNobody = defineCheck({
  id: "readers-that-stop-hold-nobody",
  area: "watch",
  property: "A watcher that stops reading delays nobody, and misses nothing in silence.",
  requirements: ["watch.slow-readers"],
  features: ["configmaps", "watch"],
  cost: "heavy",
  input: fc.record({
    writes: fc.integer({ min: 30, max: 40 }),
    names: fc.integer({ min: 1, max: 4 }),
    selected: fc.boolean(),
  }),
  examples: [{ writes: 40, names: 2, selected: false }],
  async run(attempt, { writes, names, selected }) {
    const { client } = attempt;
    const collection = await attempt.target.collection("configmaps");
    const { resourceVersion } = await collection.readList();
    let reader: Reader | undefined;
    const onReader = (given: Reader): void => {
      reader = given;
    };
    const selector = selected ? { labelSelector: "load" } : {};
    const slow = await attempt.answeredWatch(() =>
      client.watch(collection.path, { resourceVersion, ...selector }, { onReader }),
    );
    const other = await attempt.openWatch(collection, { resourceVersion });
    if (slow.status !== 200 || reader === undefined) return; // forgotten already, or nobody can stop here
    reader.pause();
    const versions: string[] = [];
    for (let count = 0; count < writes; count++) {
      const name = `load-${count % names}`;
      const data = { value: String(count).padStart(valueBytes, "x") };
      const object = configMap(name, { data, labels: { load: "x" } });
      const answer = count < names ? await collection.create(object) : await collection.put(name, object);
      versions.push(versionOf(objectOf(succeeded(answer))));
    }
    const toldWhile = await isTold(other, versions);
    reader.resume();
    if (!toldWhile && other.ended === undefined) {
      const toldAfter = await isTold(other, versions);
      if (toldAfter || slow.ended !== undefined) {
        const expected = `GET ${other.exchange.request.path} tells ${writes} changes while another watch is not read`;
        const violation = { expected, actual: "it went on only when the other one was read again" };
        throw new CheckFailure("watch.slow-readers", violation, other.exchange);
      }
    }
    await isTold(slow, versions);
    // It may have ended, and has then told the first of them.
    const told = versionsIn(slow, versions);
    const isGap = told.some((version, at) => version !== versions[at]);
    const shown = `${told.length} of ${versions.length} changes, the first that is wrong at ${told.findIndex((version, at) => version !== versions[at])}`;
    attempt.expect(
      "watch.slow-readers",
      !isGap,
      "each change in order, from the first on, to one that reads late",
      shown,
    );
    const isSilent = told.length < versions.length && slow.ended === undefined && slow.events.at(-1)?.type !== "ERROR";
    const fence = isSilent
      ? objectOf(await collection.create(configMap("late", { labels: { load: "x" } })))
      : undefined;
    if (fence === undefined) return;
    await slow.until(() => versionsIn(slow, [versionOf(fence)]).length > 0, 10_000);
    const goesOn =
      versionsIn(slow, [versionOf(fence)]).length > 0 && versionsIn(slow, versions).length < versions.length;
    attempt.expect("watch.slow-readers", !goesOn, "what was missed, before what came after it", shown);
  },
});

function versionsIn(stream: WatchStream, known: readonly string[]): readonly string[] {
  const own = new Set(known);
  return logOf(stream.events)
    .map(({ version }) => version)
    .filter((version) => own.has(version));
}

const isTold = (stream: WatchStream, versions: readonly string[]): Promise<boolean> =>
  stream.until(() => versionsIn(stream, versions).length >= versions.length, 10_000);
