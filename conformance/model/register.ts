/**
 * Each object is a register with compare-and-set: its states in the order of the log, each current for a stretch of
 * the order of sendings and answers. A request is right when its answer fits a state that may have been current
 * between its sending and its answer. A lost answer bounds nothing.
 */
import type { Violation } from "../findings.ts";
import { acknowledged, describeEvents, type LogEvent, type Read, type Write } from "./history.ts";
import { describeWrite, eventOf } from "./reliable.ts";

/** A state of one key, and when it may have been current. Version undefined: absent. */
interface RegisterState {
  readonly version: string | undefined;
  readonly earliest: number;
  readonly latest: number;
}

export function judgeRegisters(
  log: readonly LogEvent[],
  writes: readonly Write[],
  reads: readonly Read[],
): Violation | undefined {
  const keys = new Set([...writes, ...reads].map((operation) => operation.key));
  for (const key of keys) {
    const ofKey = log.filter((event) => event.key === key);
    const states = statesOf(ofKey, writes);
    const violation =
      firstViolation(
        writes.filter((write) => write.key === key),
        (write) => judgeWrite(ofKey, states, write),
      ) ??
      firstViolation(
        reads.filter((read) => read.key === key),
        (read) => judgeRead(ofKey, states, read),
      );
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/**
 * The states of one key with their bounds. A state begins no earlier than the sending of its write (and of every write
 * before it) and ends no later than the answer of any write after it.
 */
function statesOf(ofKey: readonly LogEvent[], writes: readonly Write[]): RegisterState[] {
  const writeOfEvent = new Map<LogEvent, Write>();
  for (const write of writes) {
    const event = acknowledged(write) ? eventOf(ofKey, write) : undefined;
    if (event !== undefined && !writeOfEvent.has(event)) writeOfEvent.set(event, write);
  }
  const bounds = ofKey.map((event) => {
    const write = writeOfEvent.get(event);
    return { began: write?.began ?? 0, ended: write?.ended ?? Number.POSITIVE_INFINITY };
  });
  let earliest = 0;
  const begins = [0, ...bounds.map((bound) => (earliest = Math.max(earliest, bound.began)))];
  let latest = Number.POSITIVE_INFINITY;
  const ends = [Number.POSITIVE_INFINITY, ...bounds.map((bound) => bound.ended).reverse()]
    .map((ended) => (latest = Math.min(latest, ended)))
    .reverse();
  const versions = [undefined, ...ofKey.map((event) => (event.type === "DELETED" ? undefined : event.version))];
  return versions.map((version, index) => ({
    version,
    earliest: begins[index] as number,
    latest: ends[index] as number,
  }));
}

function judgeWrite(ofKey: readonly LogEvent[], states: readonly RegisterState[], write: Write): Violation | undefined {
  if (write.status === undefined || write.ended === undefined) return undefined;
  if (acknowledged(write)) return write.demanded === undefined ? undefined : judgeDemanded(ofKey, states, write);
  const excuse = excuseFor(write);
  if (excuse === undefined || someCurrent(states, write.began, write.ended, excuse.holds)) return undefined;
  return {
    expected: `${describeWrite(write)} only if ${excuse.text} at some moment in between`,
    actual: `it was not so: ${describeEvents(ofKey)}`,
  };
}

/** An acknowledged compare-and-set directly follows the version that it demanded (a write that changes nothing follows itself). */
function judgeDemanded(
  ofKey: readonly LogEvent[],
  states: readonly RegisterState[],
  write: Write,
): Violation | undefined {
  const event = eventOf(ofKey, write);
  if (event === undefined) return undefined; // judgeNothingMissing says so
  const place = ofKey.indexOf(event);
  if (states[place]?.version === write.demanded || event.version === write.demanded) return undefined;
  return {
    expected: `${describeWrite(write)} succeeds only from version ${write.demanded}`,
    actual: `it follows ${states[place]?.version ?? "absence"}: ${describeEvents(ofKey, place)}`,
  };
}

/** What must have been so, for a refusal to be right. Other refusals are not the register's question. */
function excuseFor(write: Write): { text: string; holds: (version: string | undefined) => boolean } | undefined {
  if (write.status === 404) return { text: "the object is absent", holds: (version) => version === undefined };
  if (write.status !== 409) return undefined;
  if (write.verb === "create") return { text: "the object exists", holds: (version) => version !== undefined };
  const { demanded } = write;
  if (demanded === undefined) return { text: "never: it demanded no version", holds: () => false };
  return { text: `the version is not ${demanded}`, holds: (version) => version !== demanded };
}

function judgeRead(ofKey: readonly LogEvent[], states: readonly RegisterState[], read: Read): Violation | undefined {
  const version = read.object?.metadata.resourceVersion;
  if (someCurrent(states, read.began, read.ended, (current) => current === version)) return undefined;
  return {
    expected: `a get of ${read.key} shows a state that was current between its sending and its answer`,
    actual: `it shows ${version ?? "absence"}: ${describeEvents(ofKey)}`,
  };
}

function someCurrent(
  states: readonly RegisterState[],
  began: number,
  ended: number,
  holds: (version: string | undefined) => boolean,
): boolean {
  return states.some((state) => state.earliest <= ended && state.latest >= began && holds(state.version));
}

function firstViolation<Item>(
  items: readonly Item[],
  judge: (item: Item) => Violation | undefined,
): Violation | undefined {
  for (const item of items) {
    const violation = judge(item);
    if (violation !== undefined) return violation;
  }
  return undefined;
}
