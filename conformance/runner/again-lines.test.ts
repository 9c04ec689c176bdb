import { describe, expect, it } from "vitest";
import type { WireRequest } from "../../wire/ports.ts";
import { Exchange } from "../client/exchange.ts";
import { againLines } from "./again-lines.ts";

const own = "/api/v1/namespaces/touchstone-r-1";
const style = { address: "$SERVER", flags: [] };
const object = (version: string) => ({ metadata: { name: "a", uid: "u-1", resourceVersion: version } });

function exchanges(...rows: readonly (readonly [string, string, unknown?, unknown?, number?])[]): Exchange[] {
  return rows.map(([method, path, body, answer, status = 200], i) => {
    const request: WireRequest = { method, path, headers: {}, ...(body === undefined ? {} : bodyOf(body)) };
    const exchange = new Exchange(i, request, 2 * i, i);
    exchange.keep(new TextEncoder().encode(JSON.stringify(answer ?? {})));
    exchange.status = status;
    exchange.ended = 2 * i + 1;
    return exchange;
  });
}

const bodyOf = (body: unknown): { readonly body: string | Uint8Array } => ({
  body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
});

const lines = (history: readonly Exchange[], shown = history.at(-1) as Exchange) =>
  againLines(history, shown, "r", style);

describe("lines that bring a failure about anew", () => {
  it("are not needed by a request that names nothing of the run", () => {
    expect(lines(exchanges(["GET", "/api/v1/namespaces?limit=1"]))).toBeUndefined();
  });

  it("make the namespace that an earlier program left, and fill in what the target gives out anew", () => {
    const history = exchanges(
      ["POST", `${own}/configmaps`, { metadata: { name: "a" } }, object("5"), 201],
      ["POST", `${own}/configmaps`, { metadata: { name: "a" } }, {}, 409],
      ["PUT", `${own}/configmaps/a`, { metadata: { name: "a", uid: "u-1", resourceVersion: "5" } }, object("6")],
      ["GET", `${own}/configmaps?resourceVersion=6&resourceVersionMatch=Exact`],
    );
    expect(lines(history)).toEqual([
      `curl -sS -A touchstone -X POST -H 'accept: application/json' -H 'content-type: application/json' --data-binary '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"touchstone-r-1","labels":{"touchstone-run":"r","touchstone-namespace":"touchstone-r-1"}}}' $SERVER/api/v1/namespaces -o /dev/null`,
      `a1=$(curl -sS -A touchstone -X POST --data-binary '{"metadata":{"name":"a"}}' $SERVER${own}/configmaps)`,
      `a2=$(curl -sS -A touchstone -X PUT --data-binary '{"metadata":{"name":"a","uid":"'"$(jq -r '.metadata.uid' <<<"$a1")"'","resourceVersion":"'"$(jq -r '.metadata.resourceVersion' <<<"$a1")"'"}}' $SERVER${own}/configmaps/a)`,
      `curl -sS -A touchstone $SERVER'${own}/configmaps?resourceVersion='"$(jq -r '.metadata.resourceVersion' <<<"$a2")"'&resourceVersionMatch=Exact'`,
      `curl -sS -A touchstone -X DELETE -H 'accept: application/json' $SERVER${own} -o /dev/null`,
    ]);
  });

  it("let a watch run while what it was told of is written", () => {
    const history = exchanges(
      ["GET", `${own}/configmaps`, undefined, { metadata: { resourceVersion: "9" } }],
      ["GET", `${own}/configmaps?watch=1&resourceVersion=9`],
      ["POST", `${own}/configmaps`, { metadata: { name: "a" } }, object("10"), 201],
      ["POST", `${own}/configmaps`, { metadata: { name: "zz-fence-1" } }, object("11"), 201],
    );
    expect(lines(history, history[1])?.slice(1, -1)).toEqual([
      `a1=$(curl -sS -A touchstone $SERVER${own}/configmaps)`,
      `curl -sSN -A touchstone $SERVER'${own}/configmaps?watch=1&resourceVersion='"$(jq -r '.metadata.resourceVersion' <<<"$a1")"'' --max-time 10 &`,
      "sleep 1",
      `curl -sS -A touchstone -X POST --data-binary '{"metadata":{"name":"a"}}' $SERVER${own}/configmaps -o /dev/null`,
      "wait",
    ]);
    const told = againLines(history, history[1] as Exchange, "r", style, "ADDED zz-fence-1 twice");
    expect(told?.filter((line) => line.includes("zz-fence-1"))).toHaveLength(1);
  });

  it("are one line a request, whatever its body", () => {
    const history = exchanges(
      ["PATCH", `${own}/configmaps/a`, "metadata:\n  name: it's\n"],
      ["POST", `${own}/configmaps`, new Uint8Array([0xd9, 0xd9, 0xf7, 0xa0])],
    );
    const [, patch, post] = lines(history) ?? [];
    expect(patch).toContain(String.raw`--data-binary $'metadata:\n  name: it\'s\n' `);
    expect(post).toMatch(/^base64 -d <<<2dn3oA== \| curl .* --data-binary @- /);
  });

  it("are none where a replay is shorter, or what was given out cannot be followed", () => {
    const many = Array.from({ length: 30 }, () => ["POST", `${own}/configmaps`] as const);
    expect(lines(exchanges(...many, ["GET", `${own}/configmaps`]))).toEqual([]);
    const inList = { items: [object("7")] };
    const untold = exchanges(
      ["GET", `${own}/configmaps`, undefined, inList],
      ["PUT", `${own}/configmaps/a`, { metadata: { uid: "u-1" } }],
    );
    expect(lines(untold)).toEqual([]);
  });
});
