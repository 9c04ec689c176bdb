import { describe, expect, it } from "vitest";
import type { ExchangeRecord } from "../schema/suite-report.ts";
import { exchange, watchExchange } from "../render/sample-report.fixture.ts";
import { timeline } from "./timeline.ts";
import { watchStory } from "./watch-story.ts";

const create = exchange({
  index: 0,
  began: 3,
  ended: 5,
  method: "POST",
  path: "/api/v1/namespaces/n/configmaps",
  status: 201,
  responseBody: '{"metadata":{"name":"a","resourceVersion":"7"}}',
});

const failureWith = (history: readonly ExchangeRecord[]) => ({ history, expected: "", actual: "", curl: "" });
const textsOf = (history: readonly ExchangeRecord[]): string[] | undefined =>
  watchStory(history)?.moments.map(({ text }) => text);

describe("watchStory", () => {
  it("puts what a watch told between the requests, where it arrived", () => {
    const watch = watchExchange({ arrivals: [{ place: 4, atMillis: 4 }] });
    expect(textsOf([watch, create])).toEqual([
      "watch of configmaps from 6",
      "POST configmaps/a → 201 at 7",
      "ADDED a at 7",
      "stream ends",
    ]);
  });

  it("keeps the order of a stream whose arrivals were not recorded", () => {
    const twice = watchExchange({ responseBody: watchExchange({}).responseBody.repeat(2), arrivals: undefined });
    const story = watchStory([twice]);
    expect(story?.moments.map(({ text, again }) => [text, again])).toEqual([
      ["watch of configmaps from 6", undefined],
      ["ADDED a at 7", false],
      ["ADDED a at 7", true],
      ["stream ends", undefined],
    ]);
  });

  it("tells several watches apart, and says what each asked for", () => {
    const selecting = "/api/v1/namespaces/n/configmaps?watch=true&labelSelector=team%3Dred&resourceVersion=6";
    const history = [watchExchange({}), watchExchange({ path: selecting })];
    const titles = ["watch 1 of configmaps from 6", "watch 2 of configmaps from 6"];
    expect(watchStory(history)?.lanes.map(({ title }) => title)).toEqual(titles);
    const drawn = timeline(failureWith(history), "t")?.markup ?? "";
    expect(drawn).toContain("watch 2 of configmaps from 6, opened for team=red</li>");
    expect(drawn).toContain(">opened for team=red</text>");
  });

  it("parts documents as JSON does, and not by lines", () => {
    const one = '{\n"type":"ADDED","object":{"metadata":{"name":"}{\\"","resourceVersion":"7"}}}';
    const two = '{"type":"DELETED","object":{"metadata":{"name":"b","resourceVersion":"8"}}}';
    expect(textsOf([watchExchange({ responseBody: one + two, arrivals: undefined })])).toEqual([
      "watch of configmaps from 6",
      'ADDED }{" at 7',
      "DELETED b at 8",
      "stream ends",
    ]);
  });

  it("names errors, documents that are no event, and answers that were lost", () => {
    const body = '{"type":"ERROR","object":{"kind":"Status","code":410}}\n{"odd":1}\n{"type":"ADD';
    const watch = watchExchange({ responseBody: body, arrivals: undefined, lost: "reset" });
    const lost = exchange({ ...create, began: 9, status: undefined, lost: "reset", responseBody: "" });
    expect(textsOf([watch, lost])).toEqual([
      "watch of configmaps from 6",
      "ERROR 410",
      "no event",
      "reset",
      "POST configmaps → answer lost",
    ]);
  });

  it("is none without a watch that was answered, and is bounded", () => {
    expect(watchStory([create])).toBeUndefined();
    expect(watchStory([watchExchange({ status: 410 })])).toBeUndefined();
    const many = Array.from({ length: 300 }, (_, i) => exchange({ ...create, began: 100 + i }));
    const story = watchStory([watchExchange({}), ...many]);
    expect([story?.moments.length, story?.dropped]).toEqual([240, 63]);
  });
});

describe("timeline", () => {
  it("draws every moment, and tells the same as a list", () => {
    const drawn = timeline(failureWith([watchExchange({}), create]), "t")?.markup ?? "";
    expect(drawn).toContain('<title id="t-title">Timeline of 4 moments with one watch</title>');
    expect(drawn.match(/<circle/g)).toHaveLength(1);
    expect(drawn).toContain("<li>+3.0 ms: watch of configmaps from 6: ADDED a at 7</li>");
    expect(timeline(failureWith([create]), "t")).toBeUndefined();
  });
});
