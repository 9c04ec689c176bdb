import { describe, expect, it } from "vitest";
import { type Exchanged, firstParting } from "./replay-parting.ts";

const configMap = (run: string, version: string, value: string): string =>
  JSON.stringify({
    kind: "ConfigMap",
    metadata: {
      name: "a",
      namespace: `touchstone-${run}-1`,
      resourceVersion: version,
      labels: { "touchstone-run": run },
    },
    data: { value },
  });

const history = (run: string, version: string, value = "1", status = 200): Exchanged[] => [
  { method: "POST", path: "/api/v1/namespaces", status: 201, responseBody: "{}" },
  {
    method: "GET",
    path: `/api/v1/namespaces/touchstone-${run}-1/configmaps/a?resourceVersion=${version}`,
    status,
    responseBody: configMap(run, version, value),
  },
];

describe("where a replay parts from its record", () => {
  it("is nowhere when only names and versions differ, or when nothing was recorded", () => {
    expect(firstParting(history("e1", "7"), history("4f3a", "901"))).toBeUndefined();
    expect(firstParting([], history("e1", "7"))).toBeUndefined();
  });

  it("is the first answer with another status, body, or none", () => {
    const then = history("e1", "7");
    expect(firstParting(then, history("e1", "7", "2"))).toBe(
      'The target answers otherwise now, first at request 2, GET /api/v1/namespaces/<namespace>/configmaps/a?resourceVersion=…: ConfigMap: data.value "1" then, "2" now.',
    );
    expect(firstParting(then, history("e1", "7", "1", 404))).toContain("status 200 then, 404 now");
    const silent = then.map((exchange, index) => (index === 1 ? { ...exchange, status: undefined } : exchange));
    expect(firstParting(then, silent)).toContain("200 then, no answer now");
  });

  it("is where it takes another course, or ends", () => {
    const then = history("e1", "7");
    expect(firstParting(then, then.slice(0, 1))).toContain("ended before request 2");
    const other = [then[0] as Exchanged, { ...(then[1] as Exchanged), method: "DELETE" }];
    expect(firstParting(then, other)).toContain("another course at request 2: GET ");
  });

  it("compares the documents of a watch one by one", () => {
    const watch = (...types: readonly string[]): Exchanged[] => [
      {
        method: "GET",
        path: "/p?watch=true",
        status: 200,
        responseBody: types.map((type) => `${JSON.stringify({ type })}\n`).join(""),
      },
    ];
    expect(firstParting(watch("ADDED", "DELETED"), watch("ADDED", "DELETED"))).toBeUndefined();
    expect(firstParting(watch("ADDED", "DELETED"), watch("ADDED", "MODIFIED"))).toContain(
      '"DELETED" then, "MODIFIED" now',
    );
  });
});
