/** Which moment of a failing watch's story is the wrong one: where a reader is to look first. Pure. */
import type { SuiteFailure } from "../schema/suite-report.ts";
import type { Moment, WatchStory } from "./watch-story.ts";

/**
 * The place in `story.moments` of the event that the finding names; of the write that was never told, where one is missing;
 * otherwise of the request that showed the failure. Undefined where none of them is in the story.
 */
export function wrongMoment(
  story: WatchStory,
  { expected, actual, curl }: Pick<SuiteFailure, "expected" | "actual" | "curl">,
): number | undefined {
  const [seen, stream] = parted(actual);
  const missed = seen.trim() === "none" ? named(expected)[0] : undefined;
  const promised = new Set(named(expected).map(({ text }) => text));
  const wrong =
    missed === undefined ? (named(seen).find(({ text }) => !promised.has(text)) ?? named(seen)[0]) : undefined;
  const lane = laneOf(story, named(stream), wrong);
  const number = Number(/^event (\d+):/.exec(expected)?.[1]);
  return (
    (wrong === undefined ? undefined : placeOf(story, wrong, lane, number)) ??
    (missed === undefined ? undefined : writeOf(story, missed)) ??
    bookmarkOf(story, actual) ??
    shownBy(story, curl)
  );
}

/** An event as findings write it: `ADDED touchstone-e1-7/a (uid …) at 12`, `ADDED touchstone-e1-7/a@12`. */
interface Named {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly text: string;
}

/** Findings may quote what a server has said: so much of it is looked at. */
const charactersMax = 4000;

function named(text: string): Named[] {
  const events =
    /\b(ADDED|MODIFIED|DELETED|BOOKMARK)\s([\w./:-]{1,300})(?: \(uid [\w-]{0,100}\))?(?: at |@)([\w-]{1,100})/g;
  return [...text.slice(0, charactersMax).matchAll(events)].map(([, type = "", key = "", version = ""]) => {
    const name = key.split("/").at(-1) as string;
    return { type, name, version, text: `${type} ${name} at ${version}` };
  });
}

/** The finding itself, and the stream that it quotes after it. */
function parted(actual: string): readonly [finding: string, stream: string] {
  const at = actual.indexOf(" (stream: ");
  return at < 0 ? [actual, ""] : [actual.slice(0, at), actual.slice(at)];
}

/** The watch that told the stream which the finding quotes, the latest such; or else the latest that told the event. */
function laneOf(
  { lanes, moments }: WatchStory,
  stream: readonly Named[],
  wrong: Named | undefined,
): number | undefined {
  const texts = stream.length > 0 ? stream.map(({ text }) => text) : wrong === undefined ? [] : [wrong.text];
  if (texts.length === 0) return undefined;
  return lanes
    .map((_, lane) => lane)
    .findLast((lane) => {
      const told = new Set(moments.filter((moment) => moment.lane === lane).map(({ text }) => text));
      return texts.every((text) => told.has(text));
    });
}

/** An event told twice is wrong where it is told again, unless the finding counts to the first. */
function placeOf(story: WatchStory, { text }: Named, lane: number | undefined, number: number): number | undefined {
  const places = story.moments.flatMap((moment, place) =>
    moment.kind === "event" && moment.text === text && (lane === undefined || moment.lane === lane) ? [place] : [],
  );
  const isFirst = number === 1 && places.length > 1;
  return isFirst ? places[0] : places.at(-1);
}

/** The request whose answer bears the version that no event told, or the latest one about the object. */
function writeOf({ moments }: WatchStory, { name, version }: Named): number | undefined {
  const isWrite = ({ kind, text }: Moment): boolean => kind === "request" && !text.startsWith("GET ");
  const about = (moment: Moment): boolean => isWrite(moment) && new RegExp(`/${escaped(name)}[? ]`).test(moment.text);
  const exact = moments.findLastIndex((moment) => about(moment) && moment.text.endsWith(` at ${version}`));
  return found(exact >= 0 ? exact : moments.findLastIndex(about));
}

/** A bookmark is quoted as the document that it was. */
function bookmarkOf({ moments }: WatchStory, actual: string): number | undefined {
  const version = /"resourceVersion":"([^"]{0,100})"/.exec(actual.slice(0, charactersMax))?.[1];
  if (version === undefined) return undefined;
  return found(
    moments.findLastIndex(
      ({ type, text }) => type === "BOOKMARK" && text.endsWith(version === "" ? "" : ` at ${version}`),
    ),
  );
}

function shownBy({ moments }: WatchStory, curl: string): number | undefined {
  return curl === "" ? undefined : found(moments.findLastIndex((moment) => moment.curl === curl));
}

const found = (place: number): number | undefined => (place < 0 ? undefined : place);
const escaped = (text: string): string => text.replace(/[^\w-]/g, "\\$&");
