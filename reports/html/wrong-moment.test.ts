import { describe, expect, it } from "vitest";
import { exchange, watchExchange } from "../render/sample-report.fixture.ts";
import { timeline } from "./timeline.ts";
import { watchStory, type WatchStory } from "./watch-story.ts";
import { wrongMoment } from "./wrong-moment.ts";

const uid = "ecd08d4d-a4fb-4c19-84a3-f8d7d28ce8dc";
const event = (type: string, name: string, version: string): string =>
  `${JSON.stringify({ type, object: { metadata: { name, uid, resourceVersion: version } } })}\n`;
const write = (began: number, name: string, version: string) =>
  exchange({
    index: began,
    began,
    ended: began + 1,
    method: "PUT",
    path: `/api/v1/namespaces/n/configmaps/${name}`,
    responseBody: JSON.stringify({ metadata: { name, resourceVersion: version } }),
    curl: `curl -X PUT ${name}`,
  });

/** Two writes, and a watch that tells of the first and then again of the first. */
const told =
  event("ADDED", "a", "7") + event("MODIFIED", "a", "8") + event("MODIFIED", "a", "8") + event("BOOKMARK", "", "0");
const history = [
  write(1, "a", "8"),
  write(3, "b", "9"),
  watchExchange({ began: 5, responseBody: told, arrivals: undefined }),
];
const story = watchStory(history) as WatchStory;

function marked(expected: string, actual: string, curl = ""): string | undefined {
  const place = wrongMoment(story, { expected, actual, curl });
  return place === undefined ? undefined : `${place}: ${story.moments[place]?.text}`;
}

describe("what is wrong in a story", () => {
  it("is the event that the finding names, where it is told again", () => {
    const stream = "(stream: ADDED n/a@7, MODIFIED n/a@8, MODIFIED n/a@8)";
    const actual = `MODIFIED n/a (uid ${uid}) at 8 ${stream}`;
    expect(marked(`event 3: DELETED n/a (uid ${uid}) at 9`, actual)).toBe("5: MODIFIED a at 8");
    expect(marked("each state once", `MODIFIED n/a (uid ${uid}) at 8 again`)).toBe("5: MODIFIED a at 8");
  });

  it("is the first of a list that was not promised", () => {
    expect(marked("ADDED n/a@7, and nothing else", "ADDED n/a@7, MODIFIED n/a@8")).toBe("5: MODIFIED a at 8");
  });

  it("is the write that was never told, where an event is missing", () => {
    expect(marked(`event 4: MODIFIED n/b (uid ${uid}) at 9`, "none (stream: ADDED n/a@7)")).toBe(
      "1: PUT configmaps/b → 200 at 9",
    );
  });

  it("is the bookmark that is quoted", () => {
    const document = '{"kind":"ConfigMap","metadata":{"resourceVersion":"0"}}';
    expect(marked("a bookmark with a version to watch from", document)).toBe("6: BOOKMARK at 0");
  });

  it("is the request that showed it, where no event is named, and nothing where that is not there", () => {
    expect(marked("a label", "no label", "curl -X PUT b")).toBe("1: PUT configmaps/b → 200 at 9");
    expect(marked("a label", "no label", "curl elsewhere")).toBeUndefined();
  });

  it("is framed in the drawing, once, and said in the list", () => {
    const drawn = timeline({ history, expected: "", actual: "ADDED n/a@7", curl: "" }, "t")?.markup ?? "";
    expect(drawn.match(/<rect class="wrong"/g)).toHaveLength(1);
    expect(drawn).toContain('<li class="wrong">This is wrong: ');
  });
});
