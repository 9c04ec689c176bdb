/**
 * The timeline of a failing watch as SVG: time runs down, requests stand to the left, and each watch is a line to the
 * right with its events on it. Beside it the same as a list, for those who do not see the drawing.
 */
import { type Markup, markup } from "./markup.ts";
import { type Moment, type WatchLane, type WatchStory, watchStory } from "./watch-story.ts";
import { wrongMoment } from "./wrong-moment.ts";
import type { SuiteFailure } from "../schema/suite-report.ts";

const rowHeight = 22;
const top = 34;
const timeWidth = 78;
const requestWidth = 430;
const laneWidth = 250;
/** Characters that fit. */
const requestChars = 62;
const laneChars = 31;

/** Undefined when there is no watch to show. `id` makes the ids in the markup unique. What is wrong is marked. */
export function timeline(
  failure: Pick<SuiteFailure, "history" | "expected" | "actual" | "curl">,
  id: string,
): Markup | undefined {
  const story = watchStory(failure.history);
  if (story === undefined) return undefined;
  const wrong = wrongMoment(story, failure);
  return markup`<figure class="timeline">
<figcaption>Timeline: requests to the left, what each watch told to the right${
    story.dropped === 0 ? "" : `; ${story.dropped} older moments are left out`
  }. Order is exact; times count from the first request.${wrong !== undefined && " The frame is around what is wrong."}</figcaption>
<div class="scroll" tabindex="0" role="region" aria-label="Timeline drawing, scrollable">${drawing(story, id, wrong)}</div>
<details><summary>The timeline as a list</summary><ol class="moments">${story.moments.map((moment, place) => listItem(story, moment, place === wrong))}</ol></details>
</figure>`;
}

function drawing(story: WatchStory, id: string, wrong: number | undefined): Markup {
  const { lanes, moments } = story;
  const width = timeWidth + requestWidth + lanes.length * laneWidth;
  const height = top + moments.length * rowHeight + 10;
  return markup`<svg role="img" aria-labelledby="${id}-title" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title id="${id}-title">${`Timeline of ${moments.length} moments with ${lanes.length === 1 ? "one watch" : `${lanes.length} watches`}`}</title>
<text class="head" x="${timeWidth}" y="18">requests</text>
${lanes.map(({ title }, lane) => markup`<text class="head" x="${laneX(lane) - 8}" y="18">${cut(title, laneChars)}</text>`)}
${moments.map((_, row) => row % 2 === 1 && markup`<rect class="stripe" x="0" y="${top + row * rowHeight - 4}" width="${width}" height="${rowHeight}"/>`)}
${lanes.map((_, lane) => laneLine(story, lane))}
${moments.map((moment, row) => mark(story, moment, row))}
${wrong !== undefined && frame(moments[wrong] as Moment, wrong)}
</svg>`;
}

/** Around what is wrong; the script of the page brings it into view. */
function frame({ lane }: Moment, row: number): Markup {
  const x = lane === undefined ? timeWidth - 6 : laneX(lane) - 12;
  const width = lane === undefined ? requestWidth - 10 : laneWidth - 8;
  return markup`<rect class="wrong" x="${x}" y="${rowY(row) - 11}" width="${width}" height="${rowHeight}" rx="5"/>`;
}

const laneX = (lane: number): number => timeWidth + requestWidth + lane * laneWidth + 14;
const rowY = (row: number): number => top + row * rowHeight + 7;

/** From the moment it was opened, or the top if that is left out, to its end, or the bottom. */
function laneLine({ moments }: WatchStory, lane: number): Markup {
  const own = moments.map((moment, row) => ({ ...moment, row })).filter((moment) => moment.lane === lane);
  const opened = own.find(({ kind }) => kind === "opened");
  const ended = own.find(({ kind }) => kind === "ended");
  const from = opened === undefined ? top - 6 : rowY(opened.row);
  const to = ended === undefined ? rowY(moments.length - 1) + 8 : rowY(ended.row);
  return markup`<line class="lane" x1="${laneX(lane)}" x2="${laneX(lane)}" y1="${from}" y2="${to}"/>`;
}

function mark(story: WatchStory, moment: Moment, row: number): Markup {
  const y = rowY(row);
  const time = timeText(story, moment);
  const clock = time !== undefined && markup`<text class="time" x="${timeWidth - 12}" y="${y + 4}">${time}</text>`;
  if (moment.lane === undefined) {
    const shown = cut(moment.text, requestChars);
    return markup`<g><title>${moment.text}</title>${clock}<text class="request" x="${timeWidth}" y="${y + 4}">${shown}</text></g>`;
  }
  const x = laneX(moment.lane);
  const text =
    moment.kind === "opened"
      ? `opened${forWhat(story.lanes[moment.lane])}`
      : `${moment.text}${moment.again === true ? ", again" : ""}`;
  const tone = moment.kind === "event" ? toneOf(moment.type) : "edge";
  const shape =
    moment.kind === "event"
      ? markup`<circle cx="${x}" cy="${y}" r="8"/><text class="letter" x="${x}" y="${y + 3.5}">${letterOf(moment.type)}</text>`
      : markup`<rect x="${x - 5}" y="${y - 2}" width="10" height="4" rx="1"/>`;
  const again = moment.again === true ? " again" : "";
  return markup`<g class="${tone}${again}"><title>${text}</title>${clock}${shape}<text class="told" x="${x + 14}" y="${y + 4}">${cut(text, laneChars)}</text></g>`;
}

const knownTypes = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"];

const toneOf = (type = ""): string => (knownTypes.includes(type) ? type.toLowerCase() : "error");
const letterOf = (type = ""): string => (knownTypes.includes(type) ? type.slice(0, 1) : "?");

function listItem(story: WatchStory, moment: Moment, isWrong: boolean): Markup {
  const lane = moment.lane === undefined ? undefined : story.lanes[moment.lane];
  const what = lane === undefined || moment.kind === "opened" ? "" : `${lane.title}: `;
  const time = timeText(story, moment);
  return markup`<li${isWrong && markup` class="wrong"`}>${isWrong && "This is wrong: "}${time === undefined ? "" : `${time}: `}${what}${moment.text}${moment.kind === "opened" && `, opened${forWhat(lane)}`}${moment.again === true && ", told again"}</li>`;
}

const forWhat = (lane: WatchLane | undefined): string =>
  lane === undefined || lane.selector === "" ? "" : ` for ${lane.selector}`;

function timeText({ moments }: WatchStory, { atMillis }: Moment): string | undefined {
  const first = moments.find((moment) => moment.atMillis !== undefined)?.atMillis;
  if (first === undefined || atMillis === undefined) return undefined;
  const millis = Math.max(0, atMillis - first);
  if (millis < 1000) return `+${millis.toFixed(1)} ms`;
  return `+${(millis / 1000).toFixed(2)} s`;
}

const cut = (text: string, chars: number): string => (text.length <= chars ? text : `${text.slice(0, chars - 1)}…`);
