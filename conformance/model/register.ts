/**
 * Each object is a register with compare-and-set: its states in the order of the log, each current for a stretch of
 * the order of sendings and answers. A request is right when its answer fits a state that may have been current
 * between its sending and its answer. A lost answer bounds nothing; but what has been read was so when it was read, and
 * what came before it never is again.
 */
import type { Violation } from "../client/findings.ts";
import { acknowledged, describeEvents, type LogEvent, type Read, type Write } from "./history.ts";
import { describeWrite, eventOf } from "./reliable.ts";

/** A state of one key, and when it may have been current. Version undefined: absent. */
interface RegisterState {
  readonly version: string | undefined;
  readonly earliest: number;
  readonly latest: number;
}

/** What an answer says of the object: at some moment between the places it was so. */
interface Sighting {
  readonly began: number;
  readonly ended: number;
  readonly holds: (version: string | undefined) => boolean;
}

export function judgeRegisters(
  log: readonly LogEvent[],
  writes: readonly Write[],
  reads: readonly Read[],
): Violation | undefined {
  const keys = new Set([...writes, ...reads].map((operation) => operation.key));
  for (const key of keys) {
    const ofKey = log.filter((event) => event.key === key);
    const ownWrites = writes.filter((write) => write.key === key);
    const ownReads = reads.filter((read) => read.key === key);
    const states = statesOf(ofKey, ownWrites, [...ownWrites.flatMap(refusalSighted), ...ownReads.map(readSighted)]);
    const violation =
      firstViolation(ownWrites, (write) => judgeWrite(ofKey, states, write)) ??
      firstViolation(ownReads, (read) => judgeRead(ofKey, states, read));
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/**
 * The states of one key with their bounds. A state begins no earlier than the sending of its write, and no later than
 * its answer. A sighting that fits one state alone shows that this state and those before it have begun by its answer,
 * and that those after it have not before its sending; with closer bounds further sightings may fit one state alone.
 */
function statesOf(
  ofKey: readonly LogEvent[],
  writes: readonly Write[],
  sightings: readonly Sighting[],
): readonly RegisterState[] {
  const bounds = writeBounds(ofKey, writes);
  const versions = [undefined, ...ofKey.map((event) => (event.type === "DELETED" ? undefined : event.version))];
  let states = laidOut(versions, bounds);
  for (let open = sightings, count = -1; open.length > 0 && open.length !== count; ) {
    count = open.length;
    const stillOpen = open.filter((sighting) => {
      const fitting = states.filter((state) => mayBeCurrent(state, sighting) && sighting.holds(state.version));
      const place = states.indexOf(fitting[0] as RegisterState);
      if (fitting.length === 1) {
        bounds.push({ place, began: 0, ended: sighting.ended });
        bounds.push({ place: place + 1, began: sighting.began, ended: Number.POSITIVE_INFINITY });
      }
      return fitting.length > 1;
    });
    states = laidOut(versions, bounds);
    open = stillOpen;
  }
  return states;
}

/** The state at this place begins between `began` and `ended`. */
interface Beginning {
  readonly place: number;
  readonly began: number;
  readonly ended: number;
}

function laidOut(versions: readonly (string | undefined)[], bounds: readonly Beginning[]): RegisterState[] {
  const earliest = versions.map(() => 0);
  const latest = versions.map(() => Number.POSITIVE_INFINITY);
  for (const { place, began, ended } of bounds) {
    if (place >= versions.length) continue; // the last state goes on
    earliest[place] = Math.max(earliest[place] as number, began);
    latest[place] = Math.min(latest[place] as number, ended);
  }
  for (let place = 1; place < versions.length; place += 1) {
    earliest[place] = Math.max(earliest[place] as number, earliest[place - 1] as number);
  }
  for (let place = versions.length - 2; place >= 0; place -= 1) {
    latest[place] = Math.min(latest[place] as number, latest[place + 1] as number);
  }
  return versions.map((version, place) => ({
    version,
    earliest: earliest[place] as number,
    latest: latest[place + 1] ?? Number.POSITIVE_INFINITY,
  }));
}

/** Between which places each acknowledged write had its effect. */
function writeBounds(ofKey: readonly LogEvent[], writes: readonly Write[]): Beginning[] {
  const bounds = new Map<number, Beginning>();
  for (const write of writes) {
    const event = acknowledged(write) ? eventOf(ofKey, write) : undefined;
    if (event === undefined || write.ended === undefined) continue;
    const place = ofKey.indexOf(event) + 1;
    const known = bounds.get(place); // of several that share an event, all but one changed nothing
    bounds.set(place, {
      place,
      began: Math.min(write.began, known?.began ?? write.began),
      ended: Math.min(write.ended, known?.ended ?? write.ended),
    });
  }
  return [...bounds.values()];
}

function refusalSighted(write: Write): Sighting[] {
  const { began, ended } = write;
  const excuse = acknowledged(write) || ended === undefined ? undefined : excuseFor(write);
  return excuse === undefined ? [] : [{ began, ended: ended as number, holds: excuse.holds }];
}

function readSighted({ began, ended, object }: Read): Sighting {
  return { began, ended, holds: (version) => version === object?.metadata.resourceVersion };
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
  return states.some((state) => mayBeCurrent(state, { began, ended }) && holds(state.version));
}

/** At some moment between the two places. */
function mayBeCurrent(state: RegisterState, { began, ended }: Pick<Sighting, "began" | "ended">): boolean {
  return state.earliest <= ended && state.latest >= began;
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
