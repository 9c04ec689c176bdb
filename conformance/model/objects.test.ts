import { describe, expect, it } from "vitest";
import type { WriteStep } from "./write-step.ts";
import type { Answer } from "../client/exchange.ts";
import { Exchange } from "../client/exchange.ts";
import type { ApiObject } from "../client/types.ts";
import { object } from "./hand-written.fixture.ts";
import { emptyModel, type Model, predict } from "./objects.ts";

const exchange = new Exchange(0, { method: "PUT", path: "/a", headers: {} }, 1, 0);
const answer = (status: number, json?: ApiObject): Answer => ({
  exchange,
  status,
  headers: {},
  bytes: new Uint8Array(0),
  text: "",
  json,
});
const step = (fields: Partial<WriteStep> & { do: WriteStep["do"] }) =>
  ({ name: "a", team: "red", base: "none", cut: false, ...fields }) as WriteStep;

/** a exists at version 1, b was deleted. */
const model: Model = { living: new Map([["n/a", object("a@1")]]), uids: new Set(["a-1", "b-1"]) };

type Case = readonly [
  situation: string,
  verdict: "accepts" | "rejects",
  model: Model,
  step: WriteStep,
  base: string | undefined,
  answer: Answer,
];
const create = step({ do: "create" });
const put = step({ do: "put" });
const cases: readonly Case[] = [
  ["create of a free name", "accepts", emptyModel, create, undefined, answer(201, object("a@1"))],
  ["create of a free name, refused", "rejects", emptyModel, create, undefined, answer(409)],
  [
    "create that is given an old uid",
    "rejects",
    { ...model, living: new Map() },
    create,
    undefined,
    answer(201, object("b@5")),
  ],
  ["create of a taken name, refused", "accepts", model, create, undefined, answer(409)],
  ["create of a taken name", "rejects", model, create, undefined, answer(201, object("a@2"))],
  ["create of a taken name, refused as bad", "accepts", model, create, undefined, answer(400)],
  ["create of a taken name, broken", "rejects", model, create, undefined, answer(500)],
  ["create that answers nothing", "rejects", emptyModel, create, undefined, answer(201)],
  [
    "create that answers a refusal with an object",
    "rejects",
    emptyModel,
    create,
    undefined,
    answer(300, object("a@1")),
  ],
  [
    "create that gives no uid",
    "rejects",
    emptyModel,
    create,
    undefined,
    answer(201, object("a@1", { uid: undefined as never })),
  ],
  ["put from the current version", "accepts", model, put, "1", answer(200, object("a@2"))],
  ["put from the current version, refused", "rejects", model, put, "1", answer(409)],
  ["put from an old version, refused", "accepts", model, put, "0", answer(409)],
  ["put from an old version", "rejects", model, put, "0", answer(200, object("a@2"))],
  ["put that makes another object of it", "rejects", model, put, undefined, answer(200, object("a@2#2"))],
  ["put that answers nothing", "rejects", model, put, undefined, answer(200)],
  ["put of what is there, created", "rejects", model, put, undefined, answer(201, object("a@2"))],
  ["merge patch", "accepts", model, step({ do: "merge-patch" }), undefined, answer(200, object("a@2"))],
  ["merge patch, refused", "rejects", model, step({ do: "merge-patch" }), undefined, answer(422)],
  ["merge patch from an old version", "rejects", model, step({ do: "merge-patch" }), "0", answer(200, object("a@2"))],
  ["merge patch of an absent object, refused", "accepts", emptyModel, step({ do: "merge-patch" }), "1", answer(404)],
  [
    "merge patch of an absent object, conflicting",
    "rejects",
    emptyModel,
    step({ do: "merge-patch" }),
    "1",
    answer(409),
  ],
  ["json patch, whatever the version", "accepts", model, step({ do: "json-patch" }), "0", answer(200, object("a@2"))],
  ["json patch, refused", "rejects", model, step({ do: "json-patch" }), undefined, answer(404)],
  ["put from a version of an absent object, refused", "accepts", emptyModel, put, "1", answer(409)],
  ["put from a version of an absent object, not found", "accepts", emptyModel, put, "1", answer(404)],
  ["put from a version of an absent object, invalid", "rejects", emptyModel, put, "1", answer(422)],
  ["put of an absent object, created", "accepts", emptyModel, put, undefined, answer(201, object("a@1"))],
  ["put of an absent object, refused", "accepts", emptyModel, put, undefined, answer(404)],
  ["put from a version of an absent object, created", "rejects", emptyModel, put, "1", answer(201, object("a@2"))],
  [
    "patch of an absent object",
    "rejects",
    emptyModel,
    step({ do: "json-patch" }),
    undefined,
    answer(200, object("a@1")),
  ],
  ["delete", "accepts", model, step({ do: "delete" }), undefined, answer(200)],
  ["delete that goes on", "accepts", model, step({ do: "delete" }), undefined, answer(202)],
  ["delete, refused", "rejects", model, step({ do: "delete" }), undefined, answer(409)],
  ["get that answers nothing", "rejects", model, step({ do: "get" }), undefined, answer(200)],
  ["get of what is there, not found", "rejects", model, step({ do: "get" }), undefined, answer(404, object("a@1"))],
  ["get of an absent object", "rejects", emptyModel, step({ do: "get" }), undefined, answer(200, object("a@1"))],
  ["get of an absent object, not found", "accepts", emptyModel, step({ do: "get" }), undefined, answer(404)],
  ["delete of an absent object", "rejects", emptyModel, step({ do: "delete" }), undefined, answer(200)],
  ["get of what was last written", "accepts", model, step({ do: "get" }), undefined, answer(200, object("a@1"))],
  ["get of something else", "rejects", model, step({ do: "get" }), undefined, answer(200, object("a@9"))],
];

describe("the sequential model", () => {
  for (const [situation, verdict, before, written, base, given] of cases) {
    it(`Sequential model - ${situation} - ${verdict}`, () => {
      expect(predict(before, written, base, given).violation === undefined).toBe(verdict === "accepts");
    });
  }

  it("goes on from what it accepted", () => {
    const { next } = predict(model, step({ do: "delete" }), undefined, answer(200));
    expect([next.living.size, next.uids.has("a-1")]).toEqual([0, true]);
    const reborn = predict(next, create, undefined, answer(201, object("a@5#2")));
    expect([...reborn.next.living.keys()]).toEqual(["n/a"]);
  });
});
