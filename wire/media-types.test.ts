import { describe, expect, it, vi } from "vitest";
import { kubernetesDialect, svcDialect } from "./dialect.ts";
import {
  negotiate,
  parseAccept,
  parseContentType,
  type Representation,
  representations,
  routeAccepts,
  routeConsumes,
  type Transform,
  withoutParameters,
} from "./media-types.ts";

const builtIn = representations(svcDialect, { protobuf: true, cbor: false });
const json = "application/json";
const yaml = "application/yaml";
const protobuf = "application/vnd.svc.protobuf";

/** A table for JSON alone, and nothing else. */
const allows = ({ mediaType }: Representation, transform: Transform | undefined): boolean =>
  transform === undefined ||
  (mediaType === json && transform.kind === "Table" && transform.group === "meta.svc.io" && transform.version === "v1");

describe("accept: negotiation", () => {
  const table = "as=Table;g=meta.svc.io;v=v1";
  it.each<[accept: string, mediaType: string | undefined, kind?: string]>([
    ["", json],
    ["*/*", json],
    ["*", json],
    ["application/*", json],
    [yaml, yaml],
    [protobuf, protobuf],
    [`${protobuf}, ${json}`, protobuf],
    [`${json}, ${protobuf}`, json],
    [`${json};q=0.1, ${yaml};q=0.9`, yaml],
    ["text/html", undefined],
    [`text/html, ${json}`, json],
    ["application/cbor", undefined],
    ["garbage", undefined],
    ["a/b/c", undefined],
    [`${json}; charset=utf-8`, json],
    [`${json};foo=bar`, json],
    [`${json};${table}`, json, "Table"],
    [`${json};as=Table;g=meta.svc.io;v=v9`, undefined],
    [`${json};as=Table;g=meta.svc.io;v=v9, ${json}`, json],
    [`${yaml};${table}`, undefined],
    [`application/*;${table}`, json, "Table"],
    [`*/*;q=1, ${yaml};q=0.1`, yaml], // the specific one first, whatever q says
    [`${json};q=0`, json], // and q=0 refuses nothing
    [`${json};q=0, ${yaml}`, yaml],
    [`${json};q= 1, ${yaml};q=0.5`, yaml], // an unreadable q is 0
    [`${json};stream=watch`, json],
    [`${yaml};stream=watch`, undefined],
    [`${json};stream=other`, undefined],
    [`${json};sv=v1`, undefined],
    [`${json};sv=`, json],
    ["APPLICATION/JSON", undefined], // case counts
    [`\t${json}`, undefined], // only spaces are trimmed
    [` ${json} ;q=1`, json],
  ])("%j → %s", (accept, mediaType, kind) => {
    const result = negotiate(accept, builtIn, allows);
    expect(result?.representation.mediaType).toBe(mediaType);
    expect(result?.transform?.kind).toBe(kind);
  });

  it("reads pretty", () => {
    expect(negotiate(`${json};pretty=1`, builtIn, allows)?.pretty).toBe(true);
    expect(negotiate(`${json};pretty=true`, builtIn, allows)?.pretty).toBe(false);
  });

  it("offers nothing when there is nothing", () => {
    expect(negotiate("", [], allows)).toBeUndefined();
    expect(negotiate("*/*", [], allows)).toBeUndefined();
  });
});

describe("accept: clauses", () => {
  const order = (header: string): string[] => parseAccept(header).map(({ type, subtype }) => `${type}/${subtype}`);

  it("orders by q, keeps ties as written, and puts wildcards last", () => {
    expect(order("a/a;q=0.5,b/b,c/c")).toEqual(["b/b", "c/c", "a/a"]);
    expect(order("*/*,a/*,a/b")).toEqual(["a/b", "a/*", "*/*"]);
    expect(order("a/b;q=0.1,a/*;q=0.9")).toEqual(["a/*", "a/b"]); // inserted last, it passes by its q
    expect(order("a/*;q=0.9,a/b;q=0.1")).toEqual(["a/b", "a/*"]); // and so does this one by its kind
  });

  it("drops what is no clause, and parameters that are none", () => {
    expect(order(",a,a/,/,a/b/c, ,x/y,z/ z/,*/")).toEqual(["x/y", "z/z", "*/*"]);
    const [range] = parseAccept("a/b; x = 1 ;y;z=;w=1=2;x=2");
    expect([...(range?.parameters ?? [])]).toEqual([["x", "2"]]);
  });
});

describe("accept and content type: the filter of a route", () => {
  const produced = builtIn.map(({ mediaType }) => mediaType);
  it.each([
    ["", true],
    ["*/*", true],
    ["application/*", false],
    ["*", false],
    ["text/html, application/yaml;q=0.1", true],
    ["application/json;as=Table;g=x;v=y", true],
    ["application/cbor", false],
  ])("accept %j: %s", (accept, expected) => {
    expect(routeAccepts(accept, produced)).toBe(expected);
  });

  it.each([
    ["", false],
    ["application/merge-patch+json", true],
    ["application/merge-patch+json; charset=utf-8", true],
    ["application/json", false],
  ])("content type %j: %s", (contentType, expected) => {
    expect(routeConsumes(contentType, ["application/merge-patch+json"])).toBe(expected);
  });
});

describe("content type", () => {
  it.each<[header: string, mediaType: string | undefined, parameters?: Record<string, string>]>([
    [json, json],
    ["Application/JSON", json],
    ["application/json; charset=utf-8", json, { charset: "utf-8" }],
    ['application/json;Charset="UTF-8"', json, { charset: "UTF-8" }],
    ['a/b; x="q\\"\\d"', "a/b", { x: 'q"\\d' }],
    ["a/b;x=1; y = 2 ", "a/b", { x: "1", y: "2" }],
    ["a/b;", "a/b"],
    ["a/b; ;", undefined],
    ["a/b;x", undefined],
    ["a/b;x=", undefined],
    ['a/b;x="', undefined],
    ["a/b;x=1;x=1", "a/b", { x: "1" }],
    ["a/b;x=1;x=2", undefined],
    ["", undefined],
    ["a", undefined],
    ["a/b c", undefined],
    ["a/b/c", undefined],
    ["é/b", undefined],
  ])("%j", (header, mediaType, parameters = {}) => {
    const result = parseContentType(header);
    expect(result?.mediaType).toBe(mediaType);
    if (result !== undefined) expect(Object.fromEntries(result.parameters)).toEqual(parameters);
  });

  it("reads any number of plain parameters in one pass", () => {
    const tried = vi.spyOn(RegExp.prototype, "exec");
    const header = `a/b${Array.from({ length: 1_000 }, (_, at) => `; k${at}=v`).join("")}`;
    const result = parseContentType(header);
    const triedCount = tried.mock.calls.length;
    tried.mockRestore();
    expect(result?.parameters.size).toBe(1_000);
    expect(triedCount).toBeLessThan(10);
  });

  it("drops parameters unread where the server does", () => {
    expect(withoutParameters("a/b;!!")).toBe("a/b");
    expect(withoutParameters("a/b")).toBe("a/b");
  });
});

describe("representations", () => {
  it("are named by the dialect and gated by what is offered", () => {
    const all = representations(kubernetesDialect, { protobuf: true, cbor: true });
    expect(all.map(({ mediaType, streamMediaType }) => [mediaType, streamMediaType])).toEqual([
      ["application/json", "application/json"],
      ["application/yaml", undefined],
      ["application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;stream=watch"],
      ["application/cbor", "application/cbor-seq"],
    ]);
    const custom = representations(kubernetesDialect, { protobuf: false, cbor: false });
    expect(custom.map(({ mediaType }) => mediaType)).toEqual([json, yaml]);
  });
});
